//! An answer of a server that is no result: an error, of a call or of its task, or a refusal before the
//! call was read. Must not know how it came here.

use claw_domain::ToolOutput;
use serde_json::Value;

use super::call::{Beside, CallEnd};
use super::output::bounded;

/// The answer that carried a JSON-RPC error instead of a result, for example -32602 for an unknown
/// tool (trap 14).
pub(super) fn read_error(
    server: &str,
    code: i32,
    message: &str,
    data: Option<&Value>,
    bytes_max: usize,
) -> CallEnd {
    let mut text =
        format!("The server `{server}` refused the call: {message} (JSON-RPC error {code}).");
    match code {
        -32602 => text.push_str(" Check the tool's name and its arguments against its schema."),
        -32601 => text.push_str(" It does not know this kind of request."),
        _ => {}
    }
    if let Some(data) = data.filter(|data| !data.is_null()) {
        text.push_str(&format!(" Details: {data}"));
    }
    let output = ToolOutput { text, is_error: true, ..ToolOutput::default() };
    CallEnd::Ended(bounded(output, bytes_max), Beside::default())
}

/// A task that has ended with a JSON-RPC error. What it had done by then stays done.
pub(super) fn read_failure(server: &str, error: &Value, bytes_max: usize) -> CallEnd {
    let message = error.get("message").and_then(Value::as_str).unwrap_or("it says no reason");
    let code = error.get("code").and_then(Value::as_i64).unwrap_or(-32603);
    let text =
        format!("The task of the server `{server}` failed: {message} (JSON-RPC error {code}).");
    let output = ToolOutput { text, is_error: true, ..ToolOutput::default() };
    CallEnd::Ended(bounded(output, bytes_max), Beside::default())
}

/// The server said no before it read the call: by HTTP's own status.
pub(super) fn read_refusal(server: &str, reason: &str) -> CallEnd {
    let text = format!("The server `{server}` refused the call: {reason}.");
    let output = ToolOutput { text, is_error: true, ..ToolOutput::default() };
    CallEnd::Ended(output, Beside::default())
}
