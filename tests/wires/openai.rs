//! The OpenAI chat completions wire: what a request must be, and what a stream looks like.

use std::collections::HashSet;

use axum::http::HeaderMap;
use serde_json::{Value, json};

use super::{Stop, Turn, Wire, array, halves, require, strict, text};

pub fn check(path: &str, headers: &HeaderMap, body: &Value) -> Result<(), String> {
    require(path == "/v1/chat/completions", format!("no such path: {path}"))?;
    let bearer = headers.get("authorization").and_then(|v| v.to_str().ok()).unwrap_or_default();
    require(bearer.starts_with("Bearer "), "authorization is missing")?;
    require(body["stream"] == json!(true), "stream")?;
    require(body["stream_options"]["include_usage"] == json!(true), "usage is not asked for")?;
    let messages = array(body, "messages")?;
    let mut open: Vec<String> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let role = text(message, "role")?;
        if role == "tool" {
            let id = text(message, "tool_call_id")?;
            text(message, "content")?;
            let expected = (!open.is_empty()).then(|| open.remove(0));
            require(
                expected.as_deref() == Some(id),
                format!("messages.{index}: tool message {id} where {expected:?} was expected"),
            )?;
            continue;
        }
        require(
            open.is_empty(),
            format!("messages.{index}: tool_calls without answers: {open:?}"),
        )?;
        match role {
            "system" => require(index == 0, "system must be first")?,
            "user" => require(!message["content"].is_null(), "content")?,
            "assistant" => open = assistant(message)?,
            other => return Err(format!("role {other}")),
        }
    }
    require(open.is_empty(), format!("tool_calls without answers: {open:?}"))?;
    for tool in body.get("tools").and_then(Value::as_array).into_iter().flatten() {
        require(tool["type"] == "function" && tool["function"]["parameters"].is_object(), "tools")?;
    }
    takes_tools(body)?;
    strict::tools(Wire::OpenAi, body)
}

/// Models that reason without being told to take no tools here.
fn takes_tools(body: &Value) -> Result<(), String> {
    let model = body["model"].as_str().unwrap_or_default();
    let reasons = ["gpt-5.5", "gpt-5.6"].iter().any(|name| model.starts_with(name));
    let has_tools = body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    require(
        !(reasons && has_tools) || body["reasoning_effort"] == "none",
        format!(
            "Function tools with reasoning_effort are not supported for {model} in \
             /v1/chat/completions. To use function tools, use /v1/responses or set \
             reasoning_effort to 'none'."
        ),
    )
}

fn assistant(message: &Value) -> Result<Vec<String>, String> {
    let mut ids = Vec::new();
    let mut seen = HashSet::new();
    for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
        let id = text(call, "id")?;
        require(!id.is_empty() && id.len() <= 40, format!("tool_calls.id: {id:?}"))?;
        require(seen.insert(id), format!("tool_calls.id repeated: {id}"))?;
        let arguments = text(&call["function"], "arguments")?;
        let parsed: Value =
            serde_json::from_str(arguments).map_err(|e| format!("arguments: {e}"))?;
        require(parsed.is_object(), "arguments must be an object")?;
        require(!text(&call["function"], "name")?.is_empty(), "name")?;
        ids.push(id.to_owned());
    }
    let empty = message["content"].as_str().is_none_or(str::is_empty);
    require(!(empty && ids.is_empty()), "an assistant message without content or tool_calls")?;
    Ok(ids)
}

pub fn chunk(delta: Value, finish: Value) -> String {
    let data = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], "usage": null});
    format!("data: {data}\n\n")
}

pub fn frames(turn: &Turn) -> Vec<String> {
    let mut out = vec![chunk(json!({"role": "assistant", "content": ""}), Value::Null)];
    if turn.stop == Stop::Refusal {
        out.push(chunk(json!({"refusal": "I cannot "}), Value::Null));
        out.push(chunk(json!({"refusal": "help with that."}), Value::Null));
    }
    if !turn.text.is_empty() {
        let (head, tail) = halves(&turn.text);
        for piece in [head, tail] {
            out.push(chunk(json!({"content": piece}), Value::Null));
        }
    }
    for (index, call) in turn.calls.iter().enumerate() {
        let first = json!({"index": index, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""}});
        out.push(chunk(json!({"tool_calls": [first]}), Value::Null));
        let (head, tail) = halves(&call.arguments);
        for piece in [head, tail] {
            out.push(chunk(
                json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}),
                Value::Null,
            ));
        }
    }
    let reason = match turn.stop {
        Stop::Natural | Stop::Refusal if turn.calls.is_empty() => "stop",
        Stop::Natural | Stop::Refusal => "tool_calls",
        Stop::MaxTokens => "length",
    };
    out.push(chunk(json!({}), json!(reason)));
    let usage = json!({"prompt_tokens": 127, "completion_tokens": 30, "total_tokens": 157,
        "prompt_tokens_details": {"cached_tokens": 100}});
    let last = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [], "usage": usage});
    out.push(format!("data: {last}\n\n"));
    out.push("data: [DONE]\n\n".into());
    out
}
