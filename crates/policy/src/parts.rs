//! The calls that one call stands for, so that a rule about a file holds wherever the file is
//! named: among several, in a patch, as an end of a move, or spelled in another way. Pure. Must not
//! know rules, classes or grants.

use claw_domain::OwnServerName;
use claw_kit::patch;
use serde_json::{Map, Value, json};

use super::Facts;
use super::private::at_place;

/// What writes to a file, by every name that it may have in a rule.
const WRITES: &[&str] = &["write_file", "edit_file"];
/// What takes a file away changes it, too.
const TAKES_AWAY: &[&str] = &["delete", "write_file", "edit_file"];

/// What a call over several files stands for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Parts {
    /// It is one call, which stands for itself.
    One,
    /// Each of these tools of the same server, with these arguments.
    Of(Vec<(&'static str, Value)>),
    /// It is over several files, and which ones cannot be told.
    Unreadable,
}

impl Parts {
    /// Each of them; none for a call that stands for itself, or whose files cannot be told.
    pub(super) fn each(&self) -> &[(&'static str, Value)] {
        match self {
            Self::Of(parts) => parts,
            Self::One | Self::Unreadable => &[],
        }
    }
}

pub(super) fn of(facts: &Facts<'_>) -> Parts {
    match (facts.builtin, facts.tool) {
        (Some(OwnServerName::Filesystem), "read_files") => reads(facts.arguments),
        (Some(OwnServerName::Filesystem), "apply_patch") => changes(facts.arguments),
        _ => Parts::One,
    }
}

/// What the call does to each single file, by all names that a rule which asks or denies may
/// have for it: whoever says that nothing writes to a file means every tool that does. `parts`
/// are those of the call.
pub(super) fn strict(
    facts: &Facts<'_>,
    parts: &[(&'static str, Value)],
) -> Vec<(&'static str, Value)> {
    if facts.builtin != Some(OwnServerName::Filesystem) {
        return Vec::new();
    }
    let text = |name: &str| facts.arguments.get(name).and_then(Value::as_str);
    let one = |tools: &'static [&'static str], name: &str| {
        text(name).map(|path| (tools, path.to_owned())).into_iter().collect::<Vec<_>>()
    };
    let of_each = |tools: &'static [&'static str]| {
        let path = |(_, part): &(_, Value)| Some((tools, part.get("path")?.as_str()?.to_owned()));
        parts.iter().filter_map(path).collect()
    };
    let touched = match facts.tool {
        "read_file" => one(&["read_file"], "path"),
        "read_files" => of_each(&["read_file"]),
        "write_file" | "edit_file" => one(WRITES, "path"),
        "delete" => one(TAKES_AWAY, "path"),
        "move" => [one(TAKES_AWAY, "source"), one(WRITES, "destination")].concat(),
        "apply_patch" => of_each(WRITES),
        _ => Vec::new(),
    };
    let part = |(tools, path): (&'static [&'static str], String)| {
        let spelled = spellings(&path, facts);
        tools.iter().flat_map(move |tool| {
            spelled.clone().into_iter().map(|path| (*tool, json!({ "path": path })))
        })
    };
    touched.into_iter().flat_map(part).collect()
}

/// A path as it is written, from the workspace on, and from the root on.
fn spellings(path: &str, facts: &Facts<'_>) -> Vec<String> {
    let whole = at_place(path, facts.workspace);
    let inside =
        whole.strip_prefix(facts.workspace).ok().map(|inside| inside.display().to_string());
    let mut all = vec![path.to_owned(), whole.display().to_string()];
    all.extend(inside);
    all
}

/// A `read_file` of each path, with the other arguments as they are.
fn reads(arguments: &Value) -> Parts {
    let Some(paths) = arguments.get("paths").and_then(Value::as_array) else {
        return Parts::Unreadable;
    };
    let rest: Map<String, Value> = arguments
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| *name != "paths")
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let one = |path: &Value| {
        let path = path.as_str()?;
        let mut arguments = rest.clone();
        arguments.insert("path".to_owned(), json!(path));
        Some(("read_file", Value::Object(arguments)))
    };
    match paths.iter().map(one).collect() {
        Some(parts) => Parts::Of(parts),
        None => Parts::Unreadable,
    }
}

/// The files that a patch names, as the server that applies it reads them. `None` where that server
/// takes no such patch.
pub(super) fn patched(arguments: &Value) -> Option<Vec<patch::Change<'_>>> {
    patch::read(arguments.get("patch")?.as_str()?).ok()
}

/// An `edit_file` of each file that changes, and a `write_file` of each that is new.
fn changes(arguments: &Value) -> Parts {
    let Some(changes) = patched(arguments) else { return Parts::Unreadable };
    let one = |change: patch::Change<'_>| {
        let tool = if change.creates { "write_file" } else { "edit_file" };
        (tool, json!({ "path": change.path }))
    };
    Parts::Of(changes.into_iter().map(one).collect())
}
