//! Reads what a person types. Owns the line editor (rustyline, in a thread of its own), its history
//! file and the state of the terminal; must not know what a line means.

mod helper;
mod shared;

use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver as Acks, SyncSender, sync_channel};
use std::sync::{Arc, PoisonError};

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use rustyline::error::{ReadlineError, Signal};
use rustyline::history::FileHistory;
use rustyline::{Config, ExternalPrinter as _};
use tokio::sync::mpsc;

use helper::{ConsoleHelper, DrawnPrompt, join_continued};
use shared::EditorState;

use crate::domain::Mode;
use crate::domain::login_answer::may_hold_login_answer;
use crate::doors::clean::clean;
use crate::paint::{MarksWritten, Painter, PromptGate, erase_rows, rows};
use crate::terminal::size::terminal_size;

/// The prompt. Its width counts when a typed line is drawn again.
fn prompt_of(mode: Mode) -> &'static str {
    match mode {
        Mode::Ask => "> ",
        Mode::Edits => "edits> ",
        Mode::Work => "work> ",
    }
}

/// The prompt of a line that began in one mode, for the mode of now. The editor counts the width of
/// a prompt once, when its line begins: a name that is wider comes with the next line.
fn prompt_in_line(began: Mode, now: Mode) -> &'static str {
    match (began, now) {
        (Mode::Edits, Mode::Ask) => "     > ",
        (Mode::Edits, Mode::Work) => " work> ",
        (Mode::Work, Mode::Ask) => "    > ",
        _ => prompt_of(began),
    }
}

/// Entries that the history file keeps.
const HISTORY_LINES_MAX: usize = 1_000;
/// The longest line that is read from a pipe, in bytes; the rest of it is the next line.
const PIPED_LINE_BYTES_MAX: u64 = 1024 * 1024;
/// Lines from a pipe that wait to be taken.
const PIPED_LINES_QUEUED_MAX: usize = 16;

#[derive(Debug, thiserror::Error)]
pub enum EditorError {
    #[error("the terminal cannot be used: {0}")]
    Terminal(#[from] ReadlineError),
    #[error("the console's thread could not be started: {0}")]
    Thread(#[from] std::io::Error),
}

impl crate::domain::Blamed for EditorError {
    fn blame(&self) -> crate::domain::Blame {
        crate::domain::Blame::Broken
    }
}

/// Something that was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A line, or several that belong together.
    Line(String),
    /// Ctrl-C. `discarded` if a line was being typed, which is gone then.
    Interrupt { discarded: bool },
    /// Ctrl-D on an empty line, or the end of a pipe.
    Eof,
    /// The terminal is gone or broken.
    Failed(String),
}

#[derive(Clone, Debug, Default)]
pub struct EditorSettings {
    /// Where typed lines are kept; created for the owner alone.
    pub history: Option<PathBuf>,
    /// No escape sequences for colours (`NO_COLOR`).
    pub no_colour: bool,
    /// What runs without a question at the start; the prompt says it.
    pub mode: Mode,
}

/// An open console: typed input and a painter for the screen. Dropping it gives the terminal back
/// as it was.
#[derive(Debug)]
pub struct Console {
    /// From the thread that reads. It ends with the input, or at its next line when this is gone.
    pub inputs: mpsc::Receiver<Input>,
    /// Its thread writes what is left, and ends with it.
    pub painter: Painter,
    /// Both ends are a terminal: there is a prompt, drafts are shown, answers are guarded against
    /// slips of time.
    pub interactive: bool,
    /// Colours may be used.
    pub colour: bool,
    /// One token lets the editor read the next line; dropping it ends the editor.
    go_on: Option<SyncSender<()>>,
    /// Gives the terminal back when it is dropped; `None` where it was never taken.
    restore: Option<Restore>,
    /// Shared with the editor's thread, which ends with the console.
    shared: Option<Arc<EditorState>>,
}

impl Console {
    /// Opens standard input and output: the line editor if both are terminals that can be driven,
    /// else plain lines. `written` gets the marks of what has left for the screen.
    pub fn open(settings: EditorSettings, written: MarksWritten) -> Result<Self, EditorError> {
        let terminals = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        if terminals && let Some(console) = Self::open_terminal(&settings, written.clone())? {
            return Ok(console);
        }
        let painter = Painter::plain(std::io::stdout(), written)?;
        let (send, inputs) = mpsc::channel(PIPED_LINES_QUEUED_MAX);
        std::thread::Builder::new()
            .name("console-lines".into())
            .spawn(move || read_lines(std::io::stdin().lock(), &send))?;
        Ok(Self {
            inputs,
            painter,
            interactive: false,
            colour: false,
            go_on: None,
            restore: None,
            shared: None,
        })
    }

    /// `None` if the terminal cannot be driven (`TERM=dumb`).
    fn open_terminal(
        settings: &EditorSettings,
        written: MarksWritten,
    ) -> Result<Option<Self>, EditorError> {
        let before = tcgetattr(std::io::stdin()).ok();
        let colours = if settings.no_colour {
            rustyline::ColorMode::Disabled
        } else {
            rustyline::ColorMode::Enabled
        };
        let config = Config::builder()
            .max_history_size(HISTORY_LINES_MAX)?
            .history_ignore_dups(true)?
            .history_ignore_space(true)
            .color_mode(colours)
            .build();
        let mut editor: LineEditor = rustyline::Editor::with_config(config)?;
        let Ok(mut printer) = editor.create_external_printer() else { return Ok(None) };
        let shared = Arc::new(EditorState::new(written, settings.mode));
        editor.set_helper(Some(ConsoleHelper(Arc::clone(&shared))));
        let history = settings.history.clone().filter(|path| prepare_history(path).is_ok());
        if let Some(path) = &history {
            // A history that cannot be read is no reason not to talk.
            let _ = editor.load_history(path);
        }
        let below = Arc::clone(&shared);
        let painter =
            Painter::above_prompt(Arc::clone(&shared.gate), terminal_size, move |text, marks| {
                let is_empty = text.is_empty();
                below.print(marks, is_empty, || {
                    if is_empty {
                        return Ok(());
                    }
                    printed(printer.print(text.clone()), &text, &mut std::io::stdout())
                })
            })?;
        let (send, inputs) = mpsc::channel(1);
        let (go_on, acks) = sync_channel(1);
        let restore = before.map(|before| Restore { before, shared: Arc::clone(&shared) });
        let kept = Some(Arc::clone(&shared));
        std::thread::Builder::new()
            .name("console-editor".into())
            .spawn(move || edit_lines(editor, history.as_deref(), &shared, &send, &acks))?;
        let colour = !settings.no_colour;
        let (interactive, go_on) = (true, Some(go_on));
        Ok(Some(Self { inputs, painter, interactive, colour, go_on, restore, shared: kept }))
    }

    /// The last input has been taken care of: the next line may be read.
    pub fn go_on(&self) {
        if let Some(go_on) = &self.go_on {
            // A full channel means that the editor already may; a closed one, that it has ended.
            let _ = go_on.try_send(());
        }
    }

    /// The prompt says which mode the session has: the one that waits with the next lines above it,
    /// as far as it has room, and the next one.
    pub fn set_mode(&self, mode: Mode) {
        let Some(shared) = &self.shared else { return };
        *shared.mode.lock().unwrap_or_else(PoisonError::into_inner) = mode;
    }

    /// The process was stopped (Ctrl-Z) and goes on: meanwhile a shell has set the terminal its own
    /// way and written on it. rustyline sets it once, and often before the process has stopped,
    /// because any thread may take the signal. True if the prompt has to be shown anew.
    pub fn goes_on_after_stop(&self) -> bool {
        let Some(shared) = &self.shared else { return false };
        shared.set_raw_again();
        // What stood above the prompt stands above what others have written.
        shared.gate.take_draft_rows();
        true
    }

    /// Ends the editor, writes what is left and gives the terminal back.
    ///
    /// # Errors
    /// What kept the screen from taking everything.
    pub fn close(&mut self) -> io::Result<()> {
        self.go_on = None;
        self.inputs.close();
        let painted = self.painter.close();
        self.restore = None;
        painted
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        // Whoever wants to know has closed it before.
        let _ = self.close();
    }
}

/// Gives the terminal back if the program leaves while a line is being edited.
#[derive(Debug)]
struct Restore {
    before: Termios,
    shared: Arc<EditorState>,
}

impl Drop for Restore {
    fn drop(&mut self) {
        if self.shared.editing.load(Ordering::SeqCst) {
            // Nothing can be done about a terminal that is gone.
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.before);
            // Bracketed paste off (DECRST 2004), as rustyline would do.
            let _ = std::io::stdout().write_all(b"\x1b[?2004l\r\n");
            let _ = std::io::stdout().flush();
        }
    }
}

/// What rustyline could not hand to its prompt, because that has ended since it looked, is written
/// below: no other prompt comes.
fn printed(
    above: Result<(), ReadlineError>,
    text: &str,
    out: &mut impl io::Write,
) -> io::Result<()> {
    match above {
        Err(ReadlineError::Io(error)) if error.kind() == io::ErrorKind::Other => {
            out.write_all(text.as_bytes())?;
            out.flush()
        }
        done => done.map_err(io::Error::other),
    }
}

type LineEditor = rustyline::Editor<ConsoleHelper, FileHistory>;

fn edit_lines(
    mut editor: LineEditor,
    history: Option<&Path>,
    shared: &EditorState,
    inputs: &mpsc::Sender<Input>,
    acks: &Acks<()>,
) {
    loop {
        shared.take_typed();
        shared.continued.lock().unwrap_or_else(PoisonError::into_inner).clear();
        shared.editing.store(true, Ordering::SeqCst);
        let began = shared.mode();
        let read = editor.readline(&DrawnPrompt(shared, began));
        let prompt = prompt_in_line(began, shared.mode());
        shared.gate.close();
        shared.end_line();
        let input = match read {
            Ok(line) => {
                redraw_accepted(prompt, &line, &shared.gate);
                let line = join_continued(line, &shared.continued);
                keep(&mut editor, history, &line);
                Input::Line(line)
            }
            // rustyline takes SIGINT over while it reads; sent by `kill`, it comes as a signal and
            // not as a key.
            Err(ReadlineError::Interrupted | ReadlineError::Signal(Signal::Interrupt)) => {
                let typed = shared.take_typed();
                if typed.is_empty() {
                    erase_prompt(&shared.gate);
                } else {
                    redraw_accepted(prompt, &typed, &shared.gate);
                }
                Input::Interrupt { discarded: !typed.is_empty() }
            }
            Err(ReadlineError::Eof) => Input::Eof,
            Err(error) => Input::Failed(error.to_string()),
        };
        let last = matches!(input, Input::Failed(_));
        if inputs.blocking_send(input).is_err() || last || acks.recv().is_err() {
            break;
        }
    }
    shared.gate.open();
}

fn keep(editor: &mut LineEditor, history: Option<&Path>, line: &str) {
    if line.trim().is_empty() || may_hold_login_answer(line) {
        return;
    }
    // A line that cannot be kept has still been typed.
    let _ = editor.add_history_entry(line);
    if let Some(path) = history {
        let _ = editor.append_history(path);
    }
}

/// A line that has ended stands below a draft, which will be shown again below it: takes both away
/// and draws the line anew.
fn redraw_accepted(prompt: &str, line: &str, gate: &PromptGate) {
    let draft = gate.take_draft_rows();
    if draft == 0 {
        return;
    }
    let shown = format!("{prompt}{line}");
    let columns = terminal_size().columns;
    let typed: usize = shown.split('\n').map(|row| rows(row, columns)).sum();
    let text = format!("{}{}\n", erase_rows(draft + typed), clean(&shown));
    // A terminal that is gone shows itself at the next read.
    let _ = std::io::stdout().write_all(text.as_bytes());
    let _ = std::io::stdout().flush();
}

/// An empty prompt that was left by Ctrl-C says nothing: takes it away, with the draft above it,
/// which comes again.
fn erase_prompt(gate: &PromptGate) {
    let text = erase_rows(gate.take_draft_rows() + 1);
    // A terminal that is gone shows itself at the next read.
    let _ = std::io::stdout().write_all(text.as_bytes());
    let _ = std::io::stdout().flush();
}

/// Makes sure that the history exists and is the owner's alone.
fn prepare_history(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let file = std::fs::OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    file.set_permissions(std::fs::Permissions::from_mode(0o600))
}

fn read_lines(mut from: impl std::io::BufRead, inputs: &mpsc::Sender<Input>) {
    loop {
        let mut bytes = Vec::new();
        let input = match from.by_ref().take(PIPED_LINE_BYTES_MAX).read_until(b'\n', &mut bytes) {
            Ok(0) => Input::Eof,
            Ok(_) => Input::Line(
                String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']).to_owned(),
            ),
            Err(error) => Input::Failed(error.to_string()),
        };
        let last = !matches!(input, Input::Line(_));
        if inputs.blocking_send(input).is_err() || last {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompt_of_a_line_keeps_its_width() {
        let modes = [Mode::Ask, Mode::Edits, Mode::Work];
        for (began, now) in modes.iter().flat_map(|began| modes.map(|now| (*began, now))) {
            let (drawn, first) = (prompt_in_line(began, now), prompt_of(began));
            assert_eq!(drawn.len(), first.len(), "{began} {now}");
            let fits = prompt_of(now).len() <= first.len();
            assert_eq!(drawn.trim_start(), if fits { prompt_of(now) } else { first });
        }
    }

    #[test]
    fn a_pipe_is_read_line_by_line_to_its_end() {
        let (send, mut inputs) = mpsc::channel(8);
        read_lines(&b"one\r\n\xff two\n\nlast"[..], &send);
        let mut lines = Vec::new();
        while let Ok(input) = inputs.try_recv() {
            lines.push(input);
        }
        let line = |text: &str| Input::Line(text.to_owned());
        assert_eq!(lines, [line("one"), line("\u{fffd} two"), line(""), line("last"), Input::Eof]);
    }

    #[test]
    fn the_history_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history");
        std::fs::write(&path, "#V2\nold\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        prepare_history(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "#V2\nold\n");
    }

    #[test]
    fn what_the_prompt_does_not_take_any_more_is_written_below_it() {
        let (mut out, io_error) = (Vec::new(), |kind| ReadlineError::Io(io::Error::from(kind)));
        printed(Ok(()), "above\n", &mut out).unwrap();
        assert!(printed(Err(io_error(io::ErrorKind::StorageFull)), "lost\n", &mut out).is_err());
        assert_eq!(out, b"");
        printed(Err(io_error(io::ErrorKind::Other)), "below\n", &mut out).unwrap();
        assert_eq!(out, b"below\n");
    }
}
