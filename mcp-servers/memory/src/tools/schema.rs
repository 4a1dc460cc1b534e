//! Schemas in the small part of JSON Schema that every model provider and host understands. Must
//! not know tools.

use rmcp::model::JsonObject;
use serde_json::Value;

/// Without the draft's address and the number formats of Rust (`uint64`), which no standard knows
/// and validators warn about, and without "or null" where a key may simply be left out.
pub fn plain(schema: &JsonObject) -> JsonObject {
    let mut plain = JsonObject::new();
    for (key, value) in schema {
        match (key.as_str(), value) {
            ("$schema", _) | ("default", Value::Null) => {}
            ("format", Value::String(format)) if is_rust_number(format) => {}
            ("type", _) => {
                plain.insert(key.clone(), without_null(value));
            }
            ("anyOf", Value::Array(choices)) => match choices.as_slice() {
                [Value::Object(one), null] if null["type"] == "null" => {
                    plain.extend(self::plain(one));
                }
                _ => {
                    plain.insert(key.clone(), plain_value(value));
                }
            },
            ("enum", Value::Array(choices)) => {
                let choices = choices.iter().filter(|choice| !choice.is_null()).cloned();
                plain.insert(key.clone(), choices.collect());
            }
            _ => {
                plain.insert(key.clone(), plain_value(value));
            }
        }
    }
    plain
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
