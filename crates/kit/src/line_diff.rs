//! How two texts differ, line by line, and how alike two names are. The comparison is `similar`'s,
//! of numbers only, so that one algorithm is compiled for one type. A line ends with a line feed,
//! as for `patch`; a carriage return is a part of its line. Pure. Must not know what the texts are.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::time::{Duration, Instant};

use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::{DiffOp, DiffTag};

/// Lines of a unified diff that stay around those that change.
const AROUND: usize = 3;

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
    let diff = Diff::of(old, new, time_max);
    let group = |ops: &Vec<DiffOp>| Group {
        old_start: reach(ops, DiffOp::old_range).start,
        old_end: reach(ops, DiffOp::old_range).end,
        lines: ops.iter().flat_map(|op| diff.lines_of(op)).collect(),
    };
    diff.grouped(around).iter().map(group).collect()
}

/// All lines of both texts. The comparison becomes coarser after `time_max`, and not slower.
pub fn lines(old: &str, new: &str, time_max: Duration) -> Vec<Line> {
    let diff = Diff::of(old, new, time_max);
    diff.ops.iter().flat_map(|op| diff.lines_of(op)).collect()
}

/// A unified diff with three lines of context (POSIX `diff -u`), in the form that `patch` and `git
/// apply` read, with the names of both files. Empty if nothing changes. The comparison becomes
/// coarser after `time_max`, and not slower.
pub fn unified(names: (&str, &str), old: &str, new: &str, time_max: Duration) -> String {
    let diff = Diff::of(old, new, time_max);
    let mut out = String::new();
    for ops in diff.grouped(AROUND) {
        if out.is_empty() {
            let _ = writeln!(out, "--- {}\n+++ {}", names.0, names.1);
        }
        let (gone, come) = (reach(&ops, DiffOp::old_range), reach(&ops, DiffOp::new_range));
        let _ = writeln!(out, "@@ -{} +{} @@", hunk_range(&gone), hunk_range(&come));
        for line in ops.iter().flat_map(|op| diff.lines_of(op)) {
            out.push(line.fate.mark());
            out.push_str(&line.text);
            if line.is_unended {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    out
}

/// How alike two names are, by their characters: from 0 (nothing is the same) to 1.
pub fn alike(one: &str, other: &str) -> f32 {
    let (one, other) = (numbers_of(one), numbers_of(other));
    similar::diff_ratio(&compared(&one, &other, None), one.len(), other.len())
}

/// Two texts by their lines, and what makes one of the other.
struct Diff<'a> {
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    ops: Vec<DiffOp>,
}

impl<'a> Diff<'a> {
    fn of(old: &'a str, new: &'a str, time_max: Duration) -> Self {
        let deadline = Instant::now().checked_add(time_max);
        let (old, new): (Vec<_>, Vec<_>) =
            (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
        let mut known = HashMap::with_capacity(old.len());
        let mut numbered = |lines: &[&'a str]| -> Vec<u32> {
            let number = |line: &&'a str| {
                let next = known.len() as u32;
                *known.entry(*line).or_insert(next)
            };
            lines.iter().map(number).collect()
        };
        let (of_old, of_new) = (numbered(&old), numbered(&new));
        Self { old, new, ops: compared(&of_old, &of_new, deadline) }
    }

    fn grouped(&self, around: usize) -> Vec<Vec<DiffOp>> {
        // `similar` doubles it.
        similar::group_diff_ops(self.ops.clone(), around.min(usize::MAX / 4))
    }

    /// The lines of one operation: those that go before those that come.
    fn lines_of(&self, op: &DiffOp) -> Vec<Line> {
        let line = |fate, text: &&str| Line {
            fate,
            text: (*text).to_owned(),
            is_unended: !text.ends_with('\n'),
        };
        if op.tag() == DiffTag::Equal {
            return self.new[op.new_range()].iter().map(|text| line(Fate::Stays, text)).collect();
        }
        let gone = self.old[op.old_range()].iter().map(|text| line(Fate::Goes, text));
        gone.chain(self.new[op.new_range()].iter().map(|text| line(Fate::Comes, text))).collect()
    }
}

/// The one place that calls the algorithm, so that it is compiled once.
#[inline(never)]
fn compared(old: &[u32], new: &[u32], deadline: Option<Instant>) -> Vec<DiffOp> {
    let mut found = Compact::new(Replace::new(Capture::new()), old, new);
    let Ok(()) = myers::diff_deadline(&mut found, old, 0..old.len(), new, 0..new.len(), deadline);
    found.into_inner().into_inner().into_ops()
}

fn numbers_of(name: &str) -> Vec<u32> {
    name.chars().map(u32::from).collect()
}

/// From the first line of these operations to behind their last one.
fn reach(ops: &[DiffOp], range: fn(&DiffOp) -> Range<usize>) -> Range<usize> {
    let ends = ops.first().zip(ops.last());
    ends.map_or(0..0, |(first, last)| range(first).start..range(last).end)
}

/// As POSIX `diff -u` writes it: the count is left out where it is 1, and without a line the number
/// is that of the line before.
fn hunk_range(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        len => format!("{},{len}", lines.start + 1),
    }
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

    #[test]
    fn a_unified_diff_is_as_posix_writes_it() {
        let body = |old: &str, new: &str| {
            let diff = unified(("a", "b"), old, new, LONG);
            diff.strip_prefix("--- a\n+++ b\n").unwrap_or(&diff).to_owned()
        };
        assert_eq!(body("same\n", "same\n"), "");
        assert_eq!(body("", "x\n"), "@@ -0,0 +1 @@\n+x\n");
        assert_eq!(body("x\n", ""), "@@ -1 +0,0 @@\n-x\n");
        let end = "\\ No newline at end of file\n";
        assert_eq!(body("x", "y"), format!("@@ -1 +1 @@\n-x\n{end}+y\n{end}"));
        let (old, new) = ("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n", "1\n2\n3\n4\nx\n6\n7\n8\n9\n10\n11\n");
        let hunk = "@@ -2,9 +2,10 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n 9\n 10\n+11\n";
        assert_eq!(body(old, new), hunk);
        // Only a line feed ends a line: `patch` knows no other end.
        assert_eq!(body("a\rb\n", "a\rc\r"), format!("@@ -1 +1 @@\n-a\rb\n+a\rc\r\n{end}"));
    }

    #[test]
    fn texts_that_have_nothing_in_common_end_at_their_limit() {
        let of = |seed: usize| -> String {
            (0..40_000).map(|n: usize| format!("{}\n", n.wrapping_mul(seed) % 7919)).collect()
        };
        let (old, new) = (of(31), of(37));
        let lines = lines(&old, &new, Duration::ZERO);
        let text = |without: Fate| -> String {
            lines.iter().filter(|line| line.fate != without).map(|line| &*line.text).collect()
        };
        assert!(text(Fate::Comes) == old && text(Fate::Goes) == new);
    }
}
