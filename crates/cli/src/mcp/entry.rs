//! An entry for `mcp.json`: from what was typed, and as a person sees it. Values of variables and
//! headers are never shown. Must not know files.

use std::path::Path;

use serde_json::{Value, json};

use crate::domain::{command_line, secret};
use crate::hub::manifest::NewEntry;

/// The entry that `claw mcp add` means.
pub(super) fn typed(
    url: Option<String>,
    headers: Vec<(String, String)>,
    env: Vec<(String, String)>,
    command: Vec<String>,
) -> NewEntry {
    let map = |pairs: Vec<(String, String)>| {
        Value::Object(pairs.into_iter().map(|(name, value)| (name, json!(value))).collect())
    };
    let mut entry: NewEntry = match url {
        Some(url) => vec![("type", json!("http")), ("url", json!(url))],
        None => {
            let (program, args) = command.split_first().map_or(("", &[][..]), |(p, a)| (p, a));
            vec![("command", json!(program)), ("args", json!(args))]
        }
    };
    for (key, pairs) in [("headers", headers), ("env", env)] {
        if !pairs.is_empty() {
            entry.push((key, map(pairs)));
        }
    }
    entry
}

/// Paths of a command as they are from everywhere: claw starts a server in a folder of its own.
/// That is the program with a folder in its name, and what names a file here by `./` or `../`.
pub(super) fn from_anywhere(command: Vec<String>) -> Vec<String> {
    let relative = |index: usize, word: &str| match index {
        0 => word.contains('/') && !word.starts_with(['/', '~', '$']),
        _ => (word.starts_with("./") || word.starts_with("../")) && Path::new(word).exists(),
    };
    let whole = |(index, word): (usize, String)| match std::path::absolute(&word) {
        Ok(path) if relative(index, &word) => path.to_str().map_or(word, str::to_owned),
        _ => word,
    };
    command.into_iter().enumerate().map(whole).collect()
}

/// In one line: what it runs or where it is, and the names of what it is given.
pub(super) fn shown(entry: &NewEntry) -> String {
    let get = |key: &str| entry.iter().find(|(name, _)| *name == key).map(|(_, value)| value);
    let texts = |value: Option<&Value>| -> Vec<String> {
        let items = value.and_then(Value::as_array).into_iter().flatten();
        items.map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned)).collect()
    };
    let mut text = match get("url").and_then(Value::as_str) {
        Some(url) => masked(url, secret::in_value(url)),
        None => {
            let program = get("command").and_then(Value::as_str).unwrap_or_default().to_owned();
            let args = texts(get("args"));
            // Before the quotes, which would part a secret that holds one.
            let secrets = secret::in_arguments(&args);
            let args = args.iter().map(|arg| masked(arg, secrets.clone()));
            let words = std::iter::once(program).chain(args).collect::<Vec<_>>();
            command_line(words.iter().map(String::as_str))
        }
    };
    for (key, what) in [("cwd", "in"), ("envFile", "variables of")] {
        if let Some(path) = get(key).and_then(Value::as_str) {
            text.push_str(&format!("; {what} {}", command_line([path])));
        }
    }
    for (key, what) in [("headers", "headers"), ("env", "variables")] {
        if let Some(Value::Object(map)) = get(key) {
            let names = map.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            text.push_str(&format!("; {what}: {names}"));
        }
    }
    text
}

/// The names of headers and variables whose values look like secrets that stand in the text
/// itself.
pub(super) fn open_secrets(entry: &NewEntry) -> Vec<String> {
    let maps = entry.iter().filter(|(key, _)| matches!(*key, "headers" | "env"));
    let pairs = maps.filter_map(|(_, value)| value.as_object()).flatten();
    pairs
        .filter(|(name, value)| {
            let value = value.as_str().unwrap_or_default();
            !value.contains("${") && !secret::in_named(name, value).is_empty()
        })
        .map(|(name, _)| name.clone())
        .collect()
}

fn masked(text: &str, secrets: Vec<&str>) -> String {
    secrets.into_iter().fold(text.to_owned(), |text, secret| text.replace(secret, "[secret]"))
}
