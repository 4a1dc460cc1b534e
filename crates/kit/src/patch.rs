//! A unified diff over one or more files: which files it names, which lines go and come, and what
//! a text becomes by it. One reader, so that who judges a patch and who applies it cannot differ.
//! The hunks are `diffy`'s; owns where a file's part begins and ends, and what is refused. Pure.
//! Must not know files, or who asks.
//!
//! Only new files and changed lines are taken. What deletes, renames or copies a file,
//! changes its mode, or is no text is refused, and so is a line that belongs to no part:
//! nothing is passed over. Only the end of a line is read kindly: the last line of a patch may lack
//! its line feed, and in a text of CRLF line ends each one of the patch stands for CRLF.

use std::ops::Range;

use diffy::{Line, Patch};

use crate::line_ends;

/// The longest patch, in bytes.
pub const PATCH_BYTES_MAX: usize = 1024 * 1024;
/// Files of one patch.
pub const FILES_MAX: usize = 50;
/// Lines of a text, times lines that its hunks look for: what a search for their places may cost.
const COMPARISONS_MAX: usize = 100_000_000;

/// The name that stands for no file.
const NOTHING: &str = "/dev/null";
/// Lines that may stand before a file's part and say nothing that is not in it, too.
const HEADERS: &[&str] = &["diff --git ", "diff -", "index ", "new file mode 100644", "Index: "];

/// Why a patch was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    #[error("the patch has {0} bytes, at most {PATCH_BYTES_MAX} work")]
    TooLong(usize),
    #[error("the patch is over more than {FILES_MAX} files")]
    TooMany,
    #[error("the patch names no file: a part begins with a line `--- NAME` and a line `+++ NAME`")]
    Empty,
    #[error("line {line} is no part of a unified diff: {what}")]
    Line { line: usize, what: String },
    #[error("the part that begins in line {line}: {what}")]
    Part { line: usize, what: String },
    #[error(
        "hunk {hunk} does not fit: its lines do not stand in the file as they stand in the patch"
    )]
    DoesNotFit { hunk: usize },
    #[error("hunk {hunk} has a line without a line feed that is not the end of the file")]
    NotTheEnd { hunk: usize },
    #[error("the file and the patch have too many lines to be compared")]
    TooMuch,
}

/// What one patch does to one file.
#[derive(Debug)]
pub struct Change<'a> {
    /// The path as the patch has it, without `a/` and `b/`.
    pub path: &'a str,
    /// The file is new.
    pub creates: bool,
    /// Its part of the patch.
    part: &'a str,
    /// The part as it is written: its last line without a line feed if it has none there.
    patch: Patch<'a, str>,
}

/// A line of a hunk, without its line feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit<'a> {
    /// A hunk begins; it says that this is its first line in the old file.
    Hunk(usize),
    Stays(&'a str),
    Goes(&'a str),
    Comes(&'a str),
    /// The line before it has no line feed at its end.
    NoLineFeed,
}

/// # Errors
/// The text is too long, or any line of it is no part of what is taken.
pub fn read(text: &str) -> Result<Vec<Change<'_>>, PatchError> {
    if text.len() > PATCH_BYTES_MAX {
        return Err(PatchError::TooLong(text.len()));
    }
    let mut parts = Parts { lines: text.split_inclusive('\n').collect(), at: 0, offset: 0 };
    let mut changes: Vec<Change<'_>> = Vec::new();
    while let Some(part) = parts.next_part()? {
        let change = part.change(text)?;
        if changes.iter().any(|other| other.path == change.path) {
            let what = format!("`{}` has a part already; put both into one", change.path);
            return Err(PatchError::Part { line: part.line, what });
        }
        changes.push(change);
        if changes.len() > FILES_MAX {
            return Err(PatchError::TooMany);
        }
    }
    if changes.is_empty() { Err(PatchError::Empty) } else { Ok(changes) }
}

impl Change<'_> {
    /// What the text becomes. Each hunk is put where its lines stand, nearest to where it says.
    ///
    /// # Errors
    /// The lines of a hunk do not stand in the text, or the search for them would take too long. A
    /// line without a line feed would come before another one.
    pub fn apply(&self, old: &str) -> Result<String, PatchError> {
        let lines = old.split_inclusive('\n').count();
        let wanted: usize = self.patch.hunks().iter().map(|hunk| hunk.old_range().len()).sum();
        if lines.max(1).saturating_mul(wanted) > COMPARISONS_MAX {
            return Err(PatchError::TooMuch);
        }
        let mut part = self.part.to_owned();
        if self.is_cut() {
            part.push('\n');
        }
        if !line_ends::are_crlf(old) {
            return put(&part, old);
        }
        // What is not touched is as before, also a line that ends in CR CRLF.
        let (part, old) = (part.replace("\r\n", "\n"), old.replace("\r\n", "\n"));
        Ok(put(&part, &old)?.replace('\n', "\r\n"))
    }

    /// The patch ends in a line of this part, and that has no line feed. A line that says so
    /// (`\ No newline …`) has done its work, whether it has one itself or not.
    fn is_cut(&self) -> bool {
        let last = self.part.rsplit('\n').next().unwrap_or_default();
        !last.is_empty() && !last.starts_with('\\')
    }

    /// Its hunks, line by line.
    pub fn edits(&self) -> Vec<Edit<'_>> {
        let mut edits = Vec::new();
        for hunk in self.patch.hunks() {
            edits.push(Edit::Hunk(hunk.old_range().start()));
            for line in hunk.lines() {
                let (Line::Context(text) | Line::Delete(text) | Line::Insert(text)) = line;
                let whole = text.strip_suffix('\n');
                let shown = whole.unwrap_or(text);
                edits.push(match line {
                    Line::Context(_) => Edit::Stays(shown),
                    Line::Delete(_) => Edit::Goes(shown),
                    Line::Insert(_) => Edit::Comes(shown),
                });
                edits.extend(whole.is_none().then_some(Edit::NoLineFeed));
            }
        }
        if self.is_cut() {
            edits.pop_if(|last| *last == Edit::NoLineFeed);
        }
        edits
    }
}

/// What a part makes of a text, line for line.
fn put(part: &str, old: &str) -> Result<String, PatchError> {
    let patch = Patch::from_str(part)
        .map_err(|error| PatchError::Part { line: 1, what: error.to_string() })?;
    // The library names the first hunk that does not fit in its words alone.
    let new = diffy::apply(old, &patch).map_err(|error| {
        let told = error.to_string();
        let hunk = told.rsplit('#').next().and_then(|number| number.parse().ok());
        PatchError::DoesNotFit { hunk: hunk.unwrap_or_default() }
    })?;
    // The library puts a line without a line feed wherever it belongs, and the line behind it is
    // one with it then: there are fewer lines than were counted.
    let count = |text: &str| text.split_inclusive('\n').count();
    let (mut gone, mut come, mut open) = (0, 0, None);
    for (at, hunk) in patch.hunks().iter().enumerate() {
        for line in hunk.lines() {
            gone += usize::from(matches!(line, Line::Delete(_)));
            if let Line::Insert(text) = line {
                come += 1;
                open = open.or((!text.ends_with('\n')).then_some(at + 1));
            }
        }
    }
    match open {
        Some(hunk) if count(&new) + gone != count(old) + come => {
            Err(PatchError::NotTheEnd { hunk })
        }
        _ => Ok(new),
    }
}

/// The parts of a patch, one after the other.
struct Parts<'a> {
    lines: Vec<&'a str>,
    at: usize,
    /// Bytes before the line `at`.
    offset: usize,
}

/// One file's part of a patch.
struct Part<'a> {
    /// Its first line, counted from 1.
    line: usize,
    bytes: Range<usize>,
    old: &'a str,
    new: &'a str,
    hunks: usize,
}

impl<'a> Parts<'a> {
    fn next_part(&mut self) -> Result<Option<Part<'a>>, PatchError> {
        while let Some(line) = self.peek() {
            if line.starts_with("--- ") {
                break;
            }
            let is_header = HEADERS.iter().any(|header| line.starts_with(header));
            if !is_header && !line.trim().is_empty() {
                return Err(self.wrong("it belongs to no file"));
            }
            self.step();
        }
        if self.peek().is_none() {
            return Ok(None);
        }
        let (line, start) = (self.at + 1, self.offset);
        let old = self.name("--- ")?;
        let new = self.name("+++ ")?;
        let mut hunks = 0;
        while let Some(counts) = self.peek().and_then(counts) {
            self.step();
            self.hunk(counts)?;
            hunks += 1;
        }
        if hunks == 0 {
            return Err(self.wrong("a hunk (`@@ -1,3 +1,4 @@`) belongs here"));
        }
        Ok(Some(Part { line, bytes: start..self.offset, old, new, hunks }))
    }

    /// As many lines as the head of the hunk says, and no more.
    fn hunk(&mut self, (mut old, mut new): (usize, usize)) -> Result<(), PatchError> {
        while old > 0 || new > 0 {
            let line = self.peek().ok_or_else(|| self.wrong("the hunk ends too early"))?;
            match line.as_bytes().first() {
                Some(b' ' | b'\n') if old > 0 && new > 0 => (old, new) = (old - 1, new - 1),
                Some(b'-') if old > 0 => old -= 1,
                Some(b'+') if new > 0 => new -= 1,
                Some(b'\\') => {}
                _ => return Err(self.wrong("the head of the hunk counts other lines")),
            }
            self.step();
        }
        while self.peek().is_some_and(|line| line.starts_with('\\')) {
            self.step();
        }
        Ok(())
    }

    /// The name in a line `--- NAME`; a time may stand behind a tab.
    fn name(&mut self, prefix: &str) -> Result<&'a str, PatchError> {
        let line = self.peek().unwrap_or_default();
        let rest = line.strip_prefix(prefix);
        let rest = rest.ok_or_else(|| self.wrong(&format!("`{prefix}NAME` belongs here")))?;
        let name = rest.split('\t').next().unwrap_or_default();
        let name = name.strip_suffix('\n').unwrap_or(name);
        let name = name.strip_suffix('\r').unwrap_or(name);
        if name.is_empty() || name.starts_with('"') || name.contains(char::is_control) {
            return Err(self.wrong(
                "a name in quotes, an empty one or one with control characters is not taken",
            ));
        }
        self.step();
        Ok(name)
    }

    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    fn step(&mut self) {
        self.offset += self.peek().map_or(0, str::len);
        self.at += 1;
    }

    fn wrong(&self, what: &str) -> PatchError {
        PatchError::Line { line: self.at + 1, what: what.to_owned() }
    }
}

impl<'a> Part<'a> {
    fn change(&self, text: &'a str) -> Result<Change<'a>, PatchError> {
        let wrong = |what: String| PatchError::Part { line: self.line, what };
        let creates = self.old == NOTHING;
        let path = match (self.old, self.new) {
            (_, NOTHING) => return Err(wrong("it deletes a file; use delete for that".to_owned())),
            (NOTHING, new) => new.strip_prefix("b/").unwrap_or(new),
            (old, new) => match (old.strip_prefix("a/"), new.strip_prefix("b/")) {
                (Some(old), Some(new)) if old == new => new,
                _ if old == new => new,
                _ => {
                    let what = format!("`{old}` and `{new}` are two names; use move to rename");
                    return Err(wrong(what));
                }
            },
        };
        if path.is_empty() {
            return Err(wrong("its name is empty".to_owned()));
        }
        let part = text.get(self.bytes.clone()).unwrap_or_default();
        let patch = Patch::from_str(part).map_err(|error| wrong(error.to_string()))?;
        // The library has read the same: the names, and every hunk.
        let same = patch.original() == Some(self.old) && patch.modified() == Some(self.new);
        if !same || patch.hunks().len() != self.hunks {
            return Err(wrong("it can be read in two ways".to_owned()));
        }
        let anchored = patch.hunks().iter().all(|hunk| {
            let old_lines = hunk.lines().iter().filter(|line| !matches!(line, Line::Insert(_)));
            old_lines.count() > 0
        });
        if !creates && !anchored {
            return Err(wrong(
                "each hunk needs a line that stays or goes, so that its place is known".to_owned(),
            ));
        }
        if creates && (self.hunks > 1 || patch.hunks().iter().any(|h| !h.old_range().is_empty())) {
            return Err(wrong("a new file has one hunk, of new lines alone".to_owned()));
        }
        Ok(Change { path, creates, part, patch })
    }
}

/// How many old and new lines the head of a hunk says that it has.
fn counts(line: &str) -> Option<(usize, usize)> {
    let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let count = |range: &str| match range.split_once(',') {
        Some((_, count)) => count.parse().ok(),
        None => Some(1),
    };
    Some((count(old)?, count(new)?))
}

#[cfg(test)]
mod tests;
