//! Values of anybody as code in Markdown. Must not know what they are.

use crate::domain::escape;

/// The most characters of one value that a list shows; the command line shows it whole.
pub(super) const SHOWN_CHARS_MAX: usize = 200;

/// Anything as code in Markdown, on one line, harmless, and not longer than a list can bear.
pub(super) fn code(text: &str) -> String {
    code_of(text, SHOWN_CHARS_MAX)
}

/// The same with another limit.
pub(super) fn code_of(text: &str, chars_max: usize) -> String {
    let shown = escape::visible(text).replace("\\\\", "\\");
    let shown = match shown.char_indices().nth(chars_max) {
        Some((cut, _)) => format!("{}…", shown.get(..cut).unwrap_or_default()),
        None => shown,
    };
    let longest_run = shown.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    if longest_run == 0 && !shown.trim().is_empty() {
        return format!("`{shown}`");
    }
    // CommonMark 0.31.2, 6.1: a fence longer than any run inside, and a space that is taken away
    // again.
    let fence = "`".repeat(longest_run + 1);
    format!("{fence} {shown} {fence}")
}
