//! What the host says of whoever asks, in `_meta` beside the arguments that a model writes. Must
//! not know what a host says, or what a server does with it.

use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;

/// What stands under this key of `_meta`; `None` where the host does not say it.
///
/// # Errors
/// What is not understood is refused: a server would take one who asks for another.
pub fn source_of<T: DeserializeOwned>(meta: &JsonObject, key: &str) -> Result<Option<T>, String> {
    let Some(said) = meta.get(key) else { return Ok(None) };
    serde_json::from_value(said.clone())
        .map(Some)
        .map_err(|error| format!("`_meta` holds a `{key}` that this server does not know: {error}"))
}
