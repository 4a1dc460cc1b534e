//! What an editor is told of a call beside its title: of which kind it is, and which files it is
//! about. Of claw's own tools alone, because a stranger's names prove nothing. Pure. Must not know
//! when a call runs.

use std::path::{Component, Path, PathBuf};

use agent_client_protocol::v1::schema::{ToolCallLocation, ToolKind};
use serde_json::Value;

/// The arguments of the file tools that are paths, the place that changes first.
const PATHS: &[&str] = &["path", "paths", "destination", "source"];
/// Locations of one call.
const LOCATIONS_MAX: usize = 8;

pub fn kind(server: &str, tool: &str) -> ToolKind {
    match (server, tool) {
        ("bash", "run") => ToolKind::Execute,
        ("filesystem", "read_file" | "read_files" | "list_dir" | "read_artifact") => ToolKind::Read,
        ("filesystem", "find" | "search") | ("memory", "recall") => ToolKind::Search,
        ("filesystem", "delete") => ToolKind::Delete,
        ("filesystem", "move") => ToolKind::Move,
        ("filesystem", "write_file" | "edit_file" | "apply_patch") => ToolKind::Edit,
        _ => ToolKind::Other,
    }
}

/// Whole paths of the files that a call names.
pub fn locations(server: &str, arguments: &Value, workspace: &Path) -> Vec<ToolCallLocation> {
    paths(server, arguments, workspace).into_iter().map(ToolCallLocation::new).collect()
}

/// The file that a difference of this call is about.
pub fn changed_file(server: &str, arguments: &Value, workspace: &Path) -> Option<PathBuf> {
    paths(server, arguments, workspace).into_iter().next()
}

fn paths(server: &str, arguments: &Value, workspace: &Path) -> Vec<PathBuf> {
    if server != "filesystem" {
        return Vec::new();
    }
    let named = PATHS.iter().filter_map(|name| arguments.get(name)).flat_map(|value| {
        let several = value.as_array().map_or_else(|| std::slice::from_ref(value), Vec::as_slice);
        several.iter().filter_map(Value::as_str)
    });
    let all = named.filter_map(|written| inside(workspace, written));
    all.take(LOCATIONS_MAX).collect()
}

/// A path of the workspace; `None` for one that leads out of it, of which an editor is not told.
fn inside(workspace: &Path, written: &str) -> Option<PathBuf> {
    let path = workspace.join(written.trim_start_matches("./"));
    let plain = path.components().all(|part| !matches!(part, Component::ParentDir));
    (plain && path.starts_with(workspace)).then_some(path)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_files_of_the_workspace_are_named() {
        let all = |server, arguments: Value| -> Vec<String> {
            let found = locations(server, &arguments, Path::new("/w"));
            found.iter().map(|one| one.path.display().to_string()).collect()
        };
        assert_eq!(all("filesystem", json!({"path": "a/b.rs"})), ["/w/a/b.rs"]);
        assert_eq!(all("filesystem", json!({"paths": ["a", "../x", "b"]})), ["/w/a", "/w/b"]);
        let moved = json!({"source": "a", "destination": "b"});
        assert_eq!(all("filesystem", moved), ["/w/b", "/w/a"]);
        for out in ["../x", "/etc/passwd", "a/../../x"] {
            assert!(all("filesystem", json!({"path": out})).is_empty(), "{out}");
        }
        assert!(all("stranger", json!({"path": "a"})).is_empty());
    }

    #[test]
    fn a_strangers_tool_is_of_no_kind_whatever_it_is_called() {
        assert_eq!(kind("bash", "run"), ToolKind::Execute);
        assert_eq!(kind("stranger", "read_file"), ToolKind::Other);
    }
}
