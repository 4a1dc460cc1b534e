//! Gemini's `streamGenerateContent` wire (v1beta): what a request must be, and what a stream looks
//! like.

use axum::http::HeaderMap;
use serde_json::{Value, json};

use super::{Stop, Turn, Wire, array, halves, require, strict, text};

pub fn check(path: &str, headers: &HeaderMap, body: &Value) -> Result<(), String> {
    let streams =
        path.starts_with("/v1beta/models/") && path.ends_with(":streamGenerateContent?alt=sse");
    require(streams, format!("no such path: {path}"))?;
    require(headers.contains_key("x-goog-api-key"), "x-goog-api-key is missing")?;
    let mut open: Vec<(String, String)> = Vec::new();
    let contents = array(body, "contents")?;
    require(
        contents.first().is_some_and(|c| c["role"] == "user"),
        "contents must start with the user's",
    )?;
    for (index, content) in contents.iter().enumerate() {
        let parts = array(content, "parts")?;
        require(!parts.is_empty(), format!("contents.{index}: parts are empty"))?;
        let responses: Vec<&Value> =
            parts.iter().filter_map(|part| part.get("functionResponse")).collect();
        if !open.is_empty() {
            let given: Vec<(String, String)> = responses
                .iter()
                .map(|one| {
                    Ok((
                        text(one, "name")?.to_owned(),
                        one["id"].as_str().unwrap_or_default().to_owned(),
                    ))
                })
                .collect::<Result<_, String>>()?;
            require(
                given == open,
                format!("contents.{index}: responses {given:?} for calls {open:?}"),
            )?;
            require(responses.len() == parts.len(), "function responses must stand alone")?;
            open.clear();
            continue;
        }
        require(
            responses.is_empty(),
            format!("contents.{index}: a function response without its call"),
        )?;
        match text(content, "role")? {
            "user" => {}
            "model" => open = calls(parts)?,
            other => return Err(format!("role {other}")),
        }
    }
    require(open.is_empty(), "function calls without responses")?;
    strict::tools(Wire::Gemini, body)
}

/// Name and id of each call; the signature of the first must be the one it was given.
fn calls(parts: &[Value]) -> Result<Vec<(String, String)>, String> {
    let mut open = Vec::new();
    for part in parts {
        let Some(call) = part.get("functionCall") else { continue };
        require(call["args"].is_object(), "functionCall.args must be an object")?;
        if open.is_empty() {
            require(
                part["thoughtSignature"] == "c2lnLWNhbGw=",
                "the first call lost its thoughtSignature",
            )?;
        } else {
            require(
                part.get("thoughtSignature").is_none(),
                "a signature is on a call that had none",
            )?;
        }
        open.push((
            text(call, "name")?.to_owned(),
            call["id"].as_str().unwrap_or_default().to_owned(),
        ));
    }
    Ok(open)
}

pub fn frame(data: &Value) -> String {
    format!("data: {data}\r\n\r\n")
}

pub fn frames(turn: &Turn) -> Vec<String> {
    let candidate = |parts: Value| json!({"candidates": [{"content": {"parts": parts, "role": "model"}, "index": 0}], "modelVersion": "m"});
    let mut out = Vec::new();
    if !turn.text.is_empty() {
        let (head, tail) = halves(&turn.text);
        for piece in [head, tail] {
            out.push(frame(&candidate(json!([{"text": piece}]))));
        }
    }
    for (index, call) in turn.calls.iter().enumerate() {
        let arguments: Value =
            serde_json::from_str(&call.arguments).unwrap_or(Value::String(call.arguments.clone()));
        let mut part = json!({"functionCall": {"name": call.name, "args": arguments}});
        if !call.id.is_empty() {
            part["functionCall"]["id"] = json!(call.id);
        }
        if index == 0 {
            part["thoughtSignature"] = json!("c2lnLWNhbGw=");
        }
        out.push(frame(&candidate(json!([part]))));
    }
    let reason = match turn.stop {
        Stop::Natural => "STOP",
        Stop::MaxTokens => "MAX_TOKENS",
        Stop::Refusal => "SAFETY",
    };
    let mut last = candidate(json!([{"text": ""}]));
    last["candidates"][0]["finishReason"] = json!(reason);
    last["usageMetadata"] = json!({"promptTokenCount": 127, "cachedContentTokenCount": 100, "candidatesTokenCount": 20,
        "thoughtsTokenCount": 10, "totalTokenCount": 157});
    out.push(frame(&last));
    out
}
