//! One entry put into the text of a client's file, and nothing else of it changed. Pure: text in,
//! text out. Must not know where the text comes from, or who is asked.

use jsonc_parser::cst::CstRootNode;
use serde_json::Value;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, value};

use super::client_file::Format;
use super::entry::NAME;
use crate::hub::manifest::{JSON_OPTIONS, input};

const BYTE_ORDER_MARK: &str = "\u{feff}";

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
    // Some editors write this mark before a text; it is none of the text's, and stays.
    let (mark, text) = match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => (BYTE_ORDER_MARK, rest),
        None => ("", text),
    };
    let done = match format {
        Format::Json => json(text, servers, entry),
        Format::Toml => toml(text, servers, entry),
    }?;
    Ok(Edit { before: done.before, text: format!("{mark}{}", done.text) })
}

/// Whatever was kept of the text: what comes out has to be read as what was meant, and everything
/// else in it as before.
fn checked(
    (before, after): (Option<Value>, Option<Value>),
    (servers, entry): (&str, &Value),
) -> Result<(), String> {
    let risk = "it cannot be changed without a risk";
    let (mut before, mut after) = (before.ok_or(risk)?, after.ok_or(risk)?);
    take(&mut before, servers);
    let is_meant = take(&mut after, servers).as_ref() == Some(entry) && before == after;
    is_meant.then_some(()).ok_or_else(|| risk.to_owned())
}

/// Takes claw's entry out of what a file holds. An empty list of servers is none.
fn take(file: &mut Value, servers: &str) -> Option<Value> {
    let list = file.get_mut(servers)?.as_object_mut()?;
    let found = list.remove(NAME);
    if list.is_empty() {
        file.as_object_mut()?.remove(servers);
    }
    found
}

/// The entry alone, as it stands in such a file.
pub fn snippet(format: Format, servers: &str, entry: &Value) -> Result<String, String> {
    edit(format, "", servers, entry).map(|edit| edit.text)
}

fn json(text: &str, servers: &str, entry: &Value) -> Result<Edit, String> {
    if text.trim().is_empty() {
        return Ok(Edit { before: None, text: new_json(servers, entry) });
    }
    let root = CstRootNode::parse(text, &JSON_OPTIONS)
        .map_err(|error| format!("it is not JSON: {error}"))?;
    // White space and comments alone are a file in which nothing is set yet.
    let whole = match root.value() {
        Some(_) => root.to_serde_value(),
        None => Some(Value::Object(serde_json::Map::new())),
    };
    let object = root.object_value_or_create().ok_or("it holds no JSON object")?;
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
    let after =
        CstRootNode::parse(&text, &JSON_OPTIONS).ok().and_then(|root| root.to_serde_value());
    checked((whole, after), (servers, entry))?;
    Ok(Edit { before, text })
}

fn new_json(servers: &str, entry: &Value) -> String {
    let whole = serde_json::json!({ servers: { NAME: entry } });
    let text = serde_json::to_string_pretty(&whole).unwrap_or_else(|_| whole.to_string());
    format!("{text}\n")
}

fn toml(text: &str, servers: &str, entry: &Value) -> Result<Edit, String> {
    let document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        let said = error.message().lines().next().unwrap_or_default().to_owned();
        format!("it is not TOML: {said}")
    })?;
    let whole = as_json(document.as_item());
    // A header of a table may stand at the end of every file that has no such table yet.
    let is_free = match document.get(servers) {
        None => true,
        Some(Item::Table(list)) => !list.is_dotted() && !list.contains_key(NAME),
        Some(_) => false,
    };
    let (before, text) = match is_free {
        true => (None, below(text, &new_toml(servers, entry))),
        false => replaced(document, text, servers, entry)?,
    };
    let after = text.parse().ok().map(|read: DocumentMut| as_json(read.as_item()));
    checked((Some(whole), after), (servers, entry))?;
    Ok(Edit { before, text })
}

fn table(entry: &Value) -> Table {
    let mut table = Table::new();
    for (name, written) in entry.as_object().into_iter().flatten() {
        table.insert(name, item(written));
    }
    table
}

fn new_toml(servers: &str, entry: &Value) -> String {
    let mut list = Table::new();
    list.set_implicit(true);
    list.insert(NAME, Item::Table(table(entry)));
    let mut document = DocumentMut::new();
    document.insert(servers, Item::Table(list));
    document.to_string()
}

/// The lines of `new` behind those of `text`, which stay byte for byte.
fn below(text: &str, new: &str) -> String {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let ended = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
    let apart = if text.is_empty() { "" } else { newline };
    format!("{text}{ended}{apart}{}", new.replace('\n', newline))
}

/// The entry put into the place of the one that is there, or into a list on one line.
fn replaced(
    mut document: DocumentMut,
    text: &str,
    servers: &str,
    entry: &Value,
) -> Result<(Option<Value>, String), String> {
    let list = document
        .get_mut(servers)
        .and_then(Item::as_table_like_mut)
        .ok_or_else(|| format!("its `{servers}` is no table"))?;
    let before = list.get(NAME).map(as_json);
    match list.get_mut(NAME).and_then(Item::as_table_mut) {
        // Its place in the file and the comments above it stay.
        Some(there) => {
            there.clear();
            for (name, written) in &table(entry) {
                there.insert(name, written.clone());
            }
        }
        None => _ = list.insert(NAME, Item::Table(table(entry))),
    }
    let new = document.to_string();
    // What writes it ends every line the same way.
    let has_returns = text.contains("\r\n") && !new.contains('\r');
    Ok((before, if has_returns { new.replace('\n', "\r\n") } else { new }))
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
