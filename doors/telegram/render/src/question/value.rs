//! The value of an argument on its way through Telegram: what the server would still change is
//! escaped, too, so that `domain::escape::unescape` gives back exactly what will run. Must not know
//! messages.

use std::fmt::Write as _;

use crate::clean::is_altered;

/// Starts each line of a value in a file.
const BAR: &str = "│ ";

/// An escaped value as a block of text that nobody trims: white space at the end of a line, and
/// line feeds at both ends of the value, are spelled out. Some readable characters are as well,
/// because Telegram deletes them (a ring above a letter).
pub(super) fn shown_value(escaped: &str) -> String {
    let inner = escaped.trim_matches('\n');
    let lead = escaped.len() - escaped.trim_start_matches('\n').len();
    // A value of nothing but line feeds has all of them in front.
    let trail = escaped.len() - lead - inner.len();
    let lines: Vec<String> = inner.split('\n').map(shown_line).collect();
    format!("{}{}{}", "\\n".repeat(lead), lines.join("\n"), "\\n".repeat(trail))
}

/// The same for a file, each line behind a bar.
pub(super) fn document_value(escaped: &str) -> String {
    shown_value(escaped).split('\n').map(|line| format!("{BAR}{line}\n")).collect()
}

fn shown_line(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    let (text, last_space) = match line.strip_suffix(' ') {
        Some(text) => (text, "\\u{20}"),
        None => (line, ""),
    };
    for c in text.chars() {
        match is_altered(c) {
            // Writing to a String cannot fail.
            true => _ = write!(shown, "\\u{{{:x}}}", u32::from(c)),
            false => shown.push(c),
        }
    }
    shown.push_str(last_space);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::escape::{unescape, visible_multiline};

    #[test]
    fn what_is_shown_reads_back() {
        for text in [
            "",
            "\n",
            "\n\n\n",
            "\n a \n\n b  \n",
            "   ",
            "a\u{30a}\u{301}",
            "\\n",
            "日\u{fffc}本",
            " \n \n",
        ] {
            let shown = shown_value(&visible_multiline(text));
            assert_eq!(unescape(&shown).unwrap(), text, "{shown}");
            assert_eq!(shown.trim_end(), shown);
        }
        assert_eq!(shown_value("\n  a \n"), "\\n  a\\u{20}\\n");
    }

    #[test]
    fn no_value_can_pass_for_the_frame() {
        assert_eq!(document_value("a\nOpen until 12:00"), "│ a\n│ Open until 12:00\n");
    }
}
