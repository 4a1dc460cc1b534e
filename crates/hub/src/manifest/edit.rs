//! Entries put into the text of an `mcp.json` and taken out of it, where its comments, its order
//! and its indentation stay. Pure. Must not know files, or what an entry means.

use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::Value;

use super::{ManifestError, json};

/// The roots under which servers stand; the first one is made where there is none.
const ROOTS: [&str; 2] = ["mcpServers", "servers"];

/// An entry as it is to stand in the file, in this order.
pub type NewEntry = Vec<(&'static str, Value)>;

/// The file with one server more.
///
/// # Errors
/// A file that cannot be read, or that has a server by this name.
pub fn add(text: &str, name: &str, entry: &NewEntry) -> Result<String, ManifestError> {
    let (root, servers) = open(text)?;
    if servers.iter().any(|servers| servers.get(name).is_some()) {
        let what = "is there already; take it out first, or choose another name".to_owned();
        return Err(ManifestError::Entry { server: name.to_owned(), what });
    }
    let servers = match servers.into_iter().next() {
        Some(servers) => servers,
        None => root.object_value_or_set().object_value_or_set(ROOTS[0]),
    };
    let fields = entry.iter().map(|(key, value)| ((*key).to_owned(), input(value))).collect();
    servers.append(name, CstInputValue::Object(fields));
    Ok(root.to_string())
}

/// The file without this server; `None` if it has none by the name.
///
/// # Errors
/// A file that cannot be read.
pub fn remove(text: &str, name: &str) -> Result<Option<String>, ManifestError> {
    let (root, servers) = open(text)?;
    let Some(entry) = servers.iter().find_map(|servers| servers.get(name)) else {
        return Ok(None);
    };
    entry.remove();
    Ok(Some(root.to_string()))
}

fn open(text: &str) -> Result<(CstRootNode, Vec<CstObject>), ManifestError> {
    let text = json::without_mark(text);
    let root = CstRootNode::parse(text, &json::OPTIONS).map_err(json::syntax)?;
    let object = root.object_value();
    if root.value().is_some() && object.is_none() {
        let what = "the file must hold one JSON object".to_owned();
        return Err(ManifestError::Shape { what });
    }
    let servers = ROOTS.iter().filter_map(|root| object.as_ref()?.object_value(root)).collect();
    Ok((root, servers))
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(map) => CstInputValue::Object(
            map.iter().map(|(key, value)| (key.clone(), input(value))).collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::manifest::{Expansion, parse};

    const FILE: &str = "// mine\n{\n    \"mcpServers\": {\n        // the first\n        \
        \"a\": { \"command\": \"x\" }, // why\n        \"b\": { \"command\": \"y\" }\n    }\n}\n";

    fn entry() -> NewEntry {
        vec![("type", json!("http")), ("url", json!("https://h/mcp"))]
    }

    #[test]
    fn an_entry_comes_behind_the_others_and_nothing_else_changes() {
        let added = add(FILE, "new \"one\"", &entry()).unwrap();
        let manifest = parse(&added, &Expansion::default()).unwrap();
        assert_eq!(manifest.servers.len(), 3);
        for line in FILE.lines().filter(|line| !line.contains("\"b\"")) {
            assert!(added.lines().any(|kept| kept == line), "{line} is gone:\n{added}");
        }
        assert!(
            added.contains("        \"new \\\"one\\\"\": {\n            \"type\": \"http\",\n"),
            "{added}"
        );
        assert_eq!(remove(&added, "new \"one\"").unwrap().unwrap(), FILE);
        assert!(add(&added, "a", &entry()).unwrap_err().to_string().contains("already"));
    }

    #[test]
    fn what_is_taken_out_leaves_the_rest_as_it_was() {
        let removed = remove(FILE, "b").unwrap().unwrap();
        assert!(
            removed.contains("// the first\n        \"a\": { \"command\": \"x\" }"),
            "{removed}"
        );
        assert_eq!(parse(&removed, &Expansion::default()).unwrap().servers.len(), 1);
        assert_eq!(remove(FILE, "c").unwrap(), None);
    }

    #[test]
    fn a_root_is_made_where_there_is_none_and_that_of_vs_code_is_used() {
        for (text, part) in [
            ("", "mcpServers"),
            ("{}", "mcpServers"),
            ("{\"servers\": {}}", "\"servers\": {\n"),
            ("\u{feff}{\"inputs\": [],}", "inputs"),
        ] {
            let added = add(text, "n", &entry()).unwrap();
            assert!(added.contains(part), "{added}");
            assert!(parse(&added, &Expansion::default()).unwrap().servers.contains_key("n"));
        }
        assert!(add("[]", "n", &entry()).is_err());
        assert!(add("{", "n", &entry()).is_err());
    }
}
