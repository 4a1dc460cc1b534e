//! How two texts differ, line by line, and how alike two names are. The comparison is `similar`'s;
//! here it has one type for all who compare, so that it is compiled once. Pure. Must not know what
//! the texts are.

use std::time::Duration;

use similar::{ChangeTag, DiffOp, TextDiff};

/// What becomes of a line from the old text to the new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Goes,
    Comes,
    Stays,
}

impl Fate {
    /// As the first column of a diff says it.
    pub fn mark(self) -> char {
        match self {
            Self::Goes => '-',
            Self::Comes => '+',
            Self::Stays => ' ',
        }
    }
}

/// One line of a comparison, with its line feed if it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub fate: Fate,
    pub text: String,
    /// It is the last one of its text, and has no line feed.
    pub is_unended: bool,
}

/// Lines that change, with those that stay around them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Where in the old text its first line stands; 0 is the first.
    pub old_start: usize,
    /// Behind its last line in the old text.
    pub old_end: usize,
    pub lines: Vec<Line>,
}

/// What changes, with at most `around` lines that stay on each side. The comparison becomes
/// coarser after `time_max`, and not slower.
pub fn groups(old: &str, new: &str, around: usize, time_max: Duration) -> Vec<Group> {
    let diff = compared(old, new, time_max);
    // `similar` doubles it.
    let groups = diff.grouped_ops(around.min(usize::MAX / 4));
    groups.iter().map(|ops| group(&diff, ops)).collect()
}

/// All lines of both texts. The comparison becomes coarser after `time_max`, and not slower.
pub fn lines(old: &str, new: &str, time_max: Duration) -> Vec<Line> {
    let diff = compared(old, new, time_max);
    diff.ops().iter().flat_map(|op| lines_of(&diff, op)).collect()
}

/// A unified diff with three lines of context, in the form that `patch` and `git apply` read, with
/// the names of both files. The comparison becomes coarser after `time_max`, and not slower.
pub fn unified(names: (&str, &str), old: &str, new: &str, time_max: Duration) -> String {
    compared(old, new, time_max).unified_diff().header(names.0, names.1).to_string()
}

/// How alike two names are, by their characters: from 0 (nothing is the same) to 1.
pub fn alike(one: &str, other: &str) -> f32 {
    TextDiff::from_chars(one, other).ratio()
}

fn compared<'a>(old: &'a str, new: &'a str, time_max: Duration) -> TextDiff<'a, 'a, str> {
    TextDiff::configure().timeout(time_max).diff_lines(old, new)
}

fn group(diff: &TextDiff<'_, '_, str>, ops: &[DiffOp]) -> Group {
    Group {
        old_start: ops.first().map_or(0, |op| op.old_range().start),
        old_end: ops.last().map_or(0, |op| op.old_range().end),
        lines: ops.iter().flat_map(|op| lines_of(diff, op)).collect(),
    }
}

fn lines_of(diff: &TextDiff<'_, '_, str>, op: &DiffOp) -> Vec<Line> {
    let line = |change: similar::Change<&str>| Line {
        fate: match change.tag() {
            ChangeTag::Delete => Fate::Goes,
            ChangeTag::Insert => Fate::Comes,
            ChangeTag::Equal => Fate::Stays,
        },
        text: change.value().to_owned(),
        is_unended: change.missing_newline(),
    };
    diff.iter_changes(op).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn lines_go_come_and_stay() {
        let marked = |lines: &[Line]| -> Vec<String> {
            lines.iter().map(|line| format!("{}{}", line.fate.mark(), line.text)).collect()
        };
        assert_eq!(marked(&lines("a\nb\n", "a\nc", LONG)), [" a\n", "-b\n", "+c"]);
        let ended: Vec<bool> =
            lines("a\nb\n", "a\nc", LONG).iter().map(|line| line.is_unended).collect();
        assert_eq!(ended, [false, false, true]);
        let (old, new) = ("1\n2\n3\n4\n5\n6\n7\n", "1\nx\n3\n4\n5\n6\ny\n");
        let groups = groups(old, new, 1, LONG);
        assert_eq!(groups.iter().map(|one| one.old_start).collect::<Vec<_>>(), [0, 5]);
        assert_eq!(groups.iter().map(|one| one.old_end).collect::<Vec<_>>(), [3, 7]);
        assert_eq!(marked(&groups[0].lines), [" 1\n", "-2\n", "+x\n", " 3\n"]);
        assert_eq!(super::groups(old, new, usize::MAX, LONG).len(), 1);
        assert!(super::groups(old, old, 1, LONG).is_empty());
    }

    #[test]
    fn a_diff_has_its_names_and_names_are_compared_by_their_characters() {
        let diff = unified(("a/x", "b/x"), "one\n", "two\n", LONG);
        assert_eq!(diff, "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n+two\n");
        assert!(alike("readme.md", "raedme.md") > 0.8);
        assert!(alike("readme.md", "other") < 0.5);
    }
}
