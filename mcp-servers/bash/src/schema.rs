//! Schemas in the small part of JSON Schema that every model provider and host understands. Must
//! not know tools.

use std::sync::Arc;

use rmcp::handler::server::common::{schema_for_input, schema_for_output};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde_json::{Value, json};

/// The arguments of a tool.
pub fn input<T: JsonSchema + 'static>() -> Result<Arc<JsonObject>, String> {
    Ok(Arc::new(plain(&*schema_for_input::<T>()?)))
}

/// The arguments of a tool without one of them, which means nothing on this system.
pub fn input_without<T: JsonSchema + 'static>(name: &str) -> Result<Arc<JsonObject>, String> {
    let mut schema = plain(&*schema_for_input::<T>()?);
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.remove(name);
    }
    Ok(Arc::new(schema))
}

/// The structured result of a tool.
pub fn output<T: JsonSchema + 'static>() -> Arc<JsonObject> {
    Arc::new(plain(&schema_for_output::<T>()))
}

/// Without the draft's address and the number formats of Rust (`uint64`), which no standard knows;
/// with `properties` in every object, because OpenAI takes no tool without.
fn plain(schema: &JsonObject) -> JsonObject {
    let mut schema: JsonObject = schema
        .iter()
        .filter(|(key, value)| match key.as_str() {
            "$schema" => false,
            "format" => !value.as_str().is_some_and(is_rust_number),
            _ => true,
        })
        .map(|(key, value)| (key.clone(), plain_value(value)))
        .collect();
    if schema.get("type") == Some(&json!("object")) {
        schema.entry("properties").or_insert_with(|| json!({}));
    }
    schema
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job_tools::{JobResult, ListArguments};

    #[test]
    fn schemas_hold_nothing_that_only_rust_knows() {
        let empty = input::<ListArguments>().unwrap();
        assert_eq!(empty.get("properties"), Some(&json!({})), "{empty:?}");
        for schema in [empty, input::<crate::tool::RunArguments>().unwrap(), output::<JobResult>()]
        {
            let text = Value::Object((*schema).clone()).to_string();
            assert!(!text.contains("$schema") && !text.contains("uint"), "{text}");
        }
    }
}
