//! The owner's folder that a server may be told of (`roots/list` of the revisions before
//! 2026-07-28), where its entry says so. Must not know which server asks.

use std::path::Path;

use reqwest::Url;
use serde_json::{Value, json};

use super::method_not_found;

/// The older revisions ask so.
pub(super) const LIST: &str = "roots/list";

/// The agent's workspace as a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Root {
    uri: String,
    name: String,
}

impl Root {
    /// `None`: the path is not absolute, so that nobody else could find it.
    pub(crate) fn of(workspace: &Path) -> Option<Self> {
        let uri = Url::from_file_path(workspace).ok()?.to_string();
        let name = workspace.file_name().unwrap_or(workspace.as_os_str());
        Some(Self { uri, name: name.to_string_lossy().into_owned() })
    }
}

/// The answer to a request for roots. What was not declared is a method that claw does not know.
pub(super) fn answer(root: Option<&Root>, id: &Value) -> Value {
    match root {
        Some(Root { uri, name }) => {
            json!({"jsonrpc": "2.0", "id": id, "result": {"roots": [{"uri": uri, "name": name}]}})
        }
        None => method_not_found(id, "claw shows no roots to this server"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_is_an_encoded_uri_with_a_name() {
        let root = Root::of(Path::new("/home/änne/my work/50% #1?")).unwrap();
        assert_eq!(root.uri, "file:///home/%C3%A4nne/my%20work/50%25%20%231%3F");
        assert_eq!(root.name, "50% #1?");
        assert_eq!(Root::of(Path::new("work")), None);
        let told = answer(Some(&root), &json!("r"));
        assert_eq!(told["result"]["roots"][0]["uri"], root.uri.as_str());
        assert_eq!(answer(None, &json!(7))["error"]["code"], -32601);
    }
}
