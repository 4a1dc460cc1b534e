//! What a tool gave back, reduced to what a model and the log can hold. Must not know how it came here.

use serde_json::Value;

use super::call::CallEnd;
use super::wire::cut;
use crate::domain::ToolOutput;

/// Reads the raw result of a `tools/call` (2026-07-28 `CallToolResult` and `InputRequiredResult`; older ones are subsets).
/// Texts are kept up to `bytes_max`, in bytes, and cut visibly; other content is described by its kind and size.
pub(super) fn read_result(raw: &Value, bytes_max: usize) -> CallEnd {
    if raw.get("resultType").and_then(Value::as_str) == Some("input_required") {
        return CallEnd::InputRequired {
            requests: raw.get("inputRequests").cloned().unwrap_or_default(),
            state: raw.get("requestState").and_then(Value::as_str).map(str::to_owned),
        };
    }
    if raw.get("content").is_none() && raw.get("task").is_some_and(Value::is_object) {
        let reason = "the server made a task of the call, and tasks are not supported yet; it may still be running";
        return CallEnd::Unknown { reason: reason.to_owned() };
    }
    let structured = raw.get("structuredContent").filter(|value| !value.is_null()).cloned();
    let mut text = match raw.get("content").and_then(Value::as_array) {
        Some(blocks) => blocks.iter().map(describe_block).collect::<Vec<_>>().join("\n"),
        None if structured.is_some() => String::new(),
        // The revision before 2024-11-05, or an answer of no known shape: better shown than lost.
        None => raw.to_string(),
    };
    if text.is_empty()
        && let Some(structured) = &structured
    {
        text = structured.to_string();
    }
    let is_error = raw.get("isError").and_then(Value::as_bool).unwrap_or(false);
    CallEnd::Ended(bounded(ToolOutput { text, structured, is_error }, bytes_max))
}

/// The answer that carried a JSON-RPC error instead of a result, for example -32602 for an unknown tool (trap 14).
pub(super) fn read_error(server: &str, code: i32, message: &str, data: Option<&Value>, bytes_max: usize) -> CallEnd {
    let mut text = format!("The server `{server}` refused the call: {message} (JSON-RPC error {code}).");
    match code {
        -32602 => text.push_str(" Check the tool's name and its arguments against its schema."),
        -32601 => text.push_str(" It does not know this kind of request."),
        _ => {}
    }
    if let Some(data) = data.filter(|data| !data.is_null()) {
        text.push_str(&format!(" Details: {data}"));
    }
    CallEnd::Ended(bounded(ToolOutput { text, structured: None, is_error: true }, bytes_max))
}

fn describe_block(block: &Value) -> String {
    let text_of = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default();
    match text_of("type") {
        "text" => text_of("text").to_owned(),
        kind @ ("image" | "audio") => {
            format!("[{kind}, {}, {} bytes]", text_of("mimeType"), base64_bytes(text_of("data")))
        }
        "resource" => describe_resource(block.get("resource").unwrap_or(&Value::Null)),
        "resource_link" => format!("[link to the resource {} ({})]", text_of("uri"), text_of("name")),
        other => format!("[content of the unknown kind `{other}`]"),
    }
}

fn describe_resource(resource: &Value) -> String {
    let text_of = |key: &str| resource.get(key).and_then(Value::as_str);
    let uri = text_of("uri").unwrap_or_default();
    match (text_of("text"), text_of("blob")) {
        (Some(text), _) => format!("[resource {uri}]\n{text}"),
        (None, Some(blob)) => {
            let mime = text_of("mimeType").unwrap_or("application/octet-stream");
            format!("[resource {uri}, {mime}, {} bytes]", base64_bytes(blob))
        }
        (None, None) => format!("[resource {uri}]"),
    }
}

/// The length of what is encoded (RFC 4648 section 4), without decoding it.
fn base64_bytes(encoded: &str) -> usize {
    encoded.trim_end_matches('=').len() * 3 / 4
}

fn bounded(mut output: ToolOutput, bytes_max: usize) -> ToolOutput {
    let whole = output.text.len();
    if whole > bytes_max {
        let end = cut(&output.text, bytes_max).len();
        output.text.truncate(end);
        output.text.push_str(&format!("\n[cut by claw: the first {end} of {whole} bytes]"));
    }
    let structured_bytes = output.structured.as_ref().map_or(0, |value| value.to_string().len());
    if structured_bytes > bytes_max {
        output.structured = None;
        output.text.push_str(&format!("\n[left out by claw: structured content of {structured_bytes} bytes]"));
    }
    output
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn ended(raw: &Value) -> ToolOutput {
        match read_result(raw, 1000) {
            CallEnd::Ended(output) => output,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_kind_of_content_leaves_a_trace() {
        let output = ended(&json!({"content": [
            {"type": "text", "text": "a"},
            {"type": "image", "mimeType": "image/png", "data": "AAAA"},
            {"type": "resource", "resource": {"uri": "f:x", "text": "inside"}},
            {"type": "resource", "resource": {"uri": "f:y", "blob": "AAA="}},
            {"type": "resource_link", "uri": "f:z", "name": "zed"},
            {"type": "hologram"},
        ], "isError": true}));
        let expected = "a\n[image, image/png, 3 bytes]\n[resource f:x]\ninside\n\
            [resource f:y, application/octet-stream, 2 bytes]\n[link to the resource f:z (zed)]\n\
            [content of the unknown kind `hologram`]";
        assert_eq!(output.text, expected);
        assert!(output.is_error);
    }

    #[test]
    fn structured_content_stands_in_for_missing_text() {
        let output = ended(&json!({"content": [], "structuredContent": {"n": 1}}));
        assert_eq!((output.text.as_str(), output.structured), (r#"{"n":1}"#, Some(json!({"n": 1}))));
        assert_eq!(ended(&json!({"toolResult": 5})).text, r#"{"toolResult":5}"#);
    }

    #[test]
    fn a_cut_is_visible_and_keeps_characters_whole() {
        let raw = json!({"content": [{"type": "text", "text": "ä".repeat(10)}], "structuredContent": "x".repeat(20)});
        let CallEnd::Ended(output) = read_result(&raw, 5) else { panic!() };
        let expected = "ää\n[cut by claw: the first 4 of 20 bytes]\n[left out by claw: structured content of 22 bytes]";
        assert_eq!(output.text, expected);
        assert_eq!(output.structured, None);
    }

    #[test]
    fn rounds_and_tasks_are_no_results() {
        let round = json!({"resultType": "input_required", "inputRequests": {"a": {}}, "requestState": "s"});
        let expected = CallEnd::InputRequired { requests: json!({"a": {}}), state: Some("s".into()) };
        assert_eq!(read_result(&round, 10), expected);
        assert!(matches!(read_result(&json!({"task": {"taskId": "1"}}), 10), CallEnd::Unknown { .. }));
    }
}
