//! Entries put into the text of an `mcp.json` and taken out of it, where its comments, its order
//! and its indentation stay. Pure. Must not know files, or what an entry means.

use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::Value;

use super::{ManifestError, json};

/// The roots under which servers stand; the first one is made where there is none.
const ROOTS: [&str; 2] = ["mcpServers", "servers"];

/// A root with the servers under it.
type Under = (&'static str, CstObject);

/// An entry as it is to stand in the file, in this order.
pub type NewEntry = Vec<(&'static str, Value)>;

/// The file with one server more. `claw` are the first words of a command.
///
/// # Errors
/// A file that cannot be read, or that has a server by this name.
pub fn add(text: &str, name: &str, entry: &NewEntry, claw: &str) -> Result<String, ManifestError> {
    let (root, servers) = open(text)?;
    if servers.iter().any(|(_, servers)| servers.get(name).is_some()) {
        let what = format!(
            "it is there already: take it out with `{claw} mcp remove {name}`, or choose another \
             name"
        );
        return Err(ManifestError::Entry { server: name.to_owned(), what });
    }
    let (named, servers) = match servers.into_iter().next() {
        Some(servers) => servers,
        None => (ROOTS[0], root.object_value_or_set().object_value_or_set(ROOTS[0])),
    };
    let of_vs_code = named == ROOTS[1];
    let value = |value: &Value| input(&if of_vs_code { in_its_form(value) } else { value.clone() });
    let fields = entry.iter().map(|(key, field)| ((*key).to_owned(), value(field))).collect();
    servers.append(name, CstInputValue::Object(fields));
    Ok(root.to_string())
}

/// The file without this server; `None` if it has none by the name.
///
/// # Errors
/// A file that cannot be read.
pub fn remove(text: &str, name: &str) -> Result<Option<String>, ManifestError> {
    let (root, servers) = open(text)?;
    let Some(entry) = servers.iter().find_map(|(_, servers)| servers.get(name)) else {
        return Ok(None);
    };
    entry.remove();
    Ok(Some(root.to_string()))
}

/// The file, and what stands under each root that it has.
fn open(text: &str) -> Result<(CstRootNode, Vec<Under>), ManifestError> {
    let text = json::without_mark(text);
    let root = CstRootNode::parse(text, &json::OPTIONS).map_err(json::syntax)?;
    let object = root.object_value();
    if root.value().is_some() && object.is_none() {
        let what = "the file must hold one JSON object".to_owned();
        return Err(ManifestError::Shape { what });
    }
    let under = |root: &&'static str| Some((*root, object.as_ref()?.object_value(root)?));
    let servers = ROOTS.iter().filter_map(under).collect();
    Ok((root, servers))
}

/// `${NAME}` means nothing in VS Code's form, where it is `${env:NAME}`.
fn in_its_form(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(with_env(text)),
        Value::Array(items) => items.iter().map(in_its_form).collect(),
        Value::Object(map) => {
            map.iter().map(|(key, value)| (key.clone(), in_its_form(value))).collect()
        }
        other => other.clone(),
    }
}

fn with_env(text: &str) -> String {
    // Those that both forms have.
    const SHARED: [&str; 4] =
        ["userHome", "workspaceFolder", "workspaceFolderBasename", "pathSeparator"];
    let mut parts = text.split("${");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let name = part.split('}').next().unwrap_or_default();
        let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_variable = part.contains('}') && is_plain && !SHARED.contains(&name);
        out.push_str(if is_variable { "${env:" } else { "${" });
        out.push_str(part);
    }
    out
}

/// A value as the editor of JSON takes it.
pub fn input(value: &Value) -> CstInputValue {
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
        let added = add(FILE, "new \"one\"", &entry(), "claw").unwrap();
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
        let again = add(&added, "a", &entry(), "claw --agent work").unwrap_err().to_string();
        assert!(again.contains("already") && again.contains("`claw --agent work mcp remove a`"));
    }

    #[test]
    fn a_variable_is_written_in_the_form_of_the_file() {
        let entry: NewEntry = vec![
            ("command", json!("x")),
            ("args", json!(["${workspaceFolder}/${A_1}", "${env:B}", "${", "$C"])),
            ("env", json!({"K": "a ${T} b"})),
        ];
        let added = add("{\"servers\": {}}", "n", &entry, "claw").unwrap();
        for part in
            ["${workspaceFolder}/${env:A_1}", "\"${env:B}\", \"${\", \"$C\"", "a ${env:T} b"]
        {
            assert!(added.contains(part), "{part}: {added}");
        }
        let mut expand = Expansion::default();
        expand.env.insert("T".to_owned(), "42".to_owned());
        let manifest = parse(&added, &expand).unwrap();
        let crate::manifest::Launch::Stdio(launch) = &manifest.servers["n"].launch else {
            panic!()
        };
        assert_eq!(launch.env["K"], "a 42 b");
        assert!(add("{}", "n", &entry, "claw").unwrap().contains("a ${T} b"));
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
            let added = add(text, "n", &entry(), "claw").unwrap();
            assert!(added.contains(part), "{added}");
            assert!(parse(&added, &Expansion::default()).unwrap().servers.contains_key("n"));
        }
        assert!(add("[]", "n", &entry(), "claw").is_err());
        assert!(add("{", "n", &entry(), "claw").is_err());
    }
}
