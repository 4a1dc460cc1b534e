//! `list_dir`: what is in a directory, with kinds and sizes.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use claw_kit::counted::counted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    About, Effect, Reply, ToolDef, Workspace, is_false, length, limit, on_workspace, the_root,
};
use crate::access::Access;
use crate::cancel::Cancel;
use crate::error::{Result, ToolError};
use crate::kind::Kind;
use crate::resolve::{Last, Missing, Walker};
use crate::root::shown;
use crate::walk;

const LIMIT_DEFAULT: u64 = 500;
const DEPTH_MAX: u64 = 50;

pub fn tool() -> ToolDef {
    About {
        name: "list_dir",
        title: "List a directory",
        description: "Lists a directory of the workspace: every entry, hidden and ignored ones too, with its type and size, sorted \
                      by name. A directory ends in `/`; a symbolic link shows its target and whether that can be used. With \
                      depth it goes into subdirectories.",
        effect: Effect::ReadOnly,
    }
    .tool(on_workspace(run))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The directory, relative to the workspace. Default: the workspace itself.
    #[serde(default = "the_root")]
    path: String,
    /// How many levels to go down. Default: 1, only the entries of the directory itself.
    #[serde(default)]
    #[schemars(range(min = 1, max = 50))]
    depth: Option<u64>,
    /// At most this many entries. Default: 500.
    #[serde(default)]
    #[schemars(range(min = 1))]
    limit: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    path: String,
    entries: Vec<Listed>,
    /// There are more entries than were returned.
    truncated: bool,
    /// Directories that could not be read.
    #[serde(skip_serializing_if = "is_zero")]
    unreadable_dirs: u64,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Listed {
    /// Relative to the workspace.
    path: String,
    #[serde(rename = "type")]
    kind: Kind,
    /// Only for files.
    #[serde(skip_serializing_if = "Option::is_none")]
    size_bytes: Option<u64>,
    /// Only for symbolic links: what it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    /// Only for symbolic links: where it leads.
    #[serde(skip_serializing_if = "Option::is_none")]
    leads: Option<Leads>,
    /// The name is not UTF-8; `path` shows it approximately and cannot be used.
    #[serde(skip_serializing_if = "is_false")]
    name_not_utf8: bool,
}

#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Leads {
    /// To something inside the workspace, which can be used.
    Inside,
    /// Out of the workspace; every use is refused.
    Outside,
    /// To nothing.
    Nowhere,
    /// In a circle, or to something protected or unreadable.
    Unusable,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn run(workspace: &Workspace, input: Input, cancel: &Cancel) -> Result<Reply<Output>> {
    let limit = limit(input.limit, LIMIT_DEFAULT, &workspace.limits)?;
    let depth = input.depth.unwrap_or(1);
    if depth == 0 || depth > DEPTH_MAX {
        return Err(ToolError::BadArguments(format!("depth must be 1 to {DEPTH_MAX}.")));
    }
    let access = Access::new(workspace.root_of(&input.path));
    let place = access.resolve(&input.path, Last::Follow, Missing::Fail)?;
    let options = walk::Options { respect_ignore_files: false, depth_max: length(depth) };
    let bytes_max = length(workspace.limits.list_reply_bytes_max);
    let mut entries: Vec<Listed> = Vec::new();
    let mut lines = String::new();
    let mut truncated = false;
    let unseen = walk::walk(&access, &place, options, cancel, |entry| {
        if entries.len() >= limit || lines.len() >= bytes_max {
            truncated = true;
            return Ok(ControlFlow::Break(()));
        }
        let listed = look_at(&access, entry);
        let below = entry.real.strip_prefix(&place.real).unwrap_or(entry.real);
        line_of(&listed, &shown(below), &mut lines);
        entries.push(listed);
        Ok(ControlFlow::Continue(()))
    })?;
    let path = access.root.shown(&place.real);
    let mut text = format!(
        "`{path}`, {}{}:\n{lines}",
        counted(entries.len(), "entry"),
        if truncated { " (there are more)" } else { "" }
    );
    if entries.is_empty() {
        text = format!("`{path}` is an empty directory.\n");
    }
    if truncated {
        text.push_str("[there are more entries: raise limit, list a subdirectory, or use find]\n");
    }
    if unseen.unreadable_dirs > 0 {
        let unreadable = counted(unseen.unreadable_dirs, "directory");
        let _ = writeln!(text, "[{unreadable} could not be read]");
    }
    let output = Output { path, entries, truncated, unreadable_dirs: unseen.unreadable_dirs };
    Ok(Reply::of_text(vec![text], output))
}

fn look_at(access: &Access<'_>, entry: &walk::Entry<'_>) -> Listed {
    let mut listed = Listed {
        path: access.root.shown(entry.real),
        kind: entry.kind,
        size_bytes: None,
        target: None,
        leads: None,
        name_not_utf8: entry.real.to_str().is_none(),
    };
    match entry.kind {
        Kind::File => {
            listed.size_bytes =
                entry.parent.symlink_metadata(entry.name).ok().map(|metadata| metadata.len());
        }
        Kind::Symlink => {
            let target = entry.parent.read_link_contents(entry.name).ok();
            listed.target = target.map(|target| target.to_string_lossy().into_owned());
            let names = entry.real.iter().map(Into::into).collect();
            let walker = Walker::new(access.root, &access.guard, &listed.path);
            listed.leads = Some(match walker.walk(names, Last::Follow, Missing::Fail) {
                Ok(_) => Leads::Inside,
                Err(ToolError::Outside { .. }) => Leads::Outside,
                Err(ToolError::NotFound { .. }) => Leads::Nowhere,
                Err(_) => Leads::Unusable,
            });
        }
        _ => {}
    }
    listed
}

fn line_of(listed: &Listed, shown: &str, lines: &mut String) {
    let after = match (listed.kind, listed.size_bytes, &listed.target, listed.leads) {
        (Kind::Dir, ..) => "/".to_owned(),
        (Kind::File, Some(size), ..) => format!("  {}", counted(size, "byte")),
        (Kind::Symlink, _, target, leads) => {
            let why = match leads {
                Some(Leads::Outside) => " (outside of the workspace, cannot be used)",
                Some(Leads::Nowhere) => " (does not exist)",
                Some(Leads::Unusable) => " (cannot be used)",
                Some(Leads::Inside) | None => "",
            };
            format!(" -> {}{why}", target.as_deref().unwrap_or("?"))
        }
        (Kind::File, ..) => String::new(),
        (kind, ..) => format!("  [{}]", kind.phrase()),
    };
    let note = if listed.name_not_utf8 { "  [the name is not UTF-8]" } else { "" };
    // Writing to a String cannot fail.
    let _ = writeln!(lines, "{shown}{after}{note}");
}
