//! What the server of `task_rig` says: its form, its result, and an event of a stream. Must not
//! know when it is said.

use axum::body::Bytes;
use serde_json::{Value, json};

use crate::task_rig::RELATED;

pub fn form(task: Option<&str>) -> Value {
    let schema = json!({"type": "object", "properties": {"sure": {"type": "boolean"}},
        "required": ["sure"]});
    let mut form = json!({"message": "Sure?", "requestedSchema": schema});
    if let Some(task) = task {
        form["_meta"] = json!({RELATED: {"taskId": task}});
    }
    form
}

pub fn done(task: Option<&str>) -> Value {
    let mut done = json!({"content": [{"type": "text", "text": "dug a hole"}]});
    if let Some(task) = task {
        done["_meta"] = json!({RELATED: {"taskId": task}});
    }
    done
}

pub fn event(message: &Value) -> Result<Bytes, std::io::Error> {
    Ok(Bytes::from(format!("event: message\ndata: {message}\n\n")))
}
