//! The only place of the command line that prints. Replies and lists go to stdout, everything else to stderr. Must not know
//! what is printed.

use std::io::{self, Write as _};

use crate::domain::escape;

/// A line on stdout. Returns false when nobody reads it any more (a closed pipe), so that a long list can end.
pub fn line(text: &str) -> bool {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{text}").and_then(|()| stdout.flush()).is_ok()
}

/// A line on stderr. If even that is closed there is nobody left to tell.
pub fn err_line(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Text of strangers for a terminal: line breaks stay, control and invisible characters are made visible.
pub fn clean(text: &str) -> String {
    escape::visible_multiline(text).replace("\\\\", "\\")
}

/// A notice on stderr. It is Markdown, as at every door: a result that it quotes stands in a block of its own.
pub fn notice(text: &str) {
    use crate::gateway::console::{paint, stream, style::Look};
    for rendered in stream::markdown_lines(text, Look::new(paint::terminal_size().columns, false)) {
        err_line(&rendered);
    }
}

/// The reply of a turn on stdout: for a terminal rendered and made harmless, for a pipe as the model wrote it.
pub fn reply(text: &str) {
    use io::IsTerminal as _;
    if !io::stdout().is_terminal() {
        line(text);
        return;
    }
    use crate::gateway::console::{paint, stream, style::Look};
    let look = Look::new(paint::terminal_size().columns, false);
    for rendered in stream::markdown_lines(text, look) {
        line(&rendered);
    }
}
