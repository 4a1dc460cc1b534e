//! What the thread of the line editor shares with whoever prints above its prompt: the marks of
//! what has left, what is typed, and how the terminal is set meanwhile. Must not know rustyline.

use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use rustix::termios::{
    ControlModes, InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr,
    tcsetattr,
};

use crate::domain::Mode;
use crate::paint::{MarksWritten, PromptGate};

/// How long printing waits for the editor to draw.
const DRAW_WAIT: Duration = Duration::from_secs(1);

/// Held by the console, its painter and the editor's thread; gone with the last of them.
#[derive(Debug)]
pub(super) struct EditorState {
    /// The painter's, too: who prints, and who draws the prompt.
    pub(super) gate: Arc<PromptGate>,
    /// To whoever marks rows as shown.
    written: MarksWritten,
    /// Marks of lines that the editor was given while it had the terminal. They have left when it
    /// draws its prompt below them.
    handed: Mutex<VecDeque<i64>>,
    /// How often the editor has drawn its prompt.
    drawn: Mutex<u64>,
    /// Wakes who waits for that.
    draws: Condvar,
    /// The editor was given lines that it has not drawn its prompt below yet.
    undrawn: AtomicBool,
    /// A line is being edited: the terminal is in raw mode.
    pub(super) editing: AtomicBool,
    /// That line's prompt has been drawn.
    has_prompt: AtomicBool,
    /// What has been typed on the line so far.
    pub(super) typed: Mutex<String>,
    /// The input before each line feed that a `\` at the line's end asked for; a pasted one stays
    /// as it is.
    pub(super) continued: Mutex<Vec<String>>,
    /// The mode that the prompt is to say.
    pub(super) mode: Mutex<Mode>,
}

impl EditorState {
    pub(super) fn new(written: MarksWritten, mode: Mode) -> Self {
        Self {
            gate: Arc::default(),
            written,
            handed: Mutex::default(),
            drawn: Mutex::default(),
            draws: Condvar::new(),
            undrawn: AtomicBool::default(),
            editing: AtomicBool::default(),
            has_prompt: AtomicBool::default(),
            typed: Mutex::default(),
            continued: Mutex::default(),
            mode: Mutex::new(mode),
        }
    }

    pub(super) fn mode(&self) -> Mode {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prints, and hands the marks on when it is certain that the text has left. Outside of a line
    /// `print` writes to the terminal; within one it only hands the text to the editor, which draws
    /// its prompt below it, often before this goes on. Where it does not draw, the marks wait for
    /// the next time that it does.
    pub(super) fn print(
        &self,
        marks: Vec<i64>,
        is_empty: bool,
        print: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        let outside = || !self.editing.load(Ordering::SeqCst);
        let (before, drawn) = (outside(), self.drawn());
        if !is_empty {
            // The next draw says otherwise, also one that comes while this still prints.
            self.undrawn.store(true, Ordering::SeqCst);
        }
        print()?;
        if is_empty && marks.is_empty() {
            return Ok(());
        }
        self.handed.lock().unwrap_or_else(PoisonError::into_inner).extend(marks);
        let has_left = if is_empty {
            !self.undrawn.load(Ordering::SeqCst)
        } else if before && outside() {
            self.undrawn.store(false, Ordering::SeqCst);
            true
        } else {
            self.draws_after(drawn)
        };
        if has_left {
            self.hand_on();
        }
        Ok(())
    }

    fn drawn(&self) -> u64 {
        *self.drawn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the editor has drawn once more than `drawn` times; not for long, because it
    /// does not draw between two lines.
    fn draws_after(&self, drawn: u64) -> bool {
        let now = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.draws.wait_timeout_while(now, DRAW_WAIT, |now| *now <= drawn);
        *waited.unwrap_or_else(PoisonError::into_inner).0 > drawn
    }

    /// The prompt is drawn: all that the editor was given before has left.
    pub(super) fn note_draw(&self) {
        self.hand_on();
        self.undrawn.store(false, Ordering::SeqCst);
        *self.drawn.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.draws.notify_all();
    }

    /// Before a prompt is drawn: the first one of a line finds the terminal in raw mode, unless a
    /// Ctrl-Z has stopped the process just before it. Then it is still as a shell has set it.
    pub(super) fn draws_prompt(&self) {
        // Said first, so that a stop from here on is made good by whoever hears of its end.
        if !self.has_prompt.swap(true, Ordering::SeqCst)
            && let Ok(found) = tcgetattr(io::stdin())
            && found.local_modes.contains(LocalModes::ICANON)
        {
            set_raw(found);
        }
    }

    /// The line has ended, and the editor has given the terminal back.
    pub(super) fn end_line(&self) {
        self.editing.store(false, Ordering::SeqCst);
        self.has_prompt.store(false, Ordering::SeqCst);
    }

    /// Sets the terminal as the editor needs it, if a line is being edited. Before its first prompt
    /// the editor does so itself, and has to find the terminal as it is between two lines.
    pub(super) fn set_raw_again(&self) {
        if self.has_prompt.load(Ordering::SeqCst)
            && let Ok(found) = tcgetattr(io::stdin())
        {
            set_raw(found);
        }
    }

    fn hand_on(&self) {
        let marks =
            std::mem::take(&mut *self.handed.lock().unwrap_or_else(PoisonError::into_inner));
        // Whoever does not listen any more does not need to know.
        marks.into_iter().for_each(|mark| _ = self.written.send(mark));
    }

    pub(super) fn take_typed(&self) -> String {
        std::mem::take(&mut *self.typed.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// As rustyline sets it for a line: each key comes at once, and none is a signal. `make_raw` would
/// also leave line feeds without their carriage returns.
fn set_raw(mut termios: Termios) {
    use InputModes as In;
    termios.input_modes -= In::BRKINT | In::ICRNL | In::INPCK | In::ISTRIP | In::IXON;
    termios.control_modes |= ControlModes::CS8;
    termios.local_modes -=
        LocalModes::ECHO | LocalModes::ICANON | LocalModes::IEXTEN | LocalModes::ISIG;
    termios.special_codes[SpecialCodeIndex::VMIN] = 1;
    termios.special_codes[SpecialCodeIndex::VTIME] = 0;
    // A terminal that is gone shows itself at the next read.
    let _ = tcsetattr(io::stdin(), OptionalActions::Now, &termios);
    // Bracketed paste on (DECSET 2004), as rustyline does where it takes the terminal: the shell
    // has switched it off.
    let _ = io::stdout().write_all(b"\x1b[?2004h");
    let _ = io::stdout().flush();
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc;

    fn shared() -> (EditorState, mpsc::UnboundedReceiver<i64>) {
        let (written, marks) = mpsc::unbounded_channel();
        let shared = EditorState::new(written, Mode::Ask);
        shared.editing.store(true, Ordering::SeqCst);
        (shared, marks)
    }

    #[test]
    fn what_the_editor_has_drawn_at_once_is_marked_without_another_key() {
        let (shared, mut marks) = shared();
        shared
            .print(vec![7], false, || {
                shared.note_draw();
                Ok(())
            })
            .unwrap();
        assert_eq!(marks.try_recv(), Ok(7));
        shared.print(vec![8], true, || Ok(())).unwrap();
        assert_eq!(marks.try_recv(), Ok(8), "nothing has to be drawn for it");
    }

    #[test]
    fn what_the_editor_has_not_drawn_is_not_marked() {
        let (shared, mut marks) = shared();
        shared.print(Vec::new(), false, || Ok(())).unwrap();
        shared.print(vec![7], true, || Ok(())).unwrap();
        assert!(marks.try_recv().is_err(), "its lines may still be with the editor");
        shared.note_draw();
        assert_eq!(marks.try_recv(), Ok(7));
    }
}
