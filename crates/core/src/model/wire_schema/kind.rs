//! Which types a schema allows, as one `type`: those that it names, those that it implies. Must not
//! know references, tools or requests.

use serde_json::{Map, Value, json};

pub(super) const KINDS: [&str; 7] =
    ["string", "number", "integer", "boolean", "object", "array", "null"];

/// The `type`, in words that JSON Schema knows.
pub(super) fn kind(given: &Map<String, Value>, out: &mut Map<String, Value>) {
    let mut kinds: Vec<&str> = Vec::new();
    let named = match given.get("type") {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    for name in named {
        if let Some(kind) = known_kind(name)
            && !kinds.contains(&kind)
        {
            kinds.push(kind);
        }
    }
    if kinds.is_empty() {
        kinds.extend(implied_kind(given, out));
    }
    match kinds.as_slice() {
        [] => {}
        [one] => {
            out.insert("type".to_owned(), json!(one));
        }
        several => {
            out.insert("type".to_owned(), json!(several));
        }
    }
}

/// The part of a schema that is about one of its types.
pub(super) fn about_kind(schema: &Map<String, Value>, kind: &str) -> Map<String, Value> {
    let is_about = |key: &str| match key {
        "properties" | "required" | "additionalProperties" => kind == "object",
        "items" | "minItems" | "maxItems" => kind == "array",
        "minimum" | "maximum" => matches!(kind, "number" | "integer"),
        "format" => kind == "string",
        _ => false,
    };
    let mut out: Map<String, Value> = schema
        .iter()
        .filter(|(key, _)| is_about(key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    out.insert("type".to_owned(), json!(kind));
    match kind {
        "object" => drop(out.entry("properties").or_insert_with(|| json!({}))),
        "array" => drop(out.entry("items").or_insert_with(|| json!({"type": "string"}))),
        _ => {}
    }
    if let Some(Value::Array(choices)) = schema.get("enum") {
        let fits = |choice: &&Value| match kind {
            "string" => choice.is_string(),
            "number" => choice.is_number(),
            "integer" => choice.is_i64() || choice.is_u64(),
            _ => false,
        };
        let choices: Vec<&Value> = choices.iter().filter(fits).collect();
        if !choices.is_empty() {
            out.insert("enum".to_owned(), json!(choices));
        }
    }
    out
}

/// Words for types in other languages and drafts.
fn known_kind(name: &str) -> Option<&'static str> {
    let lower = name.to_ascii_lowercase();
    KINDS.into_iter().find(|kind| *kind == lower).or(match lower.as_str() {
        "str" | "text" | "date" | "datetime" | "file" => Some("string"),
        "int" | "long" => Some("integer"),
        "float" | "double" | "decimal" => Some("number"),
        "bool" => Some("boolean"),
        "dict" | "map" => Some("object"),
        "list" | "tuple" | "set" => Some("array"),
        "none" => Some("null"),
        _ => None,
    })
}

/// The type of a schema that names none, where its other keywords leave no doubt.
fn implied_kind(given: &Map<String, Value>, out: &Map<String, Value>) -> Option<&'static str> {
    let has = |keys: &[&str]| keys.iter().any(|key| given.contains_key(*key));
    if has(&["properties", "additionalProperties", "patternProperties"])
        || given.get("required").is_some_and(Value::is_array) && !has(&["anyOf", "oneOf"])
    {
        return Some("object");
    }
    if has(&["items", "prefixItems"]) {
        return Some("array");
    }
    let choices = out.get("enum").and_then(Value::as_array)?;
    choices.iter().all(Value::is_string).then_some("string")
}

pub(super) fn is_of_kind(schema: &Map<String, Value>, kind: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(one)) => one == kind,
        Some(Value::Array(several)) => several.iter().any(|one| one == kind),
        _ => false,
    }
}
