//! The first reader: bytes that mean themselves, blanks between words, two kinds of quotes, four
//! joints. Everything else ends the reading. Must not know programs or the other reader.

use super::{Joint, ShellStep};

/// Words that bash's grammar takes for itself where a command begins (Bash Reference Manual,
/// "Reserved Words").
const RESERVED: &[&str] = &[
    "if", "then", "elif", "else", "fi", "time", "for", "in", "until", "while", "do", "done",
    "case", "esac", "coproc", "select", "function",
];

/// Bytes that are literal outside of quotes, wherever in a word they stand. Missing are among
/// others `#` (comments), `~` (homes, also behind `=` and `:`), `^` (an old pipe), `!` (history,
/// negation), brackets, braces and the backslash.
fn is_literal(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'_' | b'-' | b'.' | b'/' | b',' | b':' | b'=' | b'@' | b'%' | b'+')
}

/// `HEAD~2`, `HEAD^`: behind a letter or a digit these two mean nothing to bash.
fn is_literal_behind(byte: u8, before: Option<u8>) -> bool {
    matches!(byte, b'~' | b'^') && before.is_some_and(|before| before.is_ascii_alphanumeric())
}

/// Between `"` and `"` bash looks for `$`, back quotes, the backslash and, where history is on,
/// `!`.
fn is_literal_in_double_quotes(byte: u8) -> bool {
    is_printable(byte) && !matches!(byte, b'"' | b'$' | b'`' | b'\\' | b'!')
}

fn is_printable(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

/// A name that can be a program on the search path and nothing else.
fn is_program(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_');
    word.starts_with(|c: char| c.is_ascii_alphanumeric())
        && word.chars().all(plain)
        && !RESERVED.contains(&word)
}

pub(super) fn read(text: &str) -> Option<Vec<ShellStep>> {
    let mut steps = Vec::new();
    let mut rest = text.as_bytes();
    let mut joint = Joint::Start;
    loop {
        let words = words(&mut rest)?;
        steps.push(ShellStep { joint, words });
        if rest.is_empty() {
            return Some(steps);
        }
        joint = take_joint(&mut rest)?;
    }
}

/// The words of one simple command, up to a joint or the end.
fn words(rest: &mut &[u8]) -> Option<Vec<String>> {
    let mut words = Vec::new();
    loop {
        while let Some(after) = rest.strip_prefix(b" ") {
            *rest = after;
        }
        match rest.first() {
            None | Some(b'&' | b'|' | b';') => break,
            Some(_) => {
                let (word, quoted) = word(rest)?;
                if words.is_empty() && (quoted || !is_program(&word)) {
                    return None;
                }
                words.push(word);
            }
        }
    }
    (!words.is_empty()).then_some(words)
}

/// One word, and whether a part of it was quoted.
fn word(rest: &mut &[u8]) -> Option<(String, bool)> {
    let mut word = String::new();
    let mut quoted = false;
    let mut before = None;
    while let Some((&byte, after)) = rest.split_first() {
        match byte {
            b' ' | b'&' | b'|' | b';' => break,
            b'\'' | b'"' => {
                let length = after.iter().position(|end| *end == byte)?;
                let (inside, behind) = after.split_at(length);
                let literal = if byte == b'"' { is_literal_in_double_quotes } else { is_printable };
                if !inside.iter().all(|byte| literal(*byte)) {
                    return None;
                }
                word.extend(inside.iter().map(|byte| char::from(*byte)));
                quoted = true;
                *rest = behind.get(1..)?;
            }
            _ if is_literal(byte) || is_literal_behind(byte, before) => {
                word.push(char::from(byte));
                *rest = after;
            }
            _ => return None,
        }
        before = Some(byte);
    }
    Some((word, quoted))
}

/// A single `&` is the background, `|&` and `;;` are others' business: none is a joint.
fn take_joint(rest: &mut &[u8]) -> Option<Joint> {
    for (written, joint) in
        [(&b"&&"[..], Joint::And), (b"||", Joint::Or), (b";", Joint::Then), (b"|", Joint::Pipe)]
    {
        if let Some(after) = rest.strip_prefix(written) {
            *rest = after;
            return Some(joint);
        }
    }
    None
}
