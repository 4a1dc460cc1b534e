//! What a search has found so far, and how it is told. Owns the limits of the reply; must not know
//! files or patterns.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;

use claw_kit::counted::counted;
use schemars::JsonSchema;
use serde::Serialize;

use crate::root::Root;
use crate::text::head;
use crate::tools::Reply;
use crate::walk::Unseen;

/// The part of a long line that is shown.
const LINE_BYTES_MAX: usize = 400;
/// Skipped files that are named.
const NAMED_MAX: usize = 5;

#[derive(Default, Serialize, JsonSchema)]
pub struct Output {
    matches: Vec<Match>,
    /// With count_only: the files with lines that match.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    counts: Vec<Count>,
    /// With count_only: all lines that match, in the files that were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    matching_lines: Option<u64>,
    files_with_matches: u64,
    files_searched: u64,
    skipped_binary: u64,
    skipped_too_large: u64,
    /// Files and directories that could not be read.
    skipped_unreadable: u64,
    /// Entries that were passed over because an ignore file names them; what is in an ignored
    /// directory is not counted.
    ignored: u64,
    /// There are more matches than were returned.
    truncated: bool,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Count {
    /// Relative to the workspace.
    path: String,
    lines: u64,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Match {
    /// Relative to the workspace.
    path: String,
    /// Counts from 1.
    line: usize,
    /// The line, at most 400 bytes of it.
    text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    before: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    after: Vec<String>,
}

pub struct Report<'a> {
    root: &'a Root,
    output: Output,
    text: String,
    /// Lines in `output`, context included, which may repeat; never less than what is in `text`.
    bytes: usize,
    matches_max: usize,
    bytes_max: usize,
    path: String,
    /// The last line of the present file that is in `text`, counting from 1; 0 if there is none.
    told: usize,
    large: Vec<String>,
}

impl<'a> Report<'a> {
    pub fn new(root: &'a Root, matches_max: usize, bytes_max: usize) -> Self {
        Self {
            root,
            output: Output::default(),
            text: String::new(),
            bytes: 0,
            matches_max,
            bytes_max,
            path: String::new(),
            told: 0,
            large: Vec::new(),
        }
    }

    pub fn unreadable(&mut self) {
        self.output.skipped_unreadable += 1;
    }

    pub fn binary(&mut self) {
        self.output.skipped_binary += 1;
    }

    pub fn too_large(&mut self, real: &Path) {
        self.output.skipped_too_large += 1;
        if self.large.len() < NAMED_MAX {
            self.large.push(self.root.shown(real));
        }
    }

    pub fn set_unseen(&mut self, unseen: Unseen) {
        self.output.ignored = unseen.ignored;
        self.output.skipped_unreadable += unseen.unreadable_dirs;
    }

    pub fn begin_file(&mut self, real: &Path) {
        self.output.files_searched += 1;
        self.path = self.root.shown(real);
        self.told = 0;
    }

    /// Adds a match; breaks, without adding it, when the limit was reached before.
    pub fn add(
        &mut self,
        index: usize,
        line: &[u8],
        before: &[&[u8]],
        after: &[&[u8]],
    ) -> ControlFlow<()> {
        if self.output.matches.len() >= self.matches_max || self.bytes >= self.bytes_max {
            self.output.truncated = true;
            return ControlFlow::Break(());
        }
        if self.told == 0 {
            self.output.files_with_matches += 1;
            let _ = writeln!(
                self.text,
                "{}{}",
                if self.text.is_empty() { "" } else { "\n" },
                self.path
            );
        }
        let found = Match {
            path: self.path.clone(),
            line: index + 1,
            text: readable(line),
            before: before.iter().map(|line| readable(line)).collect(),
            after: after.iter().map(|line| readable(line)).collect(),
        };
        let lines = found.before.iter().chain(&found.after).map(|line| line.len() + 1);
        self.bytes += found.path.len() + found.text.len() + lines.sum::<usize>();
        self.tell(&found);
        self.output.matches.push(found);
        ControlFlow::Continue(())
    }

    /// Adds how many lines of the present file match; breaks, without adding it, when the limit was
    /// reached before.
    pub fn count(&mut self, lines: u64) -> ControlFlow<()> {
        let all = self.output.matching_lines.get_or_insert_default();
        if lines == 0 {
            return ControlFlow::Continue(());
        }
        if self.output.counts.len() >= self.matches_max || self.bytes >= self.bytes_max {
            self.output.truncated = true;
            return ControlFlow::Break(());
        }
        *all += lines;
        self.output.files_with_matches += 1;
        self.bytes += self.path.len() + 1;
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "{lines:>7}  {}", self.path);
        self.output.counts.push(Count { path: self.path.clone(), lines });
        ControlFlow::Continue(())
    }

    /// Every line once: a match inside of the context of the one before only marks its line.
    fn tell(&mut self, found: &Match) {
        let first = found.line - found.before.len();
        if self.told > 0 && first > self.told + 1 {
            self.text.push_str("  --\n");
        }
        let marked = format!("{}- ", found.line);
        if self.told >= found.line
            && let Some(at) = self.text.rfind(&format!("  {marked}"))
        {
            self.text.replace_range(at..at + 2 + marked.len(), &format!("  {}: ", found.line));
        }
        let before = (first..).zip(&found.before).map(|(number, line)| (number, '-', line));
        let hit = std::iter::once((found.line, ':', &found.text));
        let after = (found.line + 1..).zip(&found.after).map(|(number, line)| (number, '-', line));
        for (number, mark, line) in before.chain(hit).chain(after) {
            if number > self.told {
                // Writing to a String cannot fail.
                let _ = writeln!(self.text, "  {number}{mark} {line}");
                self.told = number;
            }
        }
    }

    pub fn finish(self, pattern: &str) -> Reply<Output> {
        let Self { output, mut text, large, .. } = self;
        let mut notes: Vec<String> = Vec::new();
        let lines = output.matching_lines.unwrap_or(output.matches.len() as u64);
        if lines == 0 {
            notes.push(format!(
                "no line matches `{pattern}` in {}",
                counted(output.files_searched, "file")
            ));
        } else {
            let files = output.files_with_matches;
            notes.push(format!(
                "{} in {files} of {} searched",
                counted(lines, "matching line"),
                counted(output.files_searched, "file")
            ));
        }
        if output.truncated {
            notes.push(
                "there are more: raise limit, or use a narrower pattern, glob or path".into(),
            );
        }
        if output.skipped_binary > 0 {
            notes.push(format!("{} skipped", counted(output.skipped_binary, "binary file")));
        }
        if output.skipped_too_large > 0 {
            notes.push(format!(
                "{} skipped ({})",
                counted(output.skipped_too_large, "too large file"),
                large.join(", ")
            ));
        }
        if output.skipped_unreadable > 0 {
            notes.push(match output.skipped_unreadable {
                1 => "1 file or directory could not be read".to_owned(),
                many => format!("{many} files or directories could not be read"),
            });
        }
        if output.ignored > 0 && lines == 0 {
            notes.push(format!(
                "{} passed over; include_ignored: true looks there",
                counted(output.ignored, "ignored entry")
            ));
        }
        let _ = write!(text, "{}[{}]", if text.is_empty() { "" } else { "\n" }, notes.join("; "));
        Reply::of_text(vec![text], output)
    }
}

fn readable(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let shown = head(&text, LINE_BYTES_MAX);
    if shown.len() == text.len() {
        text.into_owned()
    } else {
        format!("{shown}… [{} bytes]", line.len())
    }
}
