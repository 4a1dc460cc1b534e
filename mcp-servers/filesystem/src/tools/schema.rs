//! Schemas in the small part of JSON Schema that every model provider and host understands. Must
//! not know tools.

use rmcp::model::JsonObject;
use serde_json::Value;

/// Without the draft's address and the number formats of Rust (`uint64`), which no standard knows
/// and validators warn about, and without "or null" where a key may simply be left out.
pub fn plain(schema: &JsonObject) -> JsonObject {
    schema
        .iter()
        .filter(|(key, value)| match key.as_str() {
            "$schema" => false,
            "format" => !value.as_str().is_some_and(is_rust_number),
            "default" => !value.is_null(),
            _ => true,
        })
        .map(|(key, value)| {
            (key.clone(), if key == "type" { without_null(value) } else { plain_value(value) })
        })
        .collect()
}

fn plain_value(value: &Value) -> Value {
    match value {
        Value::Object(object) => Value::Object(plain(object)),
        Value::Array(items) => Value::Array(items.iter().map(plain_value).collect()),
        other => other.clone(),
    }
}

fn is_rust_number(format: &str) -> bool {
    format.starts_with("uint") || format.starts_with("int")
}

fn without_null(kind: &Value) -> Value {
    match kind {
        Value::Array(kinds) => match kinds.as_slice() {
            [one, Value::String(null)] if null == "null" => one.clone(),
            _ => kind.clone(),
        },
        // A property that is called `type`.
        other => plain_value(other),
    }
}
