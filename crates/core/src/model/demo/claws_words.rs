//! What claw writes beside a person's words and behind a tool's, for a model to read. The demo
//! answers the person alone. Pure. Must not know why claw writes it.

/// How claw's own texts begin: what it says of actions, files, notes, the mode, the time, and of a
/// reply that was cut.
const BEGINS: &[&str] = &[
    "[claw: ",
    "[from your memory, ",
    "[mode: ",
    "[You were interrupted here.",
    "[The images of these results",
];
/// What claw says behind a result, in brackets of its own.
const BEHIND: &str = "\n\n[claw: ";

/// Whether a text beside those of a person is claw's.
pub(super) fn is_note(text: &str) -> bool {
    BEGINS.iter().any(|begin| text.starts_with(begin)) || is_time(text)
}

/// A result without what claw has added.
pub(super) fn without_notes(result: &str) -> &str {
    match result.rfind(BEHIND) {
        Some(at) if result.trim_end().ends_with(']') => &result[..at],
        _ => result,
    }
}

/// `[Monday 2026-01-05 09:00, Europe/Vienna]`, alone in its text.
fn is_time(text: &str) -> bool {
    let Some(inner) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
        return false;
    };
    let words: Vec<&str> = inner.splitn(4, ' ').collect();
    let [day, date, time, _zone] = words[..] else { return false };
    let is_date = |text: &str| text.split('-').count() == 3 && text.starts_with(is_digit);
    day.ends_with("day") && is_date(date) && time.ends_with(',') && time.starts_with(is_digit)
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claws_own_words_are_told_from_a_persons() {
        for text in [
            "[claw: the owner cancelled a staged action]",
            "[from your memory, found with the words of the next message: notes]\n> x",
            "[mode: work; git: main]",
            "[Monday 2026-01-05 09:00, UTC]",
            "[You were interrupted here. Go on from there]",
        ] {
            assert!(is_note(text), "{text}");
        }
        for text in ["list", "[list]", "[a b c d]", "[today 1-2-3 9:00 x] list", ""] {
            assert!(!is_note(text), "{text}");
        }
        assert_eq!(without_notes("kept\n\n[claw: staged for the owner: 1. x]"), "kept");
        assert_eq!(without_notes("kept [claw: x]\n"), "kept [claw: x]\n");
    }
}
