//! The call by which claw fetches what a message names. Must not know who names it, or what
//! comes of it.

use serde_json::json;

use crate::domain::{CallId, Named, Origin, ToolCall};
use crate::hub::Method;

/// The call for one name.
pub fn call_of_name(id: CallId, named: &Named, origin: Origin, principal: &str) -> ToolCall {
    let (method, arguments) = match named {
        Named::Resource { uri, .. } => (Method::ReadResource, json!({ "uri": uri })),
        Named::Prompt { name, arguments, .. } => {
            (Method::GetPrompt, json!({"name": name, "arguments": arguments}))
        }
    };
    ToolCall {
        id,
        server: named.server().to_owned(),
        tool: method.as_str().to_owned(),
        arguments,
        origin,
        principal: principal.to_owned(),
    }
}
