//! The Anthropic Messages wire (API version 2023-06-01): what a request must be, and what a stream
//! looks like.

use std::collections::HashSet;

use axum::http::HeaderMap;
use serde_json::{Value, json};

use super::{Stop, Turn, Wire, array, halves, require, strict, text};

pub fn check(path: &str, headers: &HeaderMap, body: &Value) -> Result<(), String> {
    require(path == "/v1/messages", format!("no such path: {path}"))?;
    require(headers.contains_key("x-api-key"), "x-api-key is missing")?;
    require(
        headers.get("anthropic-version").is_some_and(|v| v == "2023-06-01"),
        "anthropic-version",
    )?;
    require(body["stream"] == json!(true), "stream")?;
    require(body["max_tokens"].as_u64().is_some_and(|n| n > 0), "max_tokens is required")?;
    let messages = array(body, "messages")?;
    require(
        messages.first().is_some_and(|m| m["role"] == "user"),
        "the first message must be the user's",
    )?;
    let mut seen: HashSet<String> = HashSet::new();
    let mut open: Vec<String> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let role = text(message, "role")?;
        let expected = if index % 2 == 0 { "user" } else { "assistant" };
        require(role == expected, format!("messages.{index}: roles must alternate"))?;
        let blocks = blocks(message, index)?;
        if role == "assistant" {
            open = assistant(&blocks, &mut seen)?;
        } else {
            user(&blocks, &std::mem::take(&mut open), index)?;
        }
    }
    require(open.is_empty(), "tool_use without tool_result at the end")?;
    require(
        messages.last().is_some_and(|m| m["role"] == "user"),
        "the last message must be the user's",
    )?;
    strict::tools(Wire::Anthropic, body)
}

fn blocks(message: &Value, index: usize) -> Result<Vec<Value>, String> {
    let blocks = match &message["content"] {
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        Value::Array(blocks) => blocks.clone(),
        other => return Err(format!("messages.{index}.content: {other}")),
    };
    require(!blocks.is_empty(), format!("messages.{index}: content is empty"))?;
    for block in &blocks {
        if block["type"] == "text" {
            require(
                !text(block, "text")?.trim().is_empty(),
                "text content blocks must be non-empty",
            )?;
        }
    }
    Ok(blocks)
}

fn assistant(blocks: &[Value], seen: &mut HashSet<String>) -> Result<Vec<String>, String> {
    let mut open = Vec::new();
    let mut after_thinking = false;
    for block in blocks {
        match text(block, "type")? {
            "thinking" => {
                require(!after_thinking, "thinking must lead")?;
                require(
                    block["signature"] == "c2lnbmF0dXJl",
                    "thinking: the signature was changed",
                )?;
                require(block["thinking"] == "hm", "thinking: the text was changed")?;
            }
            "text" => after_thinking = true,
            "tool_use" => {
                after_thinking = true;
                let id = text(block, "id")?;
                let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
                require(!id.is_empty() && id.chars().all(legal), format!("tool_use.id: {id:?}"))?;
                let name = text(block, "name")?;
                require(
                    !name.is_empty() && name.chars().all(legal),
                    format!("tool_use.name: {name:?}"),
                )?;
                require(
                    seen.insert(id.to_owned()),
                    format!("`tool_use` ids must be unique: {id}"),
                )?;
                require(block["input"].is_object(), "tool_use.input must be an object")?;
                open.push(id.to_owned());
            }
            other => return Err(format!("assistant block of type {other}")),
        }
    }
    Ok(open)
}

/// Results come first, one for each use, in the order of the uses.
fn user(blocks: &[Value], open: &[String], index: usize) -> Result<(), String> {
    let is_result = |block: &&Value| block["type"] == "tool_result";
    let answered: Vec<&str> = blocks
        .iter()
        .take_while(is_result)
        .map(|block| text(block, "tool_use_id"))
        .collect::<Result<_, _>>()?;
    require(
        answered == open,
        format!("messages.{index}: tool_results {answered:?} do not answer tool_uses {open:?}"),
    )?;
    require(
        !blocks.iter().skip(answered.len()).any(|b| b["type"] == "tool_result"),
        "tool_result after other content",
    )
}

fn event(kind: &str, mut data: Value) -> String {
    data["type"] = json!(kind);
    format!("event: {kind}\ndata: {data}\n\n")
}

pub fn thinking_frames() -> Vec<String> {
    vec![
        event(
            "content_block_start",
            json!({"index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
        ),
        event(
            "content_block_delta",
            json!({"index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}}),
        ),
        event(
            "content_block_delta",
            json!({"index": 0, "delta": {"type": "signature_delta", "signature": "c2lnbmF0dXJl"}}),
        ),
        event("content_block_stop", json!({"index": 0})),
    ]
}

pub fn frames(turn: &Turn) -> Vec<String> {
    let usage = json!({"input_tokens": 7, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 100, "output_tokens": 1});
    let start = json!({"message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
        "stop_reason": null, "usage": usage}});
    let mut out = vec![event("message_start", start), event("ping", json!({}))];
    let mut index = 0;
    if !turn.calls.is_empty() {
        out.extend(thinking_frames());
        index += 1;
    }
    if !turn.text.is_empty() {
        out.push(event(
            "content_block_start",
            json!({"index": index, "content_block": {"type": "text", "text": ""}}),
        ));
        let (head, tail) = halves(&turn.text);
        for piece in [head, tail] {
            out.push(event(
                "content_block_delta",
                json!({"index": index, "delta": {"type": "text_delta", "text": piece}}),
            ));
        }
        out.push(event("content_block_stop", json!({"index": index})));
        index += 1;
    }
    for call in &turn.calls {
        let block = json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}});
        out.push(event("content_block_start", json!({"index": index, "content_block": block})));
        let (head, tail) = halves(&call.arguments);
        for piece in ["", head, tail] {
            let delta = json!({"type": "input_json_delta", "partial_json": piece});
            out.push(event("content_block_delta", json!({"index": index, "delta": delta})));
        }
        out.push(event("content_block_stop", json!({"index": index})));
        index += 1;
    }
    let reason = match turn.stop {
        Stop::Natural if turn.calls.is_empty() => "end_turn",
        Stop::Natural => "tool_use",
        Stop::MaxTokens => "max_tokens",
        Stop::Refusal => "refusal",
    };
    let delta = json!({"delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 30}});
    out.push(event("message_delta", delta));
    out.push(event("message_stop", json!({})));
    out
}
