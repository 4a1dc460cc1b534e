//! The schemas of the tools; a result says null where it has nothing. Must not know tools.

use std::sync::Arc;

use claw_server_kit::schema::{self, Nulls};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde_json::Value;

/// The arguments of a tool.
pub fn input<T: JsonSchema + 'static>() -> Result<Arc<JsonObject>, String> {
    Ok(Arc::new(schema::input::<T>(Nulls::Kept)?))
}

/// The arguments of a tool without one of them, which means nothing on this system.
pub fn input_without<T: JsonSchema + 'static>(name: &str) -> Result<Arc<JsonObject>, String> {
    let mut schema = schema::input::<T>(Nulls::Kept)?;
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.remove(name);
    }
    Ok(Arc::new(schema))
}

/// Puts these words in the place of what a schema says of one of its arguments.
pub fn describe(schema: &mut JsonObject, name: &str, words: String) {
    if let Some(Value::Object(argument)) =
        schema.get_mut("properties").and_then(|p| p.get_mut(name))
    {
        argument.insert("description".to_owned(), Value::String(words));
    }
}

/// The structured result of a tool.
pub fn output<T: JsonSchema + 'static>() -> Arc<JsonObject> {
    schema::output::<T>(Nulls::Kept)
}
