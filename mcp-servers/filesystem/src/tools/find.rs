//! `find`: entries whose path matches a glob, and of files their time and size.

mod facts;

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;

use claw_kit::counted::{counted, counted_with};
use globset::{GlobBuilder, GlobMatcher};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::facts::{Facts, Fit};
use super::{About, Effect, Reply, ToolDef, Workspace, length, limit, on_workspace, the_root};
use crate::access::Access;
use crate::cancel::Cancel;
use crate::error::{Result, ToolError};
use crate::kind::Kind;
use crate::resolve::{DEPTH_MAX, Last, Missing};
use crate::walk;

const LIMIT_DEFAULT: u64 = 500;

pub fn tool() -> ToolDef {
    About {
        name: "find",
        title: "Find files by name",
        description: "Finds files and directories of the workspace whose path matches a glob. A pattern without `/` is compared \
                      with names at any depth (`*.rs`), one with `/` with the path below `path` (`src/**/*.rs`); `{a,b}` and \
                      `[abc]` work. Of files, size and the time of the last change can be asked for, too. What .gitignore and .ignore files name is passed over unless include_ignored is true. \
                      The result is sorted.",
        effect: Effect::ReadOnly,
    }
    .tool(on_workspace(run))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The glob, for example `*.toml` or `src/**/mod.rs`.
    pattern: String,
    /// The directory to look in, relative to the workspace. Default: the workspace itself.
    #[serde(default = "the_root")]
    path: String,
    /// Only this type. Default: any.
    #[serde(default, rename = "type")]
    kind: KindFilter,
    /// Only files that were changed at this time or later: `2026-11-23` or `2026-11-23T10:00:00Z`.
    /// A day begins at 00:00 UTC.
    #[serde(default)]
    modified_since: Option<String>,
    /// Only files that were changed before this time.
    #[serde(default)]
    modified_before: Option<String>,
    /// Only files of at least this many bytes.
    #[serde(default)]
    size_min_bytes: Option<u64>,
    /// Only files of at most this many bytes.
    #[serde(default)]
    size_max_bytes: Option<u64>,
    /// Compare without case. Default: false.
    #[serde(default)]
    ignore_case: bool,
    /// Look at what .gitignore names, and at `.git`, too. Default: false.
    #[serde(default)]
    include_ignored: bool,
    /// At most this many paths. Default: 500.
    #[serde(default)]
    #[schemars(range(min = 1))]
    limit: Option<u64>,
}

#[derive(Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum KindFilter {
    #[default]
    Any,
    File,
    Dir,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    paths: Vec<Found>,
    /// There are more matches than were returned.
    truncated: bool,
    /// Entries that were passed over because an ignore file names them; what is in an ignored
    /// directory is not counted.
    ignored: u64,
    /// Directories that could not be read.
    unreadable_dirs: u64,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Found {
    /// Relative to the workspace.
    path: String,
    #[serde(rename = "type")]
    kind: Kind,
    /// Of a file, where time or size was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    size_bytes: Option<u64>,
    /// When it was changed last, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<String>,
}

fn run(workspace: &Workspace, input: Input, cancel: &Cancel) -> Result<Reply<Output>> {
    let limit = limit(input.limit, LIMIT_DEFAULT, &workspace.limits)?;
    let glob = PathGlob::new(&input.pattern, input.ignore_case)?;
    let facts = Facts::new(&input)?;
    let access = Access::new(workspace.root_of(&input.path));
    let start = access.resolve(&input.path, Last::Follow, Missing::Fail)?;
    let options =
        walk::Options { respect_ignore_files: !input.include_ignored, depth_max: DEPTH_MAX };
    let bytes_max = length(workspace.limits.list_reply_bytes_max);
    let mut paths: Vec<Found> = Vec::new();
    let mut lines = String::new();
    let mut truncated = false;
    let unseen = walk::walk(&access, &start, options, cancel, |entry| {
        let below = entry.real.strip_prefix(&start.real).unwrap_or(entry.real);
        let right_kind = match input.kind {
            KindFilter::Any => true,
            KindFilter::File => entry.kind == Kind::File,
            KindFilter::Dir => entry.kind == Kind::Dir,
        };
        if !right_kind || !glob.matches(below, entry.kind == Kind::Dir) {
            return Ok(ControlFlow::Continue(()));
        }
        let (size_bytes, modified) = match facts.of(entry) {
            Fit::Not => return Ok(ControlFlow::Continue(())),
            Fit::NotAsked => (None, None),
            Fit::Fits { size_bytes, modified } => (Some(size_bytes), Some(modified.to_string())),
        };
        if paths.len() >= limit || lines.len() >= bytes_max {
            truncated = true;
            return Ok(ControlFlow::Break(()));
        }
        let path = access.root.shown(entry.real);
        let slash = if entry.kind == Kind::Dir { "/" } else { "" };
        let told = size_bytes.zip(modified.as_ref());
        let told =
            told.map(|(size, at)| format!("  {}, {at}", counted(size, "byte"))).unwrap_or_default();
        // Writing to a String cannot fail.
        let _ = writeln!(lines, "{path}{slash}{told}");
        paths.push(Found { path, kind: entry.kind, size_bytes, modified });
        Ok(ControlFlow::Continue(()))
    })?;
    let output = Output {
        paths,
        truncated,
        ignored: unseen.ignored,
        unreadable_dirs: unseen.unreadable_dirs,
    };
    Ok(Reply::of_text(vec![text_of(&output, &lines, &input.pattern)], output))
}

fn text_of(output: &Output, lines: &str, pattern: &str) -> String {
    let mut text = lines.to_owned();
    if output.paths.is_empty() {
        let _ = writeln!(text, "Nothing matches `{pattern}`.");
        if output.ignored > 0 {
            let _ = writeln!(
                text,
                "[{} passed over; include_ignored: true looks there]",
                counted_with(output.ignored, "ignored entry", "was", "were")
            );
        }
    }
    if output.truncated {
        let _ = writeln!(
            text,
            "[more than {}: raise limit, or use a narrower pattern or path]",
            counted(output.paths.len(), "match")
        );
    }
    if output.unreadable_dirs > 0 {
        let unreadable = counted(output.unreadable_dirs, "directory");
        let _ = writeln!(text, "[{unreadable} could not be read]");
    }
    text
}

/// A glob over paths below a directory.
pub(super) struct PathGlob {
    matcher: GlobMatcher,
    names_only: bool,
    dirs_only: bool,
}

impl PathGlob {
    /// # Errors
    /// It is no glob, or could never match because it is absolute or leads upwards.
    pub fn new(pattern: &str, ignore_case: bool) -> Result<Self> {
        let plain = pattern.strip_prefix("./").unwrap_or(pattern);
        if plain.is_empty() || plain.starts_with('/') || plain.split('/').any(|part| part == "..") {
            let message = format!(
                "the glob `{pattern}` must be relative and without `..`; use path to name the directory."
            );
            return Err(ToolError::BadArguments(message));
        }
        let (plain, dirs_only) =
            plain.strip_suffix('/').map_or((plain, false), |plain| (plain, true));
        let glob = GlobBuilder::new(plain)
            .literal_separator(true)
            .backslash_escape(true)
            .case_insensitive(ignore_case)
            .build()
            .map_err(|error| ToolError::BadArguments(format!("the glob is not valid: {error}.")))?;
        Ok(Self { matcher: glob.compile_matcher(), names_only: !plain.contains('/'), dirs_only })
    }

    pub fn matches(&self, below: &Path, is_dir: bool) -> bool {
        if self.dirs_only && !is_dir {
            return false;
        }
        if self.names_only {
            return below.file_name().is_some_and(|name| self.matcher.is_match(Path::new(name)));
        }
        self.matcher.is_match(below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_without_a_slash_matches_names_at_any_depth() {
        let hit = |pattern, path: &str| {
            PathGlob::new(pattern, false).unwrap().matches(Path::new(path), false)
        };
        assert!(
            hit("*.rs", "a/b/c.rs")
                && hit("a/*.rs", "a/c.rs")
                && hit("./a/**", "a/b/c.rs")
                && hit("**/c.rs", "c.rs")
        );
        assert!(!hit("a/*.rs", "a/b/c.rs") && !hit("*.RS", "c.rs") && !hit("a/", "a"));
        for bad in ["/etc/*", "../*", "a/../b", "", "[", "{a"] {
            assert!(PathGlob::new(bad, false).is_err(), "{bad}");
        }
    }
}
