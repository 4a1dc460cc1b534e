//! Heartbeats of other agents (`heartbeats.json`) as entries of `heartbeats.toml`. Owns which keys
//! are understood, and that whatever is left out is named with its reason. Must not know who is
//! asked, or how the file is written.

mod cron;
mod fields;
mod when;

use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use super::parse;

/// What became of one entry of the other file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedHeartbeat {
    /// As the other file has it.
    pub name: String,
    /// The entry as `heartbeats.toml` has it, or half a sentence about why there is none.
    pub entry: Result<String, String>,
    /// What of it was left out, half a sentence each.
    pub left_out: Vec<String>,
}

/// Reads a file of heartbeats: a list or a map of entries, perhaps below a key such as
/// `heartbeats`. `existing` is the `heartbeats.toml` that they come to; nothing in it is replaced.
///
/// # Errors
/// One sentence: it is no JSON, or nothing in it is an entry.
pub fn import_heartbeats(
    text: &str,
    existing: &str,
    zone: &TimeZone,
) -> Result<Vec<ImportedHeartbeat>, String> {
    let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| format!("it is no JSON: {error}"))?;
    let entries = entries(value).ok_or(
        "it has no heartbeats: a list or a map of entries was looked for, also below `heartbeats`, \
         `jobs`, `entries` and `tasks`",
    )?;
    let mut taken: Vec<String> = parse(existing, zone)
        .map_err(|error| error.to_string())?
        .into_iter()
        .map(|heartbeat| heartbeat.name)
        .collect();
    Ok(entries.into_iter().map(|(name, entry)| imported(name, entry, &mut taken, zone)).collect())
}

/// Adds entries to the text of a file.
///
/// # Errors
/// The whole would not be in force; nothing is to be written then.
pub fn with_heartbeats(
    existing: &str,
    entries: &[String],
    zone: &TimeZone,
) -> Result<String, String> {
    let mut whole = existing.trim_end().to_owned();
    for entry in entries {
        if !whole.is_empty() {
            whole.push_str("\n\n");
        }
        whole.push_str(entry.trim_end());
    }
    whole.push('\n');
    parse(&whole, zone).map_err(|error| error.to_string())?;
    Ok(whole)
}

fn entries(value: Value) -> Option<Vec<(String, Value)>> {
    match value {
        Value::Array(list) if !list.is_empty() => {
            Some(list.into_iter().map(|entry| (String::new(), entry)).collect())
        }
        Value::Object(mut map) => {
            for key in ["heartbeats", "jobs", "entries", "tasks"] {
                if let Some(inner) = map.remove(key) {
                    return entries(inner);
                }
            }
            let is_map = !map.is_empty() && map.values().all(Value::is_object);
            is_map.then(|| map.into_iter().collect())
        }
        _ => None,
    }
}

fn imported(
    key: String,
    entry: Value,
    taken: &mut Vec<String>,
    zone: &TimeZone,
) -> ImportedHeartbeat {
    let Value::Object(mut entry) = entry else {
        let why = "it is no entry with a time and a prompt".to_owned();
        return ImportedHeartbeat { name: key, entry: Err(why), left_out: Vec::new() };
    };
    let said = fields::text(&mut entry, fields::NAME);
    let said = said.filter(|said| !said.trim().is_empty()).unwrap_or(key);
    let shown = if said.is_empty() { "(without a name)".to_owned() } else { said.clone() };
    let mut left_out = Vec::new();
    let entry = translated(&said, entry, &mut left_out).and_then(|(name, text)| {
        if taken.contains(&name) {
            return Err(format!(
                "`heartbeats.toml` has a `[{name}]` already, which stays as it is"
            ));
        }
        parse(&text, zone).map_err(|error| error.message)?;
        taken.push(name);
        Ok(text)
    });
    ImportedHeartbeat { name: shown, entry, left_out }
}

/// Its name and its text.
fn translated(
    said: &str,
    mut from: Map<String, Value>,
    left_out: &mut Vec<String>,
) -> Result<(String, String), String> {
    if from.remove("enabled") == Some(Value::Bool(false))
        || from.remove("disabled") == Some(Value::Bool(true))
    {
        return Err("it is switched off there".to_owned());
    }
    let mut to = toml::Table::new();
    when::times(&mut from, &mut to)?;
    let prompt = fields::prompt(&mut from).ok_or("it has no prompt")?;
    to.insert("prompt".into(), prompt.into());
    fields::zone(&mut from, &mut to);
    fields::active(&mut from, &mut to)?;
    fields::days(&mut from, &mut to)?;
    fields::chat(&mut from, &mut to);
    for (key, value) in from {
        if !fields::says_nothing(&key, &value) {
            left_out.push(format!("`{key}` has no counterpart here"));
        }
    }
    let name =
        fields::name(said).ok_or("it has no name that can be written in letters of a to z")?;
    let body = toml::to_string(&to).map_err(|error| error.to_string())?;
    Ok((name.clone(), format!("[{name}]\n{body}")))
}

#[cfg(test)]
mod tests;
