//! One entry of `heartbeats.toml` in the place of another, with the comments of its owner kept.
//! Owns which fields the agent may propose; must not know who is asked, or how the file is written.

use jiff::tz::TimeZone;
use serde_json::{Map, Value};
use toml_edit::{Array, DocumentMut, Item, Table};

use super::{is_name, parse, with_heartbeats};

/// What a proposal may say, in the order in which a new entry has it. A chat and a check are the
/// owner's to write: one says who hears of it, the other is the owner's own call.
const FIELDS: [&str; 8] =
    ["at", "every", "days", "active", "zone", "prompt", "requests_day_max", "tokens_day_max"];

/// The entry as the file has it; `None` if it has none of that name.
///
/// # Errors
/// One sentence: the file is broken, or the entry is written in a way that is left alone.
pub fn heartbeat_entry(file: &str, name: &str) -> Result<Option<String>, String> {
    let document = document(file)?;
    table(&document, name).map(|table| table.map(|table| text_of(name, table)))
}

/// The entry with these fields in the place of those that it has; a new one has these alone.
///
/// # Errors
/// One sentence: the name or a field is none.
pub fn drafted_heartbeat(
    file: &str,
    name: &str,
    fields: &Map<String, Value>,
) -> Result<String, String> {
    if !is_name(name) {
        return Err(format!(
            "`{name}` is no name of a heartbeat: use 1 to 32 lower-case letters, digits, `-` or `_`"
        ));
    }
    if let Some(other) = fields.keys().find(|key| !FIELDS.contains(&key.as_str())) {
        return Err(format!("`{other}` cannot be proposed; the owner writes it into the file"));
    }
    let document = document(file)?;
    let mut entry = table(&document, name)?.cloned().unwrap_or_default();
    for (one, other) in [("at", "every"), ("every", "at")] {
        if fields.contains_key(one) && !fields.contains_key(other) {
            entry.remove(other);
        }
    }
    for key in FIELDS {
        if let Some(value) = fields.get(key) {
            put(&mut entry, key, value_of(key, value)?);
        }
    }
    Ok(text_of(name, &entry))
}

/// The file with this entry in the place of the one that it has of that name, or behind all
/// others; without one, the file without the entry.
///
/// # Errors
/// One sentence: the whole would not be in force. Nothing is to be written then.
pub fn with_heartbeat(
    file: &str,
    name: &str,
    entry: Option<&str>,
    zone: &TimeZone,
) -> Result<String, String> {
    let mut document = document(file)?;
    let old = table(&document, name)?.cloned();
    let whole = match (old, entry) {
        (None, None) => return Err(format!("there is no heartbeat `{name}`")),
        (None, Some(entry)) => return with_heartbeats(file, &[entry.to_owned()], zone),
        (Some(old), None) => {
            document.remove(name);
            keep_comments(&mut document, &old);
            document.to_string()
        }
        (Some(old), Some(entry)) => {
            let written = self::document(entry)?;
            let Some(new) = table(&written, name)? else {
                return Err(format!("the entry is not written as `[{name}]`"));
            };
            let mut new = new.clone();
            *new.decor_mut() = old.decor().clone();
            new.set_position(old.position());
            // Where the tables below it stand is counted in the text of the entry alone.
            new.iter_mut().filter_map(|(_, item)| item.as_table_mut()).for_each(|below| {
                below.set_position(None);
            });
            document.insert(name, Item::Table(new));
            document.to_string()
        }
    };
    parse(&whole, zone).map_err(|error| error.to_string())?;
    Ok(whole)
}

fn document(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        format!("heartbeats.toml cannot be read: {}", error.message())
    })
}

fn table<'a>(document: &'a DocumentMut, name: &str) -> Result<Option<&'a Table>, String> {
    match document.get(name) {
        None => Ok(None),
        Some(Item::Table(table)) if !table.is_dotted() => Ok(Some(table)),
        Some(_) => Err(format!(
            "`{name}` is not written as `[{name}]` with its keys below it; its owner changes it by \
             hand"
        )),
    }
}

/// Without what stands above it, which is not the entry's alone.
fn text_of(name: &str, table: &Table) -> String {
    let mut table = table.clone();
    table.decor_mut().clear();
    table.set_position(None);
    let mut document = DocumentMut::new();
    document.insert(name, Item::Table(table));
    document.to_string().trim_end().to_owned()
}

/// A comment behind the value stays.
fn put(entry: &mut Table, key: &str, mut value: toml_edit::Value) {
    if let Some(old) = entry.get(key).and_then(Item::as_value) {
        *value.decor_mut() = old.decor().clone();
    }
    entry.insert(key, Item::Value(value));
}

fn value_of(key: &str, value: &Value) -> Result<toml_edit::Value, String> {
    let wrong = || format!("`{key}` is not written so; `claw help heartbeats` shows how it is");
    match (key, value) {
        ("at" | "days", Value::Array(list)) => {
            let texts = list.iter().map(Value::as_str).collect::<Option<Vec<_>>>();
            Ok(texts.ok_or_else(wrong)?.into_iter().collect::<Array>().into())
        }
        ("requests_day_max" | "tokens_day_max", number) => {
            Ok(number.as_i64().ok_or_else(wrong)?.into())
        }
        ("at" | "days", _) => Err(wrong()),
        (_, Value::String(text)) => Ok(text.as_str().into()),
        _ => Err(wrong()),
    }
}

/// The comments above an entry that goes, which may be about the whole file, stay where they are:
/// above the next entry, or at the end.
fn keep_comments(document: &mut DocumentMut, gone: &Table) {
    let comments = gone.decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default();
    if comments.trim().is_empty() {
        return;
    }
    let comments = comments.to_owned();
    let is_behind = |table: &Table| table.position() > gone.position();
    let behind = document.iter_mut().filter_map(|(_, item)| item.as_table_mut());
    match behind.filter(|table| is_behind(table)).min_by_key(|table| table.position()) {
        Some(next) => {
            let own = next.decor().prefix().and_then(|own| own.as_str()).unwrap_or_default();
            let both = format!("{comments}{own}");
            next.decor_mut().set_prefix(both);
        }
        None => {
            let end = document.trailing().as_str().unwrap_or_default();
            let both = format!("{comments}{end}");
            document.set_trailing(both);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const FILE: &str = "# All of it.\n\n# Of the morning.\n[morning]\nat = [\"07:30\"] # early\n\
        prompt = \"What matters?\"\n\n[morning.check]\ncommand = \"ls\"\n\n# Of the post.\n[post]\n\
        every = \"30m\"\nprompt = \"Any?\"\n";

    fn fields(fields: Value) -> Map<String, Value> {
        fields.as_object().unwrap().clone()
    }

    fn changed(file: &str, name: &str, to: Value) -> Result<String, String> {
        let entry = drafted_heartbeat(file, name, &fields(to))?;
        with_heartbeat(file, name, Some(&entry), &TimeZone::UTC)
    }

    #[test]
    fn a_change_touches_its_own_keys_and_nothing_else() {
        let after = changed(FILE, "morning", json!({"at": ["08:00", "20:00"]})).unwrap();
        assert_eq!(after, FILE.replace("[\"07:30\"]", "[\"08:00\", \"20:00\"]"));
        let after = changed(FILE, "post", json!({"at": ["08:00"], "days": ["mon"]})).unwrap();
        assert!(after.starts_with(FILE.split("every").next().unwrap()), "{after}");
        assert!(!after.contains("every") && after.contains("days = [\"mon\"]"), "{after}");
        let same = heartbeat_entry(FILE, "morning").unwrap().unwrap();
        assert_eq!(with_heartbeat(FILE, "morning", Some(&same), &TimeZone::UTC).unwrap(), FILE);
    }

    #[test]
    fn a_new_entry_stands_behind_all_others_and_one_that_goes_leaves_the_comments() {
        let new = json!({"every": "2h", "prompt": "Look\nagain."});
        let after = changed(FILE, "new", new).unwrap();
        assert!(after.starts_with(FILE) && after.contains("\n[new]\nevery = \"2h\""), "{after}");
        let back = with_heartbeat(&after, "new", None, &TimeZone::UTC).unwrap();
        assert_eq!(back, FILE);
        for (name, left) in [("morning", "post"), ("post", "morning")] {
            let after = with_heartbeat(FILE, name, None, &TimeZone::UTC).unwrap();
            let is_left = heartbeat_entry(&after, left) == heartbeat_entry(FILE, left);
            assert!(is_left && !after.contains(&format!("[{name}]")), "{after}");
            for comment in ["# All of it.", "# Of the morning.", "# Of the post."] {
                assert!(after.contains(comment), "{after}");
            }
        }
        let only = "# Mine.\n[a]\nat = [\"07:30\"]\nprompt = \"a\"\n";
        assert_eq!(with_heartbeat(only, "a", None, &TimeZone::UTC).unwrap(), "# Mine.\n");
    }

    #[test]
    fn what_is_no_entry_is_refused_with_a_sentence() {
        for (name, to, says) in [
            ("A b", json!({}), "is no name"),
            ("new", json!({"every": "2h"}), "prompt"),
            ("new", json!({"prompt": "a"}), "exactly one of"),
            ("post", json!({"at": ["8"]}), "no time of the day"),
            ("post", json!({"at": "08:00"}), "`at` is not written so"),
            ("post", json!({"every": "30s"}), "none of `1m` to `24h`"),
            ("post", json!({"zone": "Europe/Nowhere"}), "Europe/Nowhere"),
            ("post", json!({"check": {"command": "id"}}), "`check` cannot be proposed"),
            ("post", json!({"chat": 5}), "`chat` cannot be proposed"),
        ] {
            let why = changed(FILE, name, to.clone()).unwrap_err();
            assert!(why.contains(says), "{name} {to}: {why}");
        }
        assert!(with_heartbeat(FILE, "nobody", None, &TimeZone::UTC).is_err());
        assert!(changed("[a", "a", json!({})).unwrap_err().contains("cannot be read"));
        let inline = "a = {at = [\"07:30\"], prompt = \"a\"}\n";
        let why = changed(inline, "a", json!({"prompt": "b"})).unwrap_err();
        assert!(why.contains("by hand"), "{why}");
    }
}
