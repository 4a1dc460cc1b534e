//! `search`: lines that match a regular expression. Owns the search of one file and what is
//! skipped.

mod report;

use std::io::Read as _;
use std::ops::ControlFlow;
use std::path::Path;

use cap_std::fs::Dir;
use regex::bytes::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::Deserialize;

use self::report::{Output, Report};
use super::find::PathGlob;
use super::{About, Effect, Reply, ToolDef, Workspace, length, limit, on_workspace, the_root};
use crate::access::{Access, open_regular};
use crate::args::Limits;
use crate::cancel::Cancel;
use crate::error::{Result, ToolError};
use crate::guard::Guard;
use crate::kind::Kind;
use crate::resolve::{DEPTH_MAX, Last, Missing};
use crate::text;
use crate::walk;

const LIMIT_DEFAULT: u64 = 200;
const CONTEXT_LINES_MAX: u64 = 20;
/// The compiled form of a pattern; a larger one is refused.
const REGEX_BYTES_MAX: usize = 8 * 1024 * 1024;

pub fn tool() -> ToolDef {
    About {
        name: "search",
        title: "Search in files",
        description: "Searches the text files of the workspace line by line for a regular expression (Rust syntax: no look-around \
                      and no back-references) and gives path, line number and line, or with count_only the number of lines in each file. What .gitignore and .ignore files name is \
                      passed over unless include_ignored is true; binary and very large files are skipped and counted.",
        effect: Effect::ReadOnly,
    }
    .tool(on_workspace(run))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The regular expression; it is matched within single lines.
    pattern: String,
    /// The directory or file to search, relative to the workspace. Default: the workspace itself.
    #[serde(default = "the_root")]
    path: String,
    /// Only files that match this glob, for example `*.rs` or `src/**/*.md`.
    #[serde(default)]
    glob: Option<String>,
    /// The pattern is plain text and no regular expression. Default: false.
    #[serde(default)]
    literal: bool,
    /// Compare without case. Default: false.
    #[serde(default)]
    ignore_case: bool,
    /// Lines to show before and after each match. Default: 0.
    #[serde(default)]
    #[schemars(range(max = 20))]
    context_lines: u64,
    /// Search what .gitignore names, and `.git`, too. Default: false.
    #[serde(default)]
    include_ignored: bool,
    /// Only count: how many lines match in each file, and no lines. Default: false.
    #[serde(default)]
    count_only: bool,
    /// At most this many matching lines, or with count_only this many files. Default: 200.
    #[serde(default)]
    #[schemars(range(min = 1))]
    limit: Option<u64>,
}

fn run(workspace: &Workspace, input: Input, cancel: &Cancel) -> Result<Reply<Output>> {
    if input.context_lines > CONTEXT_LINES_MAX {
        return Err(ToolError::BadArguments(format!(
            "context_lines must be 0 to {CONTEXT_LINES_MAX}."
        )));
    }
    let limits = &workspace.limits;
    let regex = compile(&input)?;
    let glob =
        input.glob.as_deref().map(|glob| PathGlob::new(glob, input.ignore_case)).transpose()?;
    let access = Access::new(workspace.root_of(&input.path));
    let start = access.resolve(&input.path, Last::Follow, Missing::Fail)?;
    let mut search = Search {
        regex,
        limits,
        context_lines: length(input.context_lines),
        count_only: input.count_only,
        guard: &access.guard,
        report: Report::new(
            access.root,
            limit(input.limit, LIMIT_DEFAULT, limits)?,
            length(limits.list_reply_bytes_max),
        ),
        cancel,
    };
    if start.kind() == Some(Kind::Dir) {
        let options =
            walk::Options { respect_ignore_files: !input.include_ignored, depth_max: DEPTH_MAX };
        let unseen = walk::walk(&access, &start, options, cancel, |entry| {
            let below = entry.real.strip_prefix(&start.real).unwrap_or(entry.real);
            if entry.kind != Kind::File
                || glob.as_ref().is_some_and(|glob| !glob.matches(below, false))
            {
                return Ok(ControlFlow::Continue(()));
            }
            search.file(entry.parent, Path::new(entry.name), entry.real)
        })?;
        search.report.set_unseen(unseen);
    } else {
        // Opened once to say clearly what is wrong with a file that was asked for by name.
        access.open_file(&start)?;
        let _ = search.file(&start.parent, Path::new(start.file_name()?), &start.real)?;
    }
    Ok(search.report.finish(&input.pattern))
}

fn compile(input: &Input) -> Result<Regex> {
    let escaped = regex::escape(&input.pattern);
    RegexBuilder::new(if input.literal { &escaped } else { &input.pattern })
        .case_insensitive(input.ignore_case)
        .size_limit(REGEX_BYTES_MAX)
        .build()
        .map_err(|error| {
            ToolError::BadArguments(format!(
                "the pattern is not valid: {error}. For plain text use literal: true."
            ))
        })
}

struct Search<'a> {
    regex: Regex,
    limits: &'a Limits,
    context_lines: usize,
    count_only: bool,
    guard: &'a Guard,
    report: Report<'a>,
    cancel: &'a Cancel,
}

impl Search<'_> {
    fn file(&mut self, parent: &Dir, name: &Path, real: &Path) -> Result<ControlFlow<()>> {
        // A file that vanished, changed its kind or may not be read is counted, and the search goes
        // on.
        let Ok((file, metadata)) = open_regular(parent, name, "", self.guard) else {
            self.report.unreadable();
            return Ok(ControlFlow::Continue(()));
        };
        let bytes_max = self.limits.search_file_bytes_max;
        if metadata.len() > bytes_max {
            self.report.too_large(real);
            return Ok(ControlFlow::Continue(()));
        }
        let mut bytes = Vec::with_capacity(length(metadata.len()));
        if file.take(bytes_max).read_to_end(&mut bytes).is_err() {
            self.report.unreadable();
            return Ok(ControlFlow::Continue(()));
        }
        if text::looks_binary(&bytes) {
            self.report.binary();
            return Ok(ControlFlow::Continue(()));
        }
        self.report.begin_file(real);
        let lines: Vec<&[u8]> = lines_of(&bytes);
        if self.count_only {
            return self.count(&lines);
        }
        for (index, line) in lines.iter().enumerate() {
            if index % 4096 == 0 {
                self.cancel.check()?;
            }
            if self.regex.is_match(line) {
                let before = &lines[index.saturating_sub(self.context_lines)..index];
                let after = &lines[index + 1..lines.len().min(index + 1 + self.context_lines)];
                if self.report.add(index, line, before, after).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

impl Search<'_> {
    /// How many lines of a file match.
    fn count(&mut self, lines: &[&[u8]]) -> Result<ControlFlow<()>> {
        let mut count = 0;
        for (index, line) in lines.iter().enumerate() {
            if index % 4096 == 0 {
                self.cancel.check()?;
            }
            count += u64::from(self.regex.is_match(line));
        }
        Ok(self.report.count(count))
    }
}

/// The lines without their ends, LF or CRLF.
fn lines_of(bytes: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = bytes
        .split(|byte| *byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .collect();
    // What follows the last line end is a line only if there is something.
    if lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    lines
}
