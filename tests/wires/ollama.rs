//! Ollama's own `/api/chat` wire: what a request must be, and what a stream looks like (one JSON
//! object a line).

use serde_json::{Value, json};

use super::{Stop, Turn, array, halves, require, text};

pub fn check(path: &str, body: &Value) -> Result<(), String> {
    require(path == "/api/chat", format!("no such path: {path}"))?;
    let mut open = 0;
    for message in array(body, "messages")? {
        match text(message, "role")? {
            "tool" => {
                require(open > 0, "a tool message without its call")?;
                text(message, "content")?;
                open -= 1;
            }
            role => {
                require(open == 0, "a tool call without its answer")?;
                if role == "assistant" {
                    open = message.get("tool_calls").and_then(Value::as_array).map_or(0, Vec::len);
                }
            }
        }
    }
    require(open == 0, "a tool call without its answer")
}

pub fn frames(turn: &Turn) -> Vec<String> {
    let line =
        |message: Value| format!("{}\n", json!({"model": "m", "message": message, "done": false}));
    let mut out = Vec::new();
    if !turn.text.is_empty() {
        let (head, tail) = halves(&turn.text);
        for piece in [head, tail] {
            out.push(line(json!({"role": "assistant", "content": piece})));
        }
    }
    for call in &turn.calls {
        let arguments: Value =
            serde_json::from_str(&call.arguments).unwrap_or(Value::String(call.arguments.clone()));
        let call = json!({"function": {"name": call.name, "arguments": arguments}});
        out.push(line(json!({"role": "assistant", "content": "", "tool_calls": [call]})));
    }
    let reason = if turn.stop == Stop::MaxTokens { "length" } else { "stop" };
    let last = json!({"model": "m", "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": reason,
        "prompt_eval_count": 127, "prompt_eval_cached_count": 100, "eval_count": 30});
    out.push(format!("{last}\n"));
    out
}
