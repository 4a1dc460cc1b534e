//! The calls that one call over several files stands for, so that a rule about one file holds
//! wherever the file is named. Pure. Must not know rules, classes or grants.

use claw_kit::patch;
use serde_json::{Map, Value, json};

use super::Facts;

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

pub(super) fn of(facts: &Facts<'_>) -> Parts {
    match (facts.builtin, facts.tool) {
        (Some("filesystem"), "read_files") => reads(facts.arguments),
        (Some("filesystem"), "apply_patch") => changes(facts.arguments),
        _ => Parts::One,
    }
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
