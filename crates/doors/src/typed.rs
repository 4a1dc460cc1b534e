//! What a written message says to an open question: yes, no, or neither. One reading for every
//! door. Owns the words; must not know which question is open, or who may answer it.

/// Letter case aside, and with nothing else in the message but [`DECORATION`] at its end. None of
/// them grants anything for longer than this one call.
const YES: &[&str] = &["y", "yes", "yep", "ok", "okay", "ja"];
const NO: &[&str] = &["n", "no", "nope", "nein"];
/// What may stand behind such a word: thumbs and other nods, too. A question mark may not: "ok?"
/// asks something.
const DECORATION: &[char] =
    &['.', '!', ',', '\u{1f44d}', '\u{1f44e}', '\u{1f44c}', '\u{2705}', '\u{1f642}', '\u{fe0f}'];
/// The colours of a hand (Unicode, "Emoji Modifier").
const SKIN_TONES: std::ops::RangeInclusive<char> = '\u{1f3fb}'..='\u{1f3ff}';

/// What a message is to one open question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Typed {
    /// Allows this one call.
    Yes,
    /// Denies it, with a word to the model: `no, use plan.md`.
    No { word: Option<String> },
    /// A message. It answers nothing: "yes, but …" is one, too.
    Remark,
}

/// Reads a message. A yes is a yes alone; a no may have a comma, a colon or a dash and words behind
/// it.
pub fn typed(text: &str) -> Typed {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len());
    let (first, rest) = text.split_at(end);
    let first = first.to_lowercase();
    let bare = rest
        .chars()
        .all(|c| c.is_whitespace() || DECORATION.contains(&c) || SKIN_TONES.contains(&c));
    if YES.contains(&first.as_str()) && bare && !rest.contains('\u{1f44e}') {
        return Typed::Yes;
    }
    if !NO.contains(&first.as_str()) {
        return Typed::Remark;
    }
    match (bare, word(rest)) {
        (true, _) => Typed::No { word: None },
        (false, Some(word)) => Typed::No { word: Some(word.to_owned()) },
        (false, None) => Typed::Remark,
    }
}

/// What follows a comma, a colon or a dash. A hyphen counts with blanks around it alone, because
/// "no-op" is a word.
fn word(rest: &str) -> Option<&str> {
    let after = rest.trim_start();
    let word = match after.strip_prefix([',', ':', '–', '—']) {
        Some(word) => word,
        None if after.len() < rest.len() => {
            after.strip_prefix('-')?.strip_prefix(char::is_whitespace)?
        }
        None => return None,
    };
    Some(word.trim()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no(word: &str) -> Typed {
        Typed::No { word: Some(word.to_owned()) }
    }

    #[test]
    fn a_yes_is_one_word_alone() {
        for text in
            ["y", "Yes", " YES. ", "ok", "Okay!", "ja", "yep", "ok 👍", "yes 👍🏽", "yes!!", "ok,"]
        {
            assert_eq!(typed(text), Typed::Yes, "{text}");
        }
    }

    #[test]
    fn a_no_may_carry_a_word() {
        for text in ["n", "No.", "nein!", "NOPE", "no 👎"] {
            assert_eq!(typed(text), Typed::No { word: None }, "{text}");
        }
        assert_eq!(typed("no, use plan.md"), no("use plan.md"));
        assert_eq!(typed("Nein: nicht hier"), no("nicht hier"));
        assert_eq!(typed("no – later"), no("later"));
        assert_eq!(typed("no—later"), no("later"));
        assert_eq!(typed("no - later,\nplease"), no("later,\nplease"));
        assert_eq!(typed("no, wait, yes"), no("wait, yes"), "the first word counts");
    }

    #[test]
    fn everything_else_is_a_remark() {
        for text in [
            "",
            "👍",
            "yes 👎",
            "yes, but not there",
            "yes and no",
            "yes please",
            "yes\nand then the rest",
            "ok?",
            "yes?",
            "no problem, show me the file first",
            "no-op, please",
            "not now",
            "note: buy milk",
            "okey",
            "yess",
            "always",
            "y 2",
            "уes",
            "что",
        ] {
            assert_eq!(typed(text), Typed::Remark, "{text}");
        }
    }
}
