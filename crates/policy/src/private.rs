//! What a reading tool of our own shows that is the owner's alone: jobs, what their commands have
//! printed, files outside of the workspace. Must not know who asks.

use claw_domain::OwnServerName;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use crate::{Facts, is_own_reader};

/// What the call would show that is the owner's alone, as a part of a sentence.
pub(super) fn shows(facts: &Facts<'_>) -> Option<&'static str> {
    if !is_own_reader(facts.builtin, facts.tool) {
        return None;
    }
    match facts.builtin {
        // What time it is, is nobody's secret.
        Some(OwnServerName::Scheduler) if facts.tool != "now" => Some("the owner's jobs"),
        Some(OwnServerName::Bash) => Some("what commands of the owner's have printed"),
        Some(OwnServerName::Filesystem) if reads_outside(facts) => {
            Some("files outside of the workspace")
        }
        _ => None,
    }
}

/// Whether an argument of our filesystem server's names a place outside of the workspace. Names of
/// kept results, which have no slash, are nobody's secret: only whoever was told of one knows it.
fn reads_outside(facts: &Facts<'_>) -> bool {
    let Some(arguments) = facts.arguments.as_object() else { return false };
    arguments.values().any(|value| match value {
        Value::String(text) => leads_out(text, facts.workspace),
        Value::Array(items) => {
            items.iter().filter_map(Value::as_str).any(|text| leads_out(text, facts.workspace))
        }
        _ => false,
    })
}

fn leads_out(text: &str, workspace: &Path) -> bool {
    if text.starts_with('~') {
        return true;
    }
    !at_place(text, workspace).starts_with(workspace)
}

/// The place that a path means which is written from the workspace on, by its text alone.
pub(super) fn at_place(text: &str, workspace: &Path) -> PathBuf {
    let mut at = PathBuf::new();
    for part in workspace.join(text).components() {
        match part {
            Component::ParentDir => drop(at.pop()),
            Component::CurDir => {}
            other => at.push(other),
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_leaves_the_workspace_is_noticed_however_it_is_written() {
        let workspace = Path::new("/home/a/.claw/workspace");
        for inside in ["a.txt", "/home/a/.claw/workspace/x", "a/../b", ".", "", "*.rs", "a..b"] {
            assert!(!leads_out(inside, workspace), "{inside}");
        }
        for outside in [
            "/home/a/.claw/MEMORY.md",
            "../MEMORY.md",
            "a/../../USER.md",
            "~/x",
            "/etc/passwd",
            "/",
        ] {
            assert!(leads_out(outside, workspace), "{outside}");
        }
    }
}
