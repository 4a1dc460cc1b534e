//! Replacing exact pieces of a text, each unique unless all of them are meant. Pure: owns the
//! matching, line ends included; must not know files.

use claw_kit::line_ends;

/// One replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit<'a> {
    pub old: &'a str,
    pub new: &'a str,
    /// Everywhere, and not in one place alone.
    pub all: bool,
}

/// Positions that are counted before we say "at least".
const MATCHES_COUNTED_MAX: usize = 100;
/// Line numbers that an error names.
const LINES_SHOWN_MAX: usize = 10;

/// Why the edits were not applied. `index` counts from 1.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("edit {index}: old_text is empty. To create or fill a file use write_file.")]
    Empty { index: usize },
    #[error("edit {index}: old_text and new_text are the same, so there is nothing to change.")]
    NoChange { index: usize },
    #[error(
        "edit {index}: old_text was not found.{hint} It must match exactly, white space and indentation included. Nothing was changed."
    )]
    NotFound { index: usize, hint: String },
    #[error(
        "edit {index}: old_text occurs {count} times (starting at lines {lines}); it must be unique. Add lines before or after it, or set replace_all if every one is meant. Nothing was changed."
    )]
    Ambiguous { index: usize, count: String, lines: String },
    #[error(
        "edit {index}: replacing all {count} places would make the file larger than {bytes_max} bytes. Nothing was changed."
    )]
    TooLarge { index: usize, count: usize, bytes_max: usize },
}

/// Applies `edits` in order, each to the result of those before it. All or nothing. Gives how many
/// places were replaced, too.
///
/// In a file whose every line ends in CRLF, a lone LF in `old` and `new` stands for CRLF, so that
/// the file keeps its line ends whatever the model writes. In a file of mixed line ends `old` is
/// first taken as it is.
///
/// # Errors
/// An `old` text that is empty, missing or not unique; overlapping occurrences count as several. Of
/// one that is replaced everywhere they count once, from the left; the text may not grow beyond
/// `bytes_max` by that.
pub fn apply(
    text: &str,
    edits: &[Edit<'_>],
    bytes_max: usize,
) -> Result<(String, usize), EditError> {
    let (mut text, mut places) = (text.to_owned(), 0);
    for (at, edit) in edits.iter().enumerate() {
        let (new, replaced) = apply_one(&text, edit, at + 1, bytes_max)?;
        (text, places) = (new, places + replaced);
    }
    Ok((text, places))
}

fn apply_one(
    text: &str,
    edit: &Edit<'_>,
    index: usize,
    bytes_max: usize,
) -> Result<(String, usize), EditError> {
    if edit.old.is_empty() {
        return Err(EditError::Empty { index });
    }
    if edit.old == edit.new {
        return Err(EditError::NoChange { index });
    }
    let all_crlf = line_ends::are_crlf(text);
    let mut old = edit.old.to_owned();
    let mut new = edit.new.to_owned();
    if all_crlf {
        old = to_crlf(&old);
        new = to_crlf(&new);
    }
    let mut found = positions(text, &old, MATCHES_COUNTED_MAX);
    if found.is_empty() && !all_crlf && text.contains("\r\n") && old.contains('\n') {
        old = to_crlf(&old);
        new = to_crlf(&new);
        found = positions(text, &old, MATCHES_COUNTED_MAX);
    }
    match found.as_slice() {
        [] => Err(EditError::NotFound { index, hint: near_miss(text, edit.old) }),
        [at] => {
            let mut out = String::with_capacity(text.len() + new.len());
            out.push_str(&text[..*at]);
            out.push_str(&new);
            out.push_str(&text[at + old.len()..]);
            Ok((out, 1))
        }
        _ if edit.all => everywhere(text, &old, &new, index, bytes_max),
        many => Err(ambiguous(text, many, index)),
    }
}

/// The length is known before anything is made of it.
fn everywhere(
    text: &str,
    old: &str,
    new: &str,
    index: usize,
    bytes_max: usize,
) -> Result<(String, usize), EditError> {
    let count = text.matches(old).count();
    let kept = text.len() - count * old.len();
    let length = count.checked_mul(new.len()).and_then(|added| added.checked_add(kept));
    match length {
        Some(length) if length <= bytes_max => Ok((text.replace(old, new), count)),
        _ => Err(EditError::TooLarge { index, count, bytes_max }),
    }
}

fn ambiguous(text: &str, positions: &[usize], index: usize) -> EditError {
    let at_least = if positions.len() >= MATCHES_COUNTED_MAX { "at least " } else { "" };
    let mut lines: Vec<String> =
        positions.iter().take(LINES_SHOWN_MAX).map(|at| line_of(text, *at).to_string()).collect();
    if positions.len() > LINES_SHOWN_MAX {
        lines.push("…".into());
    }
    EditError::Ambiguous {
        index,
        count: format!("{at_least}{}", positions.len()),
        lines: lines.join(", "),
    }
}

/// Counts from 1.
fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1
}

/// The most common slip: the right lines with other white space.
fn near_miss(text: &str, old: &str) -> String {
    let Some(wanted) = old.lines().map(str::trim).find(|line| !line.is_empty()) else {
        return String::new();
    };
    let lines: Vec<String> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| line.trim() == wanted)
        .take(3)
        .map(|(index, _)| (index + 1).to_string())
        .collect();
    if lines.is_empty() {
        return " Read the file again to see its present text.".into();
    }
    format!(
        " Its first line is there apart from white space, at line {}; read that part again.",
        lines.join(", ")
    )
}

fn to_crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

/// Where `needle` begins in `text`, overlapping occurrences included, at most `count_max` of them.
fn positions(text: &str, needle: &str, count_max: usize) -> Vec<usize> {
    let step = needle.chars().next().map_or(1, char::len_utf8);
    let mut found = Vec::new();
    let mut from = 0;
    while found.len() < count_max {
        let Some(at) = text.get(from..).and_then(|rest| rest.find(needle)) else { break };
        found.push(from + at);
        from += at + step;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BYTES_MAX: usize = 10_000;

    fn one(text: &str, old: &str, new: &str) -> Result<String, EditError> {
        apply(text, &[Edit { old, new, all: false }], BYTES_MAX).map(|(text, _)| text)
    }

    fn all(text: &str, old: &str, new: &str) -> Result<(String, usize), EditError> {
        apply(text, &[Edit { old, new, all: true }], BYTES_MAX)
    }

    #[test]
    fn all_places_are_replaced_where_all_are_meant_and_none_is_an_error_still() {
        assert_eq!(all("a b a", "a", "aa").unwrap(), ("aa b aa".into(), 2));
        assert_eq!(all("aaa", "aa", "b").unwrap(), ("ba".into(), 1));
        assert_eq!(all("x\r\nx\r\n", "x\n", "y\n").unwrap(), ("y\r\ny\r\n".into(), 2));
        assert_eq!(all("abc", "b", "").unwrap(), ("ac".into(), 1));
        assert!(matches!(all("abc", "x", "y"), Err(EditError::NotFound { index: 1, .. })));
        let grown = all(&"a".repeat(200), "a", &"b".repeat(100)).unwrap_err();
        assert!(matches!(grown, EditError::TooLarge { count: 200, .. }), "{grown}");
    }

    #[test]
    fn edits_follow_each_other_and_all_or_none_apply() {
        let edit = |old, new| Edit { old, new, all: false };
        let both = [edit("a", "b"), edit("b", "c")];
        assert_eq!(apply("a", &both, BYTES_MAX).unwrap(), ("c".into(), 2));
        let second_missing = [edit("a", "b"), edit("x", "c")];
        let outcome = apply("a", &second_missing, BYTES_MAX);
        assert!(matches!(outcome, Err(EditError::NotFound { index: 2, .. })));
    }

    #[test]
    fn an_ambiguous_text_names_its_lines() {
        let error = one("x\ny\nx\n", "x", "z").unwrap_err().to_string();
        assert!(error.contains("2 times") && error.contains("lines 1, 3"), "{error}");
        // Overlapping occurrences are two possible places.
        assert!(matches!(one("aaa", "aa", "b"), Err(EditError::Ambiguous { .. })));
        assert!(
            one(&"x".repeat(500), "x", "z").unwrap_err().to_string().contains("at least 100 times")
        );
    }

    #[test]
    fn a_near_miss_is_pointed_at() {
        let error = one("a\n    let x = 1;\n", "  let x = 1;", "y").map(|_| ());
        // Here the text is a substring, so it is no miss at all.
        assert!(error.is_ok());
        let error = one("a\n\tlet x = 1;\n", "    let x = 1;", "y").unwrap_err().to_string();
        assert!(error.contains("line 2"), "{error}");
    }

    #[test]
    fn crlf_stays_crlf() {
        assert_eq!(one("a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\nz\n").unwrap(), "x\r\ny\r\nz\r\nc\r\n");
        assert_eq!(one("a\r\nb\r\n", "a\r\nb", "x\ny").unwrap(), "x\r\ny\r\n");
        // Mixed: what matches as it is stays as it is.
        assert_eq!(one("a\r\nb\nc\n", "b\nc", "x\ny").unwrap(), "a\r\nx\ny\n");
        assert_eq!(one("a\r\nb\nc\n", "a\nb", "x\ny").unwrap(), "x\r\ny\nc\n");
    }

    #[test]
    fn the_end_of_a_file_stays_as_it_is() {
        assert_eq!(one("a\nb", "b", "c").unwrap(), "a\nc");
        assert_eq!(one("a\nb\n", "b\n", "").unwrap(), "a\n");
    }

    proptest! {
        #[test]
        fn equals_replacen_for_any_unique_needle(
            text in "[ab\\n\u{e9}\u{1F600}]{0,60}", start in 0usize..60, length in 1usize..12, new in "[abx\\n\u{e9}]{0,8}"
        ) {
            let chars: Vec<char> = text.chars().collect();
            prop_assume!(start < chars.len());
            let old: String = chars[start..chars.len().min(start + length)].iter().collect();
            prop_assume!(old != new);
            // Independent of our search: try every position, so overlaps count.
            let count = text.char_indices().filter(|(at, _)| text[*at..].starts_with(&old)).count();
            let result = one(&text, &old, &new);
            if count == 1 {
                prop_assert_eq!(result.unwrap(), text.replacen(&old, &new, 1));
            } else {
                let ambiguous = matches!(result, Err(EditError::Ambiguous { .. }));
                prop_assert!(ambiguous);
            }
        }

        #[test]
        fn in_a_crlf_file_it_is_the_lf_edit_with_crlf(
            head in "[ab\\n]{0,20}", old in "[ab\\n]{0,3}Z[ab\\n]{0,3}", tail in "[ab\\n]{0,20}", new in "[x\\n]{0,6}"
        ) {
            // `Z` occurs once, so the needle is unique; the first line end makes it a file with
            // CRLF.
            let text = format!("a\n{head}{old}{tail}");
            let expected = text.replacen(&old, &new, 1).replace('\n', "\r\n");
            prop_assert_eq!(one(&text.replace('\n', "\r\n"), &old, &new).unwrap(), expected);
        }
    }
}
