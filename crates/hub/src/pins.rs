//! Pins: digests over what a server is and what it says about its tools, and the difference between
//! two of them for a human. Pure. Must not know who compares pins or what follows.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::manifest::{HttpLaunch, Launch, ServerEntry};
use claw_domain::canonical::digest;
use claw_kit::line_diff;

/// Of a stranger's texts, which may be of any length: a comparison becomes coarser after this, and
/// not slower.
const DIFF_TIME_MAX: Duration = Duration::from_millis(300);

/// What a launch pin covers: command, arguments, the **names** of the variables (values may be
/// secrets and may change), the env file's path, the working directory, and which variables it
/// inherits where it says so. What claw adds for its own servers is left out.
pub fn launch_form(entry: &ServerEntry) -> Value {
    match &entry.launch {
        Launch::Stdio(launch) => {
            let names: Vec<&String> = launch.env.keys().collect();
            let path = |path: &Option<std::path::PathBuf>| {
                path.as_ref().map(|path| path.display().to_string())
            };
            let mut form = json!({
                "args": launch.args,
                "command": launch.command,
                "cwd": path(&launch.cwd),
                "env": names,
                "envFile": path(&launch.env_file),
            });
            // Left out where it is not set, so that older pins hold.
            if let (Some(inherit), Some(form)) = (&launch.inherit, form.as_object_mut()) {
                form.insert("inherit".to_owned(), json!(inherit));
            }
            form
        }
        Launch::Http(HttpLaunch { url, headers, private_hosts, .. }) => {
            let mut form = json!({"headers": headers.keys().collect::<Vec<_>>(), "url": url});
            if let Some(form) = form.as_object_mut().filter(|_| !private_hosts.is_empty()) {
                form.insert("private_hosts".to_owned(), json!(private_hosts));
            }
            form
        }
        Launch::Unusable { reason } => json!({"unusable": reason}),
    }
}

/// SHA-256 of the canonical launch form.
pub fn launch_pin(entry: &ServerEntry) -> String {
    digest(&launch_form(entry))
}

/// SHA-256 over a tool's raw JSON, as the server sent it (unknown fields count, trap 7), and its
/// server's launch pin.
pub fn tool_pin(raw: &Value, launch_pin: &str) -> String {
    digest(&json!({"launch": launch_pin, "tool": raw}))
}

/// SHA-256 over a tool's name and schemas without the texts in them, and its server's launch pin:
/// for servers whose texts vary at each start. What it says about risk and visibility counts, too.
pub fn schema_pin(raw: &Value, launch_pin: &str) -> String {
    let schema = |key: &str| raw.get(key).map(without_texts);
    let form = json!({
        "annotations": raw.get("annotations"),
        "input": schema("inputSchema"),
        "meta": raw.get("_meta"),
        "name": raw.get("name"),
        "output": schema("outputSchema"),
    });
    digest(&json!({"launch": launch_pin, "schemas": form}))
}

/// A JSON Schema without what only a reader sees. A property by the name `description` stays.
fn without_texts(schema: &Value) -> Value {
    const TEXTS: [&str; 3] = ["$comment", "description", "title"];
    const BY_NAME: [&str; 5] =
        ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];
    const VALUES: [&str; 4] = ["const", "default", "enum", "examples"];
    match schema {
        Value::Array(parts) => parts.iter().map(without_texts).collect(),
        Value::Object(map) => {
            let kept = map
                .iter()
                .filter(|(key, value)| !(TEXTS.contains(&key.as_str()) && value.is_string()));
            let bare = kept.map(|(key, value)| {
                let bare = match value {
                    Value::Object(named) if BY_NAME.contains(&key.as_str()) => named
                        .iter()
                        .map(|(name, part)| (name.clone(), without_texts(part)))
                        .collect(),
                    value if VALUES.contains(&key.as_str()) => value.clone(),
                    value => without_texts(value),
                };
                (key.clone(), bare)
            });
            bare.collect()
        }
        other => other.clone(),
    }
}

/// What changed from `old` to `new`, one line each: `- ` gone, `+ ` new, under the path of the
/// value; long texts are compared by their lines. Empty when nothing changed. The texts are a
/// stranger's and not escaped: whoever shows this makes it visible first.
pub fn diff(old: &Value, new: &Value) -> String {
    let mut out = String::new();
    diff_at("", old, new, &mut out);
    out
}

fn diff_at(path: &str, old: &Value, new: &Value, out: &mut String) {
    if old == new {
        return;
    }
    match (old, new) {
        (Value::Object(before), Value::Object(after)) => diff_objects(path, before, after, out),
        (Value::String(before), Value::String(after)) => diff_texts(path, before, after, out),
        _ => {
            heading(path, out);
            lines('-', &pretty(old), out);
            lines('+', &pretty(new), out);
        }
    }
}

fn diff_objects(
    path: &str,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    out: &mut String,
) {
    let mut keys: Vec<&String> = before.keys().chain(after.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        let inner = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match (before.get(key), after.get(key)) {
            (Some(old), Some(new)) => diff_at(&inner, old, new, out),
            (Some(old), None) => {
                heading(&inner, out);
                lines('-', &pretty(old), out);
            }
            (None, Some(new)) => {
                heading(&inner, out);
                lines('+', &pretty(new), out);
            }
            (None, None) => {}
        }
    }
}

fn diff_texts(path: &str, before: &str, after: &str, out: &mut String) {
    heading(path, out);
    for line in line_diff::lines(before, after, DIFF_TIME_MAX) {
        lines(line.fate.mark(), line.text.trim_end_matches('\n'), out);
    }
}

fn heading(path: &str, out: &mut String) {
    out.push_str(if path.is_empty() { "(the whole)" } else { path });
    out.push_str(":\n");
}

fn lines(sign: char, text: &str, out: &mut String) {
    for line in text.split('\n') {
        out.push(sign);
        out.push(' ');
        out.push_str(line);
        out.push('\n');
    }
}

/// Text as it is, everything else as indented JSON.
fn pretty(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_else(|_| other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{Expansion, parse};

    fn pin_of(text: &str) -> String {
        launch_pin(&parse(text, &Expansion::default()).unwrap().servers["a"])
    }

    #[test]
    fn the_launch_pin_covers_names_but_no_values() {
        let pin = pin_of(r#"{"mcpServers":{"a":{"command":"x","args":["1"],"env":{"K":"1"}}}}"#);
        assert_eq!(
            pin,
            pin_of(r#"{"mcpServers":{"a":{"env":{"K":"other"},"args":["1"],"command":"x"}}}"#)
        );
        for changed in [
            r#"{"mcpServers":{"a":{"command":"y","args":["1"],"env":{"K":"1"}}}}"#,
            r#"{"mcpServers":{"a":{"command":"x","args":["2"],"env":{"K":"1"}}}}"#,
            r#"{"mcpServers":{"a":{"command":"x","args":["1"],"env":{"LD_PRELOAD":"1"}}}}"#,
            r#"{"mcpServers":{"a":{"command":"x","args":["1"],"env":{"K":"1"},"cwd":"/"}}}"#,
            r#"{"mcpServers":{"a":{"command":"x","args":["1"],"env":{"K":"1"},"envFile":"/e"}}}"#,
            r#"{"mcpServers":{"a":{"command":"x","args":["1"],"env":{"K":"1"},"inherit":["..."]}}}"#,
        ] {
            assert_ne!(pin, pin_of(changed), "{changed}");
        }
    }

    #[test]
    fn the_tool_pin_covers_unknown_fields_and_the_launch() {
        let raw = json!({"name": "t", "x-new": 1});
        assert_eq!(tool_pin(&raw, "p"), tool_pin(&json!({"x-new": 1, "name": "t"}), "p"));
        assert_ne!(tool_pin(&raw, "p"), tool_pin(&json!({"name": "t", "x-new": 2}), "p"));
        assert_ne!(tool_pin(&raw, "p"), tool_pin(&raw, "q"));
    }

    #[test]
    fn a_schema_pin_covers_all_but_texts() {
        let tool = |text: &str, kind: &str| {
            let named = json!({"type": kind, "description": text});
            json!({"name": "t", "description": text, "inputSchema": {"type": "object", "title": text,
                "properties": {"description": named, "mode": {"enum": ["title"], "description": text}}}})
        };
        assert_eq!(schema_pin(&tool("a", "string"), "p"), schema_pin(&tool("b", "string"), "p"));
        assert_ne!(schema_pin(&tool("a", "string"), "p"), schema_pin(&tool("a", "number"), "p"));
        assert_ne!(schema_pin(&tool("a", "string"), "p"), schema_pin(&tool("a", "string"), "q"));
        let without = json!({"name": "t", "inputSchema": {"type": "object", "properties": {"mode": {"enum": ["title"]}}}});
        assert_ne!(
            schema_pin(&tool("a", "string"), "p"),
            schema_pin(&without, "p"),
            "a property is no text"
        );
    }

    #[test]
    fn a_difference_reads_like_one() {
        let old =
            json!({"name": "t", "description": "Reads.\nSafe.", "inputSchema": {"type": "object"}});
        let new = json!({"name": "t", "description": "Reads.\nSends it away.", "inputSchema": {"type": "object"}, "annotations": {"a": true}});
        let expected = "annotations:\n+ {\n+   \"a\": true\n+ }\ndescription:\n  Reads.\n- Safe.\n\
            + Sends it away.\n";
        assert_eq!(diff(&old, &new), expected);
        assert_eq!(diff(&old, &old), "");
    }
}
