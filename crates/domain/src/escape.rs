//! The one escaper that makes any text visible for a question. Owns which characters count as
//! invisible; must not know where the text is shown.
//!
//! What stays readable: letters, digits, punctuation and symbols of all scripts, emoji, and up to
//! [`MARKS_MAX`] combining marks on a letter. Everything else that is no plain space is written as
//! `\u{…}`: control, format, bidirectional, private-use and unassigned characters, every space but
//! U+0020, fillers and blanks that look like one, variation selectors, tags, and marks without a
//! letter to sit on. A backslash is doubled, so the text reads back exactly.
//!
//! Two consequences are accepted: the joiners inside some emoji and Indic words are spelled out,
//! and letters that look alike in two scripts (Latin `a`, Cyrillic `а`) are both letters.
//! Right-to-left letters stay, and a door that draws them isolates each value.

mod table;

use std::fmt::Write as _;

use table::{HIDDEN, MARKS};

/// Combining marks in a row that stay readable. Living orthographies need at most four; more of
/// them paint over lines.
pub const MARKS_MAX: usize = 4;

/// `text` with everything invisible spelled out, on one line. `unescape` gives back exactly `text`.
pub fn visible(text: &str) -> String {
    escape(text, false)
}

/// Like [`visible`], but a line feed stays a real line break. `unescape` gives back exactly `text`.
pub fn visible_multiline(text: &str) -> String {
    escape(text, true)
}

/// A document with what cannot be seen spelled out. Line ends, tabs and backslashes are plain parts
/// of one, so that it does not read back exactly.
pub fn visible_document(text: &str) -> String {
    const KEPT: [char; 3] = ['\n', '\t', '\\'];
    let piece = |piece: &str| match piece.strip_suffix(KEPT) {
        Some(body) => format!("{}{}", visible(body), piece.get(body.len()..).unwrap_or("")),
        None => visible(piece),
    };
    text.replace("\r\n", "\n").split_inclusive(KEPT).map(piece).collect()
}

/// A text that `visible` and `visible_multiline` never make.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the escape at byte {at} is not one of `\\\\`, `\\n`, `\\r`, `\\t`, `\\u{{HEX}}`")]
pub struct InvalidEscape {
    pub at: usize,
}

impl crate::Blamed for InvalidEscape {
    fn blame(&self) -> crate::Blame {
        crate::Blame::Broken
    }
}

/// The text that `visible` or `visible_multiline` was given.
pub fn unescape(shown: &str) -> Result<String, InvalidEscape> {
    let mut out = String::with_capacity(shown.len());
    let mut rest = shown;
    while let Some(position) = rest.find('\\') {
        let wrong = || InvalidEscape { at: shown.len() - rest.len() + position };
        let (plain, escape) = rest.split_at(position);
        out.push_str(plain);
        let mut chars = escape.chars();
        chars.next();
        match chars.next() {
            Some('\\') => out.push('\\'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('u') => {
                let digits = chars
                    .as_str()
                    .strip_prefix('{')
                    .and_then(|s| s.split_once('}'))
                    .ok_or_else(wrong)?;
                out.push(code_point(digits.0).ok_or_else(wrong)?);
                rest = digits.1;
                continue;
            }
            _ => return Err(wrong()),
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    Ok(out)
}

fn code_point(digits: &str) -> Option<char> {
    let plain = (1..=6).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    if !plain {
        return None;
    }
    u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)
}

fn escape(text: &str, keep_line_feeds: bool) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    // How many marks the last readable character can still carry.
    let mut marks_left = 0;
    for c in text.chars() {
        let readable = match c {
            '\\' => {
                out.push_str("\\\\");
                marks_left = 0;
                continue;
            }
            ' '..='~' => true,
            '\n' if keep_line_feeds => true,
            '\n' | '\r' | '\t' => {
                out.push_str(&c.escape_default().to_string());
                marks_left = 0;
                continue;
            }
            _ if is_in(MARKS, c) => marks_left > 0,
            _ => !is_in(HIDDEN, c),
        };
        if !readable {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            marks_left = 0;
            continue;
        }
        out.push(c);
        marks_left = match c {
            _ if is_in(MARKS, c) => marks_left - 1,
            _ if c.is_alphabetic() => MARKS_MAX,
            _ => 0,
        };
    }
    out
}

fn is_in(ranges: &[(u32, u32)], c: char) -> bool {
    let code = u32::from(c);
    ranges
        .binary_search_by(|(first, last)| {
            if code < *first {
                std::cmp::Ordering::Greater
            } else if code > *last {
                std::cmp::Ordering::Less
            } else {
                std::cmp::Ordering::Equal
            }
        })
        .is_ok()
}

#[cfg(test)]
mod tests;
