//! Makes text of strangers harmless for a terminal. Owns which characters never reach one as they
//! are; must not know where the text came from or how it is laid out.

use std::borrow::Cow;
use std::fmt::Write as _;

/// True for a character that could drive a terminal or reorder what is seen: C0, DEL, C1 (ECMA-48),
/// bidirectional controls (UAX #9), spaces of no width, line and paragraph separators, interlinear
/// annotation, byte order mark, tags and noncharacters.
///
/// Joiners (U+200C, U+200D) and variation selectors stay: scripts and emoji need them.
pub fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{061C}' | '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{2060}' | '\u{2028}' | '\u{2029}' | '\u{FEFF}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2066}'..='\u{206F}'
            | '\u{FFF9}'..='\u{FFFB}'
            | '\u{FDD0}'..='\u{FDEF}'
            | '\u{E0000}'..='\u{E0FFF}')
        || (c as u32) & 0xFFFE == 0xFFFE
}

/// `text` with every hostile character made visible: `␛` for ESC and its like, `<U+202E>` for the
/// rest. Line feeds and tabs stay, because the callers lay them out themselves.
pub fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| is_hostile(c) && c != '\n' && c != '\t') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            c if is_hostile(c) => push_visible(&mut out, c),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Like [`clean`], and on one line: every run of white space becomes one space.
pub fn clean_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    clean(&words.join(" ")).into_owned()
}

fn push_visible(out: &mut String, c: char) {
    let code = c as u32;
    let picture = match code {
        0..=0x1F => char::from_u32(0x2400 + code),
        0x7F => Some('\u{2421}'),
        _ => None,
    };
    match picture {
        Some(picture) => out.push(picture),
        // Writing to a String cannot fail.
        None => _ = write!(out, "<U+{code:04X}>"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_drives_a_terminal_is_left() {
        let hostile = "a\u{1b}[2J\u{9b}31m\u{7}\u{8}\u{7f}\u{202e}\u{2066}\u{200f}\u{2028}\u{feff}\u{e0041}\r\u{0}z";
        let seen = clean(hostile);
        assert!(!seen.chars().any(is_hostile), "{seen:?}");
        assert!(seen.starts_with("a␛[2J<U+009B>31m␇␈␡<U+202E>"), "{seen}");
    }

    #[test]
    fn spaces_of_no_width_are_shown_like_the_other_hidden_ones() {
        assert_eq!(clean("a\u{200b}b\u{2060}c\u{202e}"), "a<U+200B>b<U+2060>c<U+202E>");
    }

    #[test]
    fn ordinary_text_is_not_copied() {
        assert!(matches!(clean("é 日本 👩‍👩‍👧 a\tb\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn one_line_stays_one_line() {
        assert_eq!(clean_line(" a\n\tb\r\nc\u{1b}"), "a b c␛");
    }
}
