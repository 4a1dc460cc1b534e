//! The only place of the command line that prints. Replies and lists go to stdout, everything else
//! to stderr. Must not know what is printed.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::Value;

use crate::domain::escape;
pub use crate::terminal::Unwritten;
use crate::terminal::fit::fit;
use crate::terminal::size::terminal_size;
use crate::terminal::stream;
use crate::terminal::style::Look;

/// A line on stdout, in a terminal as many as its width needs. When this returns, its bytes have
/// left.
pub fn line(text: &str) -> Result<(), Unwritten> {
    match columns_of(io::stdout()) {
        Some(columns) => fit(text, columns).iter().try_for_each(|row| whole_line(row)),
        None => whole_line(text),
    }
}

/// A line about what was done or found: as JSON for programs, or in words.
pub fn done(as_json: bool, json: &Value, words: &str) -> Result<(), Unwritten> {
    if as_json { line(&json.to_string()) } else { line(words) }
}

/// Text that is copied from here into a file, as it is: the terminal alone breaks its lines.
pub fn to_copy(text: &str) -> Result<(), Unwritten> {
    whole_line(text)
}

/// A file's text on stdout, byte for byte, also where it ends in the middle of a line.
pub fn file_text(text: &str) -> Result<(), Unwritten> {
    err_row_away();
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(Unwritten)
}

/// The same for what was laid out already.
fn whole_line(text: &str) -> Result<(), Unwritten> {
    err_row_away();
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{text}").and_then(|()| stdout.flush()).map_err(Unwritten)
}

/// A question on stdout, behind which the cursor waits.
pub fn prompt(question: &str) -> io::Result<()> {
    err_row_away();
    let rows = prompt_rows(question, columns_of(io::stdout()));
    let mut stdout = io::stdout().lock();
    stdout.write_all(rows.as_bytes()).and_then(|()| stdout.flush())
}

/// The same on stderr.
pub fn err_prompt(question: &str) -> io::Result<()> {
    err_row_away();
    let rows = prompt_rows(question, columns_of(io::stderr()));
    io::stderr().lock().write_all(rows.as_bytes())
}

/// Words stay whole, and the blank before the cursor stays.
fn prompt_rows(question: &str, columns: Option<usize>) -> String {
    let words = question.trim_end();
    let columns = columns.map(|columns| columns.saturating_sub(1));
    let rows = columns.map_or_else(|| vec![words.to_owned()], |columns| fit(words, columns));
    format!("{}{}", rows.join("\n"), &question[words.len()..])
}

/// A line on stderr. If even that is closed there is nobody left to tell.
pub fn err_line(text: &str) {
    let _ = err_taken(text);
}

/// The same for what is told once: whether it was taken.
pub fn err_taken(text: &str) -> bool {
    match columns_of(io::stderr()) {
        Some(columns) => fit(text, columns).iter().all(|row| err_taken_whole(row)),
        None => err_taken_whole(text),
    }
}

/// A line on stderr that stays one, however narrow the terminal is: a link, which is to be opened
/// or copied.
pub fn err_whole_line(text: &str) {
    let _ = err_taken_whole(text);
}

fn err_taken_whole(text: &str) -> bool {
    err_row_away();
    writeln!(io::stderr().lock(), "{text}").is_ok()
}

/// Whether the row that is written anew stands on the terminal. There is one terminal, whoever
/// writes to it.
static ROW_STANDS: AtomicBool = AtomicBool::new(false);
/// To the start of the row, which is emptied (ECMA-48, `EL`).
const EMPTY_ROW: &str = "\r\u{1b}[K";

/// How often something was printed.
static PRINTED: AtomicU64 = AtomicU64::new(0);

/// A row on stderr in the place of the last one, until anything else is printed. For a terminal
/// alone, and no longer than one row of it.
pub fn err_row(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "{EMPTY_ROW}{text}").and_then(|()| stderr.flush());
    ROW_STANDS.store(true, Ordering::SeqCst);
}

/// The same as long as nothing else was printed since `printed`; whether that is so.
pub fn err_row_since(printed: u64, text: &str) -> bool {
    // Whoever prints takes this lock first.
    let _stderr = io::stderr().lock();
    let is_last = self::printed() == printed;
    if is_last {
        err_row(text);
    }
    is_last
}

/// How often something was printed until now.
pub fn printed() -> u64 {
    PRINTED.load(Ordering::SeqCst)
}

/// Takes that row away, if it stands, because something else is printed.
pub fn err_row_away() {
    let mut stderr = io::stderr().lock();
    PRINTED.fetch_add(1, Ordering::SeqCst);
    if ROW_STANDS.swap(false, Ordering::SeqCst) {
        let _ = stderr.write_all(EMPTY_ROW.as_bytes()).and_then(|()| stderr.flush());
    }
}

/// Columns of the terminal on stderr; `None` where it is a pipe or a file.
pub fn err_columns() -> Option<usize> {
    columns_of(io::stderr())
}

/// Columns of the terminal on stdout; `None` where it is a pipe or a file, which gets whole lines.
pub fn columns() -> Option<usize> {
    columns_of(io::stdout())
}

/// The width of a terminal; `None` for a pipe or a file, into which nothing is wrapped.
fn columns_of(stream: impl std::os::fd::AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    (size.ws_col > 0).then(|| size.ws_col.into())
}

/// Text of strangers for a terminal: line breaks stay, control and invisible characters are made
/// visible.
pub fn clean(text: &str) -> String {
    escape::visible_multiline(text).replace("\\\\", "\\")
}

/// A notice on stderr; whether all of it was taken. It is Markdown, as at every door: a result that
/// it quotes stands in a block of its own.
pub fn notice(text: &str) -> bool {
    let lines = stream::markdown_lines(text, Look::new(terminal_size().columns, false));
    lines.iter().all(|rendered| err_taken_whole(rendered))
}

/// The reply of a turn on stdout: for a terminal rendered, for a pipe as the model wrote it.
/// Nothing in either reaches a terminal as a command: whoever pipes a reply may print it later.
pub fn reply(text: &str) -> Result<(), Unwritten> {
    use io::IsTerminal as _;
    if !io::stdout().is_terminal() {
        return line(&crate::doors::clean::clean(&text.replace("\r\n", "\n")));
    }
    let look = Look::new(terminal_size().columns, false).breaking_code(true);
    stream::markdown_lines(text, look).iter().try_for_each(|rendered| whole_line(rendered))
}
