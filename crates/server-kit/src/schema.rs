//! Schemas in the small part of JSON Schema that every model provider and host understands. Must
//! not know tools.

use std::sync::Arc;

use rmcp::model::JsonObject;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

/// What becomes of "or null" in a schema.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Nulls {
    /// A result says null where it has nothing.
    Kept,
    /// A key may simply be left out.
    LeftOut,
}

/// The arguments of a tool.
///
/// # Errors
/// The type is no struct.
pub fn input<T: JsonSchema + 'static>(nulls: Nulls) -> Result<JsonObject, String> {
    as_arguments(generated::<T>(SchemaSettings::draft2020_12()), nulls)
}

fn as_arguments(schema: Schema, nulls: Nulls) -> Result<JsonObject, String> {
    let schema = bare(schema);
    if schema.get("type") != Some(&json!("object")) {
        return Err("the arguments of a tool must be an object".to_owned());
    }
    Ok(plain(&schema, nulls))
}

/// The structured result of a tool.
pub fn output<T: JsonSchema + 'static>(nulls: Nulls) -> Arc<JsonObject> {
    let schema = generated::<T>(SchemaSettings::draft2020_12().for_serialize());
    Arc::new(plain(&bare(schema), nulls))
}

/// As `rmcp` makes it, without its cache: that keeps two copies of each schema until the process
/// ends, and a server needs them when it lists its tools.
fn generated<T: JsonSchema>(settings: SchemaSettings) -> Schema {
    settings.into_generator().into_root_schema_for::<T>()
}

fn bare(schema: Schema) -> JsonObject {
    let mut schema = match schema.to_value() {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    };
    // The name of a Rust type and what it is for in the code.
    schema.remove("title");
    schema.remove("description");
    schema
}

/// Without the draft's address and the number formats of Rust (`uint64`), which no standard knows
/// and validators warn about; with `properties` in every object, because OpenAI takes no tool
/// without.
fn plain(schema: &JsonObject, nulls: Nulls) -> JsonObject {
    let mut plain = JsonObject::new();
    for (key, value) in schema {
        match (key.as_str(), value) {
            ("$schema", _) => {}
            ("format", Value::String(format)) if is_rust_number(format) => {}
            _ if nulls == Nulls::LeftOut => put_without_null(&mut plain, key, value),
            _ => {
                plain.insert(key.clone(), plain_value(value, nulls));
            }
        }
    }
    if plain.get("type") == Some(&json!("object")) {
        plain.entry("properties").or_insert_with(|| json!({}));
    }
    plain
}

fn put_without_null(plain: &mut JsonObject, key: &str, value: &Value) {
    let kept = match (key, value) {
        ("default", Value::Null) => return,
        ("type", Value::Array(kinds)) => match kinds.as_slice() {
            [one, Value::String(null)] if null == "null" => one.clone(),
            _ => value.clone(),
        },
        ("anyOf", Value::Array(choices)) => match choices.as_slice() {
            [Value::Object(one), null] if null["type"] == "null" => {
                plain.extend(self::plain(one, Nulls::LeftOut));
                return;
            }
            _ => plain_value(value, Nulls::LeftOut),
        },
        ("enum", Value::Array(choices)) => {
            choices.iter().filter(|choice| !choice.is_null()).cloned().collect()
        }
        _ => plain_value(value, Nulls::LeftOut),
    };
    plain.insert(key.to_owned(), kept);
}

fn plain_value(value: &Value, nulls: Nulls) -> Value {
    match value {
        Value::Object(object) => Value::Object(plain(object, nulls)),
        Value::Array(items) => items.iter().map(|item| plain_value(item, nulls)).collect(),
        other => other.clone(),
    }
}

fn is_rust_number(format: &str) -> bool {
    format.starts_with("uint") || format.starts_with("int")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(JsonSchema, serde::Deserialize)]
    #[expect(dead_code, reason = "its schema is looked at")]
    struct Arguments {
        count: Option<u64>,
        #[serde(default)]
        kind: Option<Kind>,
    }

    #[derive(JsonSchema, serde::Deserialize)]
    #[schemars(inline)]
    enum Kind {
        One,
        Two,
    }

    #[derive(JsonSchema, serde::Deserialize)]
    struct Nothing {}

    #[test]
    fn schemas_hold_nothing_that_only_rust_knows_and_null_where_it_is_meant() {
        let arguments = Value::Object(input::<Arguments>(Nulls::LeftOut).unwrap());
        assert_eq!(arguments["properties"]["count"]["type"], "integer");
        assert_eq!(arguments["properties"]["kind"]["enum"], json!(["One", "Two"]));
        let text = arguments.to_string();
        assert!(!["$schema", "uint", "null"].iter().any(|word| text.contains(word)), "{text}");
        let kept = Value::Object(input::<Arguments>(Nulls::Kept).unwrap());
        assert_eq!(kept["properties"]["count"]["type"], json!(["integer", "null"]));
        assert_eq!(input::<Nothing>(Nulls::Kept).unwrap().get("properties"), Some(&json!({})));
    }
}
