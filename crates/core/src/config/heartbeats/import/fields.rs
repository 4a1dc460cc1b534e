//! The fields of an entry beside its times: what each is called elsewhere, and what it is here.
//! Must not know times.

use serde_json::{Map, Value};

use super::super::NAME_CHARS_MAX;

pub(super) const NAME: &[&str] = &["name", "title", "id"];
const PROMPT: &[&str] =
    &["prompt", "message", "text", "task", "instruction", "instructions", "content"];
const ZONE: &[&str] = &["zone", "timezone", "time_zone", "timeZone", "tz"];
const ACTIVE: &[&str] = &["active", "active_hours", "activeHours"];
const DAYS: &[&str] = &["days", "weekdays"];
const CHAT: &[&str] = &["chat", "chat_id", "chatId"];

/// The first of these keys that is there. All of them are taken out where that one has a text.
pub(super) fn text(from: &mut Map<String, Value>, keys: &[&str]) -> Option<String> {
    let key = keys.iter().find(|key| from.get(**key).is_some_and(Value::is_string))?;
    match from.remove(*key) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

/// As it stands, or below `payload`, as OpenClaw's jobs have it.
pub(super) fn prompt(from: &mut Map<String, Value>) -> Option<String> {
    if let Some(prompt) = text(from, PROMPT) {
        return Some(prompt);
    }
    let payload = from.get_mut("payload")?.as_object_mut()?;
    let prompt = text(payload, PROMPT);
    payload.remove("kind");
    if payload.is_empty() {
        from.remove("payload");
    }
    prompt
}

pub(super) fn zone(from: &mut Map<String, Value>, to: &mut toml::Table) {
    if let Some(zone) = text(from, ZONE) {
        to.insert("zone".into(), zone.into());
    }
}

/// `"08:00-22:00"`, or `{"start": "08:00", "end": "22:00"}`.
pub(super) fn active(from: &mut Map<String, Value>, to: &mut toml::Table) -> Result<(), String> {
    let Some(key) = ACTIVE.iter().find(|key| from.contains_key(**key)) else { return Ok(()) };
    let span = match from.remove(*key) {
        Some(Value::String(span)) => span,
        Some(Value::Object(mut span)) => {
            zone(&mut span, to);
            match (text(&mut span, &["start", "from"]), text(&mut span, &["end", "to"])) {
                // The end of the day has one name here.
                (Some(start), Some(end)) => format!("{start}-{}", end.replace("24:00", "00:00")),
                _ => return Err(format!("`{key}` has no start and end")),
            }
        }
        Some(Value::Null) | None => return Ok(()),
        Some(_) => return Err(format!("`{key}` is no span of hours")),
    };
    if to.contains_key("active") {
        return Err(format!("its pattern has hours, and `{key}` has others"));
    }
    to.insert("active".into(), span.into());
    Ok(())
}

/// A list of names; `mon` and `Monday` are the same.
pub(super) fn days(from: &mut Map<String, Value>, to: &mut toml::Table) -> Result<(), String> {
    let Some(key) = DAYS.iter().find(|key| from.contains_key(**key)) else { return Ok(()) };
    let days = match from.remove(*key) {
        Some(Value::Array(days)) => days,
        Some(Value::String(days)) => days.split([',', ' ']).map(Value::from).collect(),
        _ => return Err(format!("`{key}` is no list of weekdays")),
    };
    let mut named = Vec::new();
    for day in days {
        let day = day.as_str().unwrap_or_default().trim().to_lowercase();
        if day.is_empty() {
            continue;
        }
        // A name that is none is refused with the whole entry, in the words of the file.
        named.push(toml::Value::from(day.chars().take(3).collect::<String>()));
    }
    if to.contains_key("days") {
        return Err(format!("its pattern has weekdays, and `{key}` has others"));
    }
    to.insert("days".into(), named.into());
    Ok(())
}

pub(super) fn chat(from: &mut Map<String, Value>, to: &mut toml::Table) {
    for key in CHAT {
        let number = match from.get(*key) {
            Some(Value::Number(number)) => number.as_i64(),
            Some(Value::String(text)) => text.parse().ok(),
            _ => None,
        };
        if let Some(number) = number {
            from.remove(*key);
            to.insert("chat".into(), number.into());
            return;
        }
    }
}

/// What is no loss: a mark of the other program, or nothing at all.
pub(super) fn says_nothing(key: &str, value: &Value) -> bool {
    let is_mark = [
        "id",
        "enabled",
        "disabled",
        "createdAtMs",
        "updatedAtMs",
        "created_at",
        "updated_at",
        "state",
    ];
    is_mark.contains(&key) || value.is_null()
}

/// `Morning brief!` is `morning-brief`.
pub(super) fn name(said: &str) -> Option<String> {
    let mut name = String::new();
    for c in said.to_lowercase().chars() {
        match c {
            'a'..='z' | '0'..='9' | '_' => name.push(c),
            _ if name.ends_with('-') || name.is_empty() => {}
            _ => name.push('-'),
        }
    }
    name.truncate(NAME_CHARS_MAX);
    let name = name.trim_end_matches('-').to_owned();
    (!name.is_empty()).then_some(name)
}
