//! Puts lines on the terminal, above the prompt if there is one. Owns the rows that are drafts and
//! have to be erased before the next lines; must not know what the lines say.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::terminal::size::Size;
use crate::terminal::style::visible;
use crate::terminal::wrap::width;

/// What to put on the screen. A frame replaces the draft of the frame before and comes below its
/// lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Lines that stay, without line feeds.
    pub lines: Vec<String>,
    /// Lines that the next frame replaces: an unfinished paragraph, a running call. Only a terminal
    /// shows them.
    pub draft: Vec<String>,
    /// Numbers of what is whole with these lines. They are handed on when the lines have left for
    /// the screen.
    pub marks: Vec<i64>,
}

/// Takes the marks of what has left for the screen.
pub type MarksWritten = tokio::sync::mpsc::UnboundedSender<i64>;

/// Takes frames without ever waiting; a thread of its own writes them. Frames that pile up are
/// joined.
#[derive(Debug)]
pub struct Painter {
    frames: Option<Sender<Frame>>,
    /// How painting ended: with the last frame, or because the screen took no more.
    done: Receiver<io::Result<()>>,
    thread: Option<JoinHandle<()>>,
}

/// How long a frame waits for the next prompt. After that it is painted all the same: lines out of
/// order are better than none.
const PROMPT_TIMEOUT: Duration = Duration::from_millis(500);
/// How long [`Painter::close`] waits for what is still to be written.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

impl Painter {
    /// Writes the lines to `out` and leaves drafts away: for a pipe or a file.
    pub fn plain(mut out: impl Write + Send + 'static, written: MarksWritten) -> io::Result<Self> {
        Self::start(move |frame| {
            let text: String = frame.lines.iter().flat_map(|line| [line, "\n"]).collect();
            out.write_all(text.as_bytes())?;
            out.flush()?;
            // Whoever does not listen any more does not need to know.
            frame.marks.into_iter().for_each(|mark| _ = written.send(mark));
            Ok(())
        })
    }

    /// Hands each frame to `print` as one text that erases the old draft first, with its marks.
    /// `print` must end up above the prompt, and hand the marks on when it has.
    pub(super) fn above_prompt(
        gate: Arc<PromptGate>,
        size: impl Fn() -> Size + Send + 'static,
        mut print: impl FnMut(String, Vec<i64>) -> io::Result<()> + Send + 'static,
    ) -> io::Result<Self> {
        Self::start(move |frame| print(gate.compose(&frame, size()), frame.marks))
    }

    fn start(mut paint: impl FnMut(Frame) -> io::Result<()> + Send + 'static) -> io::Result<Self> {
        let (frames, inbox) = channel::<Frame>();
        let (finished, done) = channel();
        let thread = std::thread::Builder::new().name("console-paint".into()).spawn(move || {
            let mut painted = Ok(());
            while let Ok(mut frame) = inbox.recv() {
                while let Ok(more) = inbox.try_recv() {
                    frame.lines.extend(more.lines);
                    frame.marks.extend(more.marks);
                    frame.draft = more.draft;
                }
                painted = paint(frame);
                if painted.is_err() {
                    break;
                }
            }
            // Nobody listens any more if the painter was dropped; that is no error.
            let _ = finished.send(painted);
        })?;
        Ok(Self { frames: Some(frames), done, thread: Some(thread) })
    }

    /// Shows a frame. False if the screen is gone (a closed pipe).
    pub fn show(&self, frame: Frame) -> bool {
        self.frames.as_ref().is_some_and(|frames| frames.send(frame).is_ok())
    }

    /// Writes what is left and ends. Gives up after two seconds, if the terminal does not take it.
    ///
    /// # Errors
    /// What kept the screen from taking everything, the first time that it is closed.
    pub fn close(&mut self) -> io::Result<()> {
        self.frames = None;
        let Some(thread) = self.thread.take() else { return Ok(()) };
        match self.done.recv_timeout(CLOSE_TIMEOUT) {
            Err(RecvTimeoutError::Timeout) => Err(io::ErrorKind::TimedOut.into()),
            // A panic in the thread has been reported by its own message.
            Err(RecvTimeoutError::Disconnected) => {
                Err(io::Error::other("the thread that writes has ended"))
            }
            Ok(painted) => {
                drop(thread.join());
                painted
            }
        }
    }
}

impl Drop for Painter {
    fn drop(&mut self) {
        // Whoever wants to know has closed it before.
        let _ = self.close();
    }
}

/// Keeps painter and prompt apart: while no prompt is on the screen but one is about to come, the
/// painter waits, because rustyline would print around its own queue then.
#[derive(Debug, Default)]
pub(super) struct PromptGate {
    state: Mutex<PromptGateState>,
    opened: Condvar,
}

#[derive(Debug, Default)]
struct PromptGateState {
    open: bool,
    /// Rows of the draft above the prompt.
    draft_rows: usize,
}

impl PromptGate {
    fn lock(&self) -> MutexGuard<'_, PromptGateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A prompt is on the screen, or none will come any more.
    pub(super) fn open(&self) {
        self.lock().open = true;
        self.opened.notify_all();
    }

    pub(super) fn close(&self) {
        self.lock().open = false;
    }

    /// The draft's rows are now someone else's to erase.
    pub(super) fn take_draft_rows(&self) -> usize {
        std::mem::take(&mut self.lock().draft_rows)
    }

    fn compose(&self, frame: &Frame, size: Size) -> String {
        let mut state = self.lock();
        if !state.open {
            let opened = self.opened.wait_timeout_while(state, PROMPT_TIMEOUT, |state| !state.open);
            state = opened.unwrap_or_else(PoisonError::into_inner).0;
        }
        let erase = state.draft_rows;
        let draft = last_rows(&frame.draft, size);
        state.draft_rows = draft.iter().map(|line| rows(line, size.columns)).sum();
        drop(state);
        let mut text = erase_rows(erase);
        for line in frame.lines.iter().chain(draft) {
            text.push_str(line);
            text.push('\n');
        }
        text
    }
}

/// Moves up over `rows` rows and clears everything below. Empty for none.
pub(super) fn erase_rows(rows: usize) -> String {
    if rows == 0 { String::new() } else { format!("\u{1b}[{rows}A\r\u{1b}[J") }
}

/// Rows that a line takes on a terminal that breaks it by itself.
pub(super) fn rows(line: &str, columns: usize) -> usize {
    width(&visible(line)).div_ceil(columns.max(1)).max(1)
}

/// The end of a draft, so much of it as can be erased again: a row that has scrolled away cannot.
fn last_rows(draft: &[String], size: Size) -> &[String] {
    let mut room = (size.rows / 2).clamp(1, 16);
    let mut from = draft.len();
    while from > 0 && rows(&draft[from - 1], size.columns) <= room {
        from -= 1;
        room -= rows(&draft[from], size.columns);
    }
    &draft[from..]
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { columns: 10, rows: 8 };

    fn frame(lines: &[&str], draft: &[&str]) -> Frame {
        let owned = |all: &[&str]| all.iter().map(|line| (*line).to_owned()).collect();
        Frame { lines: owned(lines), draft: owned(draft), marks: Vec::new() }
    }

    #[test]
    fn a_draft_is_erased_by_the_rows_it_took() {
        let gate = PromptGate::default();
        gate.open();
        assert_eq!(
            gate.compose(&frame(&["a"], &["\u{1b}[1mtwelve chars\u{1b}[0m", "x"]), SIZE),
            "a\n\u{1b}[1mtwelve chars\u{1b}[0m\nx\n"
        );
        assert_eq!(gate.compose(&frame(&["b"], &[]), SIZE), "\u{1b}[3A\r\u{1b}[Jb\n");
        assert_eq!(gate.compose(&frame(&["c"], &[]), SIZE), "c\n");
    }

    #[test]
    fn a_long_draft_shows_its_end() {
        let lines: Vec<String> = (0..9).map(|n| n.to_string()).collect();
        assert_eq!(last_rows(&lines, SIZE), ["5", "6", "7", "8"]);
        assert_eq!(last_rows(&["x".repeat(99)], SIZE).len(), 0);
    }

    #[test]
    fn lines_come_in_order_and_all_of_them() {
        #[derive(Clone, Default)]
        struct Out(Arc<Mutex<Vec<u8>>>);
        impl Write for Out {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                self.0.lock().unwrap().extend_from_slice(bytes);
                Ok(bytes.len())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let out = Out::default();
        let (written, mut marks) = tokio::sync::mpsc::unbounded_channel();
        let mut painter = Painter::plain(out.clone(), written).unwrap();
        for n in 0..500 {
            assert!(painter.show(Frame { marks: vec![n], ..frame(&[&n.to_string()], &["draft"]) }));
        }
        painter.close().unwrap();
        assert!((0..500).all(|n| marks.try_recv() == Ok(n)));
        let wanted: String = (0..500).map(|n| format!("{n}\n")).collect();
        assert_eq!(String::from_utf8(out.0.lock().unwrap().clone()).unwrap(), wanted);
    }

    #[test]
    fn what_the_screen_did_not_take_is_not_marked() {
        struct Full(u32);
        impl Write for Full {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                self.0 += 1;
                if self.0 > 1 {
                    Err(std::io::ErrorKind::StorageFull.into())
                } else {
                    Ok(bytes.len())
                }
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let (written, mut marks) = tokio::sync::mpsc::unbounded_channel();
        let mut painter = Painter::plain(Full(0), written).unwrap();
        painter.show(Frame { marks: vec![1], ..frame(&["taken"], &[]) });
        assert_eq!(marks.blocking_recv(), Some(1));
        painter.show(Frame { marks: vec![2], ..frame(&["lost"], &[]) });
        assert_eq!(painter.close().unwrap_err().kind(), std::io::ErrorKind::StorageFull);
        assert_eq!(marks.blocking_recv(), None);
    }
}
