//! What is shown of a running tool call and of one that has ended. Owns the words; must not know
//! how often they are sent.

use super::clean::{cleaned, cleaned_line};
use super::rich::{Part, Rich, Style};
use super::split::{MESSAGE_UNITS_MAX, parts};

/// How much of a title, of progress and of a summary is shown, in characters. All of them are
/// glimpses: the whole call is in the question and in the audit.
const GLIMPSE_CHARS_MAX: usize = 300;

/// A call that runs: `running: TITLE`, and below it the newest line of its progress, if there is
/// one. One message.
pub fn running(title: &str, progress: &str) -> Part {
    let mut rich = Rich::default();
    rich.push("⏳ running: ", Style::PLAIN);
    rich.push(&glimpse(title), Style::BOLD);
    let newest = progress.lines().rev().map(glimpse).find(|line| !line.is_empty());
    if let Some(line) = newest {
        rich.push(&format!("\n{line}"), Style::ITALIC);
    }
    one_part(rich)
}

/// A call that has ended: a mark, its title, and what there is to say about it. One message.
pub fn ended(title: &str, ok: bool, summary: &str) -> Part {
    let mut rich = Rich::default();
    rich.push(if ok { "✓ " } else { "✗ " }, Style::PLAIN);
    rich.push(&glimpse(title), Style::BOLD);
    let summary = glimpse(summary);
    if !summary.is_empty() {
        rich.push(&format!(" · {summary}"), Style::PLAIN);
    }
    one_part(rich)
}

/// On one line, with `…` where something was left out.
fn glimpse(text: &str) -> String {
    let line = cleaned_line(text);
    match line.char_indices().nth(GLIMPSE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The glimpses are short enough for one message, and the marks before them are never blank.
fn one_part(rich: Rich) -> Part {
    parts(&cleaned(rich), MESSAGE_UNITS_MAX).into_iter().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::utf16_len;

    #[test]
    fn the_newest_line_of_progress_is_shown() {
        assert_eq!(
            running("bash/run  make", "one\ntwo\n \n").text,
            "⏳ running: bash/run make\ntwo"
        );
        let part = running("bash/run\u{202e}", "");
        assert_eq!(part.text, "⏳ running: bash/run<U+202E>");
        assert_eq!((part.entities[0].offset, part.entities[0].length), (11, 16));
    }

    #[test]
    fn an_end_fits_into_a_message_whatever_it_says() {
        assert_eq!(ended("bash/run make", true, "").text, "✓ bash/run make");
        assert_eq!(
            ended("bash/run make", false, "exit 1\n0.2 s").text,
            "✗ bash/run make · exit 1 0.2 s"
        );
        let long = ended(&"👩".repeat(5000), false, &"\u{1b}".repeat(5000));
        assert!(utf16_len(&long.text) <= MESSAGE_UNITS_MAX && long.text.contains('…'));
        assert_eq!(running("", "").text, "⏳ running:");
    }
}
