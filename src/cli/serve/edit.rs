//! One entry put into the text of a client's file, and nothing else of it changed. Pure: text in,
//! text out. Must not know where the text comes from, or who is asked.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstRootNode};
use serde_json::Value;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, value};

use super::client_file::Format;
use super::entry::NAME;

/// What is to be done with a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// The entry of this name that is there.
    pub before: Option<Value>,
    /// The whole file with the new one.
    pub text: String,
}

/// Puts `entry` under `servers` into `text`, which may be empty. What is wrong with the text is
/// half a sentence.
pub fn edit(format: Format, text: &str, servers: &str, entry: &Value) -> Result<Edit, String> {
    match format {
        Format::Json => json(text, servers, entry),
        Format::Toml => toml(text, servers, entry),
    }
}

/// The entry alone, as it stands in such a file.
pub fn snippet(format: Format, servers: &str, entry: &Value) -> Result<String, String> {
    edit(format, "", servers, entry).map(|edit| edit.text)
}

fn json(text: &str, servers: &str, entry: &Value) -> Result<Edit, String> {
    if text.trim().is_empty() {
        return Ok(Edit { before: None, text: new_json(servers, entry) });
    }
    let options = ParseOptions::default();
    let root =
        CstRootNode::parse(text, &options).map_err(|error| format!("it is not JSON: {error}"))?;
    let object = root.object_value().ok_or("it holds no JSON object")?;
    // Of two of the same name each program takes another one.
    let named = |name: &str, of: &jsonc_parser::cst::CstObject| {
        of.properties().iter().filter(|one| one.decoded_name().as_deref() == Some(name)).count()
    };
    if named(servers, &object) > 1 {
        return Err(format!("it has `{servers}` twice"));
    }
    let list = object
        .object_value_or_create(servers)
        .ok_or_else(|| format!("its `{servers}` is no JSON object"))?;
    if named(NAME, &list) > 1 {
        return Err(format!("its `{servers}` has `{NAME}` twice"));
    }
    let before = match list.get(NAME) {
        Some(there) => {
            let before = there.value().and_then(|value| value.to_serde_value());
            there.set_value(input(entry));
            Some(before.unwrap_or(Value::Null))
        }
        None => {
            list.append(NAME, input(entry));
            None
        }
    };
    let text = root.to_string();
    // Whatever was kept of the text, what comes out has to be read as what was meant.
    let read = CstRootNode::parse(&text, &options).ok().and_then(|root| root.to_serde_value());
    match read.as_ref().and_then(|read| read.get(servers)?.get(NAME)) {
        Some(found) if found == entry => Ok(Edit { before, text }),
        _ => Err("it cannot be changed without a risk".to_owned()),
    }
}

fn new_json(servers: &str, entry: &Value) -> String {
    let whole = serde_json::json!({ servers: { NAME: entry } });
    let text = serde_json::to_string_pretty(&whole).unwrap_or_else(|_| whole.to_string());
    format!("{text}\n")
}

/// A value as the editor of JSON takes it.
fn input(entry: &Value) -> CstInputValue {
    match entry {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(map) => CstInputValue::Object(
            map.iter().map(|(name, value)| (name.clone(), input(value))).collect(),
        ),
    }
}

fn toml(text: &str, servers: &str, entry: &Value) -> Result<Edit, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        let said = error.message().lines().next().unwrap_or_default().to_owned();
        format!("it is not TOML: {said}")
    })?;
    if !document.contains_key(servers) {
        let mut list = Table::new();
        list.set_implicit(true);
        document.insert(servers, Item::Table(list));
    }
    let list = document
        .get_mut(servers)
        .and_then(Item::as_table_like_mut)
        .ok_or_else(|| format!("its `{servers}` is no table"))?;
    let before = list.get(NAME).map(as_json);
    let mut table = Table::new();
    for (name, written) in entry.as_object().into_iter().flatten() {
        table.insert(name, item(written));
    }
    match list.get_mut(NAME).and_then(Item::as_table_mut) {
        // Its place in the file and the comments above it stay.
        Some(there) => {
            there.clear();
            for (name, written) in &table {
                there.insert(name, written.clone());
            }
        }
        None => _ = list.insert(NAME, Item::Table(table)),
    }
    let text = document.to_string();
    let read: Option<DocumentMut> = text.parse().ok();
    let found = read.as_ref().and_then(|read| Some(as_json(read.get(servers)?.get(NAME)?)));
    match found {
        Some(found) if found == *entry => Ok(Edit { before, text }),
        _ => Err("it cannot be changed without a risk".to_owned()),
    }
}

fn item(written: &Value) -> Item {
    match written {
        Value::String(text) => value(text.as_str()),
        Value::Bool(flag) => value(*flag),
        Value::Number(number) => value(number.as_i64().unwrap_or_default()),
        Value::Array(items) => value(items.iter().filter_map(Value::as_str).collect::<Array>()),
        Value::Object(map) => value(
            map.iter()
                .filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)))
                .collect::<InlineTable>(),
        ),
        Value::Null => Item::None,
    }
}

/// What a TOML item holds. Its text where it has no like in JSON.
fn as_json(item: &Item) -> Value {
    if let Some(table) = item.as_table_like() {
        let pairs = table.iter().map(|(name, value)| (name.to_owned(), as_json(value)));
        return Value::Object(pairs.collect());
    }
    match item {
        Item::ArrayOfTables(tables) => {
            tables.iter().map(|table| as_json(&Item::Table(table.clone()))).collect()
        }
        Item::Value(value) => value_as_json(value),
        Item::None | Item::Table(_) => Value::Null,
    }
}

fn value_as_json(value: &toml_edit::Value) -> Value {
    use toml_edit::Value as Toml;
    match value {
        Toml::String(text) => text.value().as_str().into(),
        Toml::Integer(number) => (*number.value()).into(),
        Toml::Float(number) => (*number.value()).into(),
        Toml::Boolean(flag) => (*flag.value()).into(),
        Toml::Datetime(at) => at.value().to_string().into(),
        Toml::Array(items) => items.iter().map(value_as_json).collect(),
        Toml::InlineTable(table) => {
            let pairs = table.iter().map(|(name, value)| (name.to_owned(), value_as_json(value)));
            Value::Object(pairs.collect())
        }
    }
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
