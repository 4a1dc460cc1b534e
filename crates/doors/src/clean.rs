//! Makes text of strangers harmless for a terminal. Must not know where the text came from or how
//! it is laid out.

use std::borrow::Cow;

use crate::domain::{hidden_shown, is_hidden};

/// `text` with every hidden character made visible: `␛` for ESC and its like, `<U+202E>` for the
/// rest. Line feeds and tabs stay, because the callers lay them out themselves.
pub fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| is_hidden(c) && c != '\n' && c != '\t') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            c if is_hidden(c) => out.push_str(&hidden_shown(c)),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_drives_a_terminal_is_left() {
        let hostile = "a\u{1b}[2J\u{9b}31m\u{7}\u{8}\u{7f}\u{202e}\u{2066}\u{200f}\u{2028}\u{feff}\u{e0041}\r\u{0}z";
        let seen = clean(hostile);
        assert!(!seen.chars().any(is_hidden), "{seen:?}");
        assert!(seen.starts_with("a␛[2J<U+009B>31m␇␈␡<U+202E>"), "{seen}");
    }

    #[test]
    fn spaces_of_no_width_are_shown_like_the_other_hidden_ones() {
        assert_eq!(clean("a\u{200b}b\u{2060}c\u{202e}"), "a<U+200B>b<U+2060>c<U+202E>");
        let blank = "a\u{ad}\u{115f}\u{180e}\u{2062}\u{2800}\u{3164}\u{fffc}b";
        let shown = "a<U+00AD><U+115F><U+180E><U+2062><U+2800><U+3164><U+FFFC>b";
        assert_eq!(clean(blank), shown);
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
