//! Where other programs keep their MCP servers, and what stands there, as entries for `mcp.json`.
//! Changes nothing. Must not know who takes what in.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::placed;
use crate::args::ClientApp;
use crate::config::Config;
use crate::domain::inherit::THE_USUAL;
use crate::hub::manifest::{self, NewEntry};
use crate::serve::client_file::ClientFile;

const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// What an entry can hold, in the order in which it is written.
const KEYS: [&str; 12] = [
    "type",
    "command",
    "args",
    "cwd",
    "env",
    "envFile",
    "inherit",
    "url",
    "headers",
    "timeout",
    "startup_timeout_sec",
    "disabled",
];

/// One server of another program.
pub(super) struct FoundServer {
    /// The program, and whether it is what a folder says, which may come from somebody else.
    pub(super) of: &'static str,
    pub(super) name: String,
    /// `Err` says why it cannot be taken in.
    pub(super) entry: Result<NewEntry, String>,
    /// What of it has no place in claw.
    pub(super) left_out: Vec<String>,
    /// Files of it that are not there.
    pub(super) missing: Vec<String>,
    /// The file may come from somebody else: a folder holds it, or nobody knows whose it is.
    pub(super) of_stranger: bool,
}

/// A file of another program.
pub(super) struct Source {
    pub(super) of: &'static str,
    pub(super) path: PathBuf,
    pub(super) of_stranger: bool,
    /// The folder in which its program runs its servers, where that is always the same.
    base: Option<PathBuf>,
}

/// The files that there may be, for this user and in this folder.
pub(super) fn sources(config: &Config, here: &Path) -> Vec<Source> {
    let of_user = |app| {
        let ClientFile { client, path, .. } = ClientFile::of_config(config, app);
        (client, path, false)
    };
    let known = [
        of_user(ClientApp::ClaudeDesktop),
        of_user(ClientApp::ClaudeCode),
        ("Claude Code, this folder", here.join(".mcp.json"), true),
        of_user(ClientApp::Vscode),
        ("VS Code, this folder", here.join(".vscode/mcp.json"), true),
        of_user(ClientApp::Cursor),
        ("Cursor, this folder", here.join(".cursor/mcp.json"), true),
        of_user(ClientApp::Codex),
    ];
    let mut sources: Vec<Source> = Vec::new();
    for (of, path, of_stranger) in known {
        // The folder may be the user's home.
        if sources.iter().all(|source| source.path != path) {
            let base = of_stranger.then(|| here.to_owned());
            sources.push(Source { of, path, of_stranger, base });
        }
    }
    sources
}

/// A file that was named. It is the user's own only where a program keeps its own there.
pub(super) fn named(config: &Config, path: &Path, here: &Path) -> Source {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let is_own = sources(config, here)
        .iter()
        .any(|source| !source.of_stranger && real(&source.path) == real(path));
    let base = (!is_own).then(|| folder_of(&here.join(path))).flatten();
    Source { of: "the file", path: path.to_owned(), of_stranger: !is_own, base }
}

/// The project whose file this is.
fn folder_of(path: &Path) -> Option<PathBuf> {
    let folder = path.parent()?;
    let is_of_editor = folder.ends_with(".vscode") || folder.ends_with(".cursor");
    Some(if is_of_editor { folder.parent()? } else { folder }.to_owned())
}

/// The servers of one file; `None` where there is no such file.
///
/// # Errors
/// Why the file cannot be read.
pub(super) fn read(source: &Source, here: &Path) -> Result<Option<Vec<FoundServer>>, String> {
    let said = |why: String| format!("{}: {why}", source.path.display());
    let Ok(about) = std::fs::metadata(&source.path) else { return Ok(None) };
    if about.len() > FILE_BYTES_MAX {
        return Err(said(format!("it has {} bytes, and may have {FILE_BYTES_MAX}", about.len())));
    }
    let text = std::fs::read_to_string(&source.path).map_err(|error| said(error.to_string()))?;
    let is_toml = source.path.extension().is_some_and(|extension| extension == "toml");
    let root = if is_toml {
        toml::from_str::<Value>(&text).map_err(|error| said(error.message().to_owned()))?
    } else {
        let root = manifest::read_json(&text).map_err(|error| said(error.to_string()))?;
        root.unwrap_or_default()
    };
    let of_folder =
        format!("/projects/{}", here.display().to_string().replace('~', "~0").replace('/', "~1"));
    let of_here = root.pointer(&of_folder).and_then(|project| project.get("mcpServers"));
    let base = source.base.as_deref();
    let roots = [
        (root.get("mcpServers"), base),
        (root.get("servers"), base),
        (root.get("mcp_servers"), base),
        (of_here, Some(here)),
    ];
    let servers = roots.into_iter().flat_map(|(servers, base)| {
        let servers = servers.and_then(Value::as_object).into_iter().flatten();
        servers.map(move |(name, entry)| found(source, base, (name, entry), is_toml))
    });
    Ok(Some(servers.collect()))
}

fn found(
    source: &Source,
    base: Option<&Path>,
    (name, entry): (&str, &Value),
    is_codex: bool,
) -> FoundServer {
    let Source { of, of_stranger, .. } = *source;
    let name = name.to_owned();
    let Some(fields) = entry.as_object() else {
        let (entry, left_out, missing) =
            (Err("it is no object".to_owned()), Vec::new(), Vec::new());
        return FoundServer { of, name, entry, left_out, missing, of_stranger };
    };
    let mut fields = fields.clone();
    // Claw's own key, which no other program knows: only somebody who is after claw writes it.
    let has_own_key = fields.remove("inherit").is_some();
    let fields = if is_codex { of_codex(&fields) } else { fields };
    let mut left_out: Vec<String> =
        fields.keys().filter(|key| !KEYS.contains(&key.as_str())).cloned().collect();
    left_out.extend(has_own_key.then(|| "inherit".to_owned()));
    let text = Value::Object(fields.clone()).to_string();
    let entry = if let Some((_, input)) = text.split_once("${input:") {
        let id = input.split('}').next().unwrap_or_default();
        Err(format!(
            "it asks for `{id}`: set it as a variable, and add the server with `claw mcp add`, \
             with `${{NAME}}` in the place of the value"
        ))
    } else if !fields.contains_key("command") && !fields.contains_key("url") {
        Err("it has neither a `command` nor a `url`".to_owned())
    } else {
        let kept = KEYS.iter().filter_map(|key| Some((*key, fields.get(*key)?.clone())));
        Ok(placed::placed(kept.collect(), base))
    };
    let missing = entry.as_ref().map(placed::missing).unwrap_or_default();
    left_out.extend(entry.iter().flat_map(meant_otherwise));
    FoundServer { of, name, entry, left_out, missing, of_stranger }
}

/// What an entry says that is something else in claw.
fn meant_otherwise(entry: &NewEntry) -> impl Iterator<Item = String> {
    let text = json!(entry).to_string();
    let workspace = text
        .contains("${workspaceFolder")
        .then_some("`${workspaceFolder}`, which means claw's own workspace here");
    let is_old = entry.iter().any(|(key, value)| *key == "type" && value == "sse");
    let transport = is_old.then_some(
        "the old transport `sse` (HTTP+SSE), which claw does not speak: it tries the newer one at \
         this address",
    );
    workspace.into_iter().chain(transport).map(str::to_owned)
}

/// Codex names the same things otherwise.
fn of_codex(fields: &Map<String, Value>) -> Map<String, Value> {
    let mut entry = Map::new();
    let mut headers = Map::new();
    for (key, value) in fields {
        match key.as_str() {
            "bearer_token_env_var" => {
                let name = value.as_str().unwrap_or_default();
                headers.insert("Authorization".to_owned(), json!(format!("Bearer ${{{name}}}")));
            }
            "http_headers" => headers.extend(value.as_object().cloned().unwrap_or_default()),
            "env_http_headers" => {
                for (header, name) in value.as_object().into_iter().flatten() {
                    let name = name.as_str().unwrap_or_default();
                    headers.insert(header.clone(), json!(format!("${{{name}}}")));
                }
            }
            "tool_timeout_sec" => {
                let ms = value.as_f64().unwrap_or_default() * 1000.0;
                entry.insert("timeout".to_owned(), json!(ms));
            }
            // Names of variables, which are handed on beside those that every server gets.
            "env_vars" if is_texts(value) => {
                let names = value.as_array().into_iter().flatten().cloned();
                let inherit = std::iter::once(json!(THE_USUAL)).chain(names).collect();
                entry.insert("inherit".to_owned(), Value::Array(inherit));
            }
            "enabled" => {
                if value == &json!(false) {
                    entry.insert("disabled".to_owned(), json!(true));
                }
            }
            _ => {
                entry.insert(key.clone(), value.clone());
            }
        }
    }
    if !headers.is_empty() {
        entry.insert("headers".to_owned(), Value::Object(headers));
    }
    entry
}

fn is_texts(value: &Value) -> bool {
    value.as_array().is_some_and(|all| all.iter().all(Value::is_string))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::entry;

    fn read_as(file: &str, text: &str) -> Vec<FoundServer> {
        let dir = tempfile::TempDir::new().unwrap();
        let path = dir.path().join(file);
        std::fs::write(&path, text).unwrap();
        let source = Source { of: "test", path, of_stranger: false, base: None };
        read(&source, Path::new("/work/a~b")).unwrap().unwrap()
    }

    #[test]
    fn codex() {
        let found = read_as(
            "config.toml",
            r#"
                model = "x"
                [mcp_servers.docs]
                url = "https://h/mcp"
                bearer_token_env_var = "T"
                tool_timeout_sec = 5
                enabled = false
                [mcp_servers.docs.env_http_headers]
                X-Key = "K"
                [mcp_servers.fs]
                command = "npx"
                args = ["-y", "fs"]
                supports_parallel_tool_calls = true
                env_vars = ["GITHUB_TOKEN"]
                [mcp_servers.odd]
                command = "x"
                env_vars = [{ name = "A" }]
            "#,
        );
        let docs: Map<String, Value> = found[0]
            .entry
            .clone()
            .unwrap()
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect();
        let expected = json!({"url": "https://h/mcp", "timeout": 5000.0, "disabled": true,
            "headers": {"Authorization": "Bearer ${T}", "X-Key": "${K}"}});
        assert_eq!(Value::Object(docs), expected);
        assert_eq!(
            entry::shown(&found[1].entry.clone().unwrap()),
            "npx -y fs; inherits the usual variables, GITHUB_TOKEN"
        );
        assert_eq!(found[1].left_out, ["supports_parallel_tool_calls"]);
        let inherited = found[1].entry.clone().unwrap();
        assert!(inherited.contains(&("inherit", json!(["...", "GITHUB_TOKEN"]))), "{inherited:?}");
        assert_eq!(found[2].left_out, ["env_vars"]);
    }

    #[test]
    fn vs_code_and_claude_code() {
        let found = read_as(
            "mcp.json",
            r#"{ // mine
                "servers": {
                    "gh": {"type": "http", "url": "https://h", "headers": {"A": "${input:key}"}},
                    "ok": {"command": "${workspaceFolder}/x"},
                    "odd": {}},}"#,
        );
        let by_name = |name: &str| found.iter().find(|found| found.name == name).unwrap();
        assert!(by_name("gh").entry.as_ref().unwrap_err().contains("`key`"));
        assert!(by_name("odd").entry.is_err());
        assert_eq!(by_name("ok").left_out.len(), 1);
        let found = read_as(
            "claude.json",
            r#"{"mcpServers": {"a": {"command": "x"}}, "projects": {
                "/work/a~b": {"mcpServers": {"b": {"command": "y"}}},
                "/other": {"mcpServers": {"c": {"command": "z"}}}}}"#,
        );
        let names: Vec<&str> = found.iter().map(|found| found.name.as_str()).collect();
        assert_eq!(names, ["a", "b"], "those of this folder, too");
    }
}
