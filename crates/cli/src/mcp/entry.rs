//! An entry for `mcp.json`: from what was typed, and as a person sees it. Of variables and headers
//! the names are shown, and which variables of the owner's they refer to. Must not know files.

use serde_json::{Value, json};

use crate::domain::{command_line, inherit, secret};
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

/// In one line: what it runs or where it is, and what it is given. Only what has the shape of a
/// secret is masked, each where it stands, so that no program is masked by its name elsewhere.
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
            let secrets = secret::in_each_argument(&args);
            let masked = args.iter().zip(secrets).map(|(arg, secrets)| masked(arg, secrets));
            let words = std::iter::once(program).chain(masked).collect::<Vec<_>>();
            command_line(words.iter().map(String::as_str))
        }
    };
    for (key, what) in [("cwd", "in"), ("envFile", "variables of")] {
        if let Some(path) = get(key).and_then(Value::as_str) {
            text.push_str(&format!("; {what} {}", command_line([path])));
        }
    }
    for (key, what, sign) in [("headers", "headers", ": "), ("env", "variables", "=")] {
        if let Some(Value::Object(map)) = get(key) {
            let one = |(name, value): (&String, &Value)| match referring(value) {
                Some(value) => format!("{name}{sign}{value}"),
                None => name.clone(),
            };
            let all = map.iter().map(one).collect::<Vec<_>>().join(", ");
            text.push_str(&format!("; {what}: {all}"));
        }
    }
    let inherited = texts(get("inherit"));
    if !inherited.is_empty() {
        text.push_str(&format!("; {}", inherit::shown(inherited.iter().map(String::as_str))));
    }
    text
}

/// A value that refers to variables, with all else in it left out; `None` where it refers to none.
fn referring(value: &Value) -> Option<String> {
    let text = value.as_str()?;
    let (mut shown, mut rest) = (String::new(), text);
    let literal = |part: &str| match part.trim() {
        "" | "Bearer" | "Basic" | "token" => part.to_owned(),
        _ => "…".to_owned(),
    };
    while let Some((before, (name, after))) =
        rest.split_once("${").and_then(|(before, tail)| Some((before, tail.split_once('}')?)))
    {
        shown.push_str(&format!("{}${{{name}}}", literal(before)));
        rest = after;
    }
    (rest.len() < text.len()).then(|| shown + &literal(rest))
}

/// The variables of the owner's that an entry would hand on and whose names look like secrets, each
/// once. A beginning of names (`A*`) may mean any.
pub(super) fn secret_variables(entry: &NewEntry) -> Vec<String> {
    let mut found = Vec::new();
    entry.iter().for_each(|(key, value)| match (*key, value) {
        ("inherit", Value::Array(names)) => {
            found.extend(names.iter().filter_map(Value::as_str).map(str::to_owned));
        }
        (_, value) => referred(value, &mut found),
    });
    found.retain(|name| name.ends_with('*') || secret::is_secret_name(name));
    found.sort();
    found.dedup();
    found
}

/// The names in each `${NAME}`, `${env:NAME}` and `${NAME:-default}`.
fn referred(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            let inner = text.split("${").skip(1).filter_map(|rest| rest.split_once('}'));
            let names = inner.map(|(name, _)| name.strip_prefix("env:").unwrap_or(name));
            let names = names.map(|name| name.split(':').next().unwrap_or_default());
            found.extend(names.map(|name| name.trim().to_owned()));
        }
        Value::Array(all) => all.iter().for_each(|one| referred(one, found)),
        Value::Object(all) => all.values().for_each(|one| referred(one, found)),
        _ => {}
    }
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
    // A reference to a variable, and what may be code, is what a person has to see.
    secrets
        .into_iter()
        .filter(|secret| secret::is_one_word(secret))
        .fold(text.to_owned(), |text, secret| text.replace(secret, "[secret]"))
}
