//! OpenAI's Responses: what a request must be, and what a stream looks like. Nothing is kept at the
//! provider (`store` is false), so reasoning goes back as it came.

use std::collections::HashSet;

use axum::http::HeaderMap;
use serde_json::{Map, Value, json};

use super::{Stop, Turn, Wire, array, halves, require, strict, text};

/// What a model has thought, as only OpenAI can read it.
pub const REASONING: &str = "c2lnLXJlYXNvbmluZw==";

/// The parameters that a request may have, of those that OpenAI has documented.
const PARAMETERS: [&str; 13] = [
    "model",
    "input",
    "instructions",
    "stream",
    "store",
    "tools",
    "tool_choice",
    "temperature",
    "top_p",
    "max_output_tokens",
    "include",
    "reasoning",
    "prompt_cache_key",
];

pub fn check(path: &str, headers: &HeaderMap, body: &Value) -> Result<(), String> {
    require(path == "/v1/responses", format!("no such path: {path}"))?;
    let bearer = headers.get("authorization").and_then(|v| v.to_str().ok()).unwrap_or_default();
    require(bearer.starts_with("Bearer "), "authorization is missing")?;
    for name in body.as_object().into_iter().flat_map(Map::keys) {
        require(PARAMETERS.contains(&name.as_str()), format!("Unknown parameter: '{name}'."))?;
    }
    require(body["stream"] == json!(true), "stream")?;
    require(body["store"] == json!(false), "what is said is to be kept at the provider")?;
    require(
        body["reasoning"]["summary"].is_null(),
        "Your organization must be verified to generate reasoning summaries.",
    )?;
    let include = &body["include"];
    require(include.is_null() || *include == json!(["reasoning.encrypted_content"]), "include")?;
    input(array(body, "input")?)?;
    tools(body)
}

/// Each call has one output behind it, and each reasoning what came of it.
fn input(items: &[Value]) -> Result<(), String> {
    require(!items.is_empty(), "input is empty")?;
    let mut open: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    let mut thought = false;
    for (place, item) in items.iter().enumerate() {
        let kind = item["type"].as_str().unwrap_or("message");
        let role = item["role"].as_str().unwrap_or_default();
        let is_models = kind == "function_call" || (kind, role) == ("message", "assistant");
        require(
            !thought || is_models || kind == "reasoning",
            format!(
                "input[{place}]: item of type 'reasoning' was provided without its required following item"
            ),
        )?;
        thought = kind == "reasoning";
        match kind {
            "function_call" => open.push(call(item, place, &mut seen)?),
            "function_call_output" => {
                let id = text(item, "call_id")?;
                text(item, "output")?;
                let known = open.iter().position(|one| one == id);
                let known = known.ok_or(format!(
                    "No tool call found for function call output with call_id {id}."
                ))?;
                open.remove(known);
                continue;
            }
            "reasoning" => {
                require(
                    item["encrypted_content"] == REASONING,
                    "The encrypted content could not be verified.",
                )?;
                require(item["summary"].is_array(), "summary")?;
            }
            "message" => message(item, role, place)?,
            other => return Err(format!("input[{place}]: type {other}")),
        }
        require(
            open.is_empty() || is_models || kind == "reasoning",
            format!("No tool output found for function call {open:?}."),
        )?;
    }
    require(!thought, "reasoning at the end")?;
    require(open.is_empty(), format!("No tool output found for function call {open:?}."))
}

fn message(item: &Value, role: &str, place: usize) -> Result<(), String> {
    let part = match role {
        "system" => {
            require(place == 0, "system must be first")?;
            "input_text"
        }
        "user" => "input_text",
        "assistant" => "output_text",
        other => return Err(format!("role {other}")),
    };
    match &item["content"] {
        Value::String(words) => require(!words.is_empty(), format!("input[{place}] is empty")),
        Value::Array(parts) => {
            require(!parts.is_empty(), format!("input[{place}] is empty"))?;
            parts.iter().try_for_each(|one| match text(one, "type")? {
                "input_image" if role == "user" => {
                    let url = text(one, "image_url")?;
                    require(url.starts_with("data:image/"), format!("image_url: {url:.20}"))
                }
                kind if kind == part => {
                    require(!text(one, "text")?.is_empty(), format!("input[{place}]: empty text"))
                }
                kind => Err(format!("Invalid value: '{kind}'. Supported values are: '{part}'.")),
            })
        }
        other => Err(format!("input[{place}].content: {other}")),
    }
}

fn call(item: &Value, place: usize, seen: &mut HashSet<String>) -> Result<String, String> {
    let (id, name) = (text(item, "call_id")?, text(item, "name")?);
    require(!id.is_empty() && id.len() <= 64, format!("input[{place}].call_id: {id:?}"))?;
    require(seen.insert(id.to_owned()), format!("call_id repeated: {id}"))?;
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    require(!name.is_empty() && name.chars().all(legal), format!("input[{place}].name: {name:?}"))?;
    let arguments: Value =
        serde_json::from_str(text(item, "arguments")?).map_err(|e| format!("arguments: {e}"))?;
    require(arguments.is_object(), "arguments must be an object")?;
    Ok(id.to_owned())
}

/// The definitions as chat completions have them, which the same rules are for.
pub fn as_chat_completions(body: &Value) -> Value {
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    let tools = tools.into_iter().map(|tool| json!({"type": "function", "function": tool}));
    json!({"tools": tools.collect::<Vec<_>>()})
}

fn tools(body: &Value) -> Result<(), String> {
    for tool in body["tools"].as_array().into_iter().flatten() {
        require(tool["type"] == "function" && tool["function"].is_null(), "tools")?;
        let name = text(tool, "name")?;
        // Strict is what a function is without a word here: every property is required then.
        let parameters = &tool["parameters"];
        let named = parameters["properties"].as_object().map_or(0, Map::len);
        let required = parameters["required"].as_array().map_or(0, Vec::len);
        let is_strict = parameters["additionalProperties"] == json!(false) && named == required;
        require(
            tool["strict"] == json!(false) || is_strict,
            format!(
                "Invalid schema for function '{name}': In context=(), 'additionalProperties' is required to be supplied and to be false."
            ),
        )?;
    }
    strict::tools(Wire::Responses, body)
}

/// The events of one response, with their numbers and items.
struct Events {
    out: Vec<String>,
    items: Vec<Value>,
}

impl Events {
    fn push(&mut self, kind: &str, mut data: Value) {
        data["type"] = json!(kind);
        data["sequence_number"] = json!(self.out.len());
        self.out.push(format!("event: {kind}\ndata: {data}\n\n"));
    }

    fn item(&mut self, begun: Value, between: &[(&str, Value)], done: Value) {
        let index = self.items.len();
        self.push("response.output_item.added", json!({"output_index": index, "item": begun}));
        for (kind, data) in between {
            let mut data = data.clone();
            data["output_index"] = json!(index);
            data["item_id"] = done["id"].clone();
            self.push(kind, data);
        }
        self.push(
            "response.output_item.done",
            json!({"output_index": index, "item": done.clone()}),
        );
        self.items.push(done);
    }

    fn reasoning(&mut self) {
        let begun = json!({"id": "rs_1", "type": "reasoning", "summary": []});
        let done = json!({"id": "rs_1", "type": "reasoning", "summary": [],
            "encrypted_content": REASONING});
        self.item(begun, &[], done);
    }

    fn message(&mut self, part: Value, deltas: &[(&str, Value)]) {
        let begun = json!({"id": "msg_1", "type": "message", "role": "assistant",
            "status": "in_progress", "content": []});
        let done = json!({"id": "msg_1", "type": "message", "role": "assistant",
            "status": "completed", "content": [part]});
        self.item(begun, deltas, done);
    }

    fn call(&mut self, call: &super::Call) {
        let item = |arguments: &str, status: &str| {
            json!({"id": format!("fc_{}", call.id), "type": "function_call", "call_id": call.id,
                "name": call.name, "arguments": arguments, "status": status})
        };
        let (head, tail) = halves(&call.arguments);
        let kind = "response.function_call_arguments.delta";
        let between = [
            (kind, json!({"delta": head})),
            (kind, json!({"delta": tail})),
            ("response.function_call_arguments.done", json!({"arguments": call.arguments})),
        ];
        self.item(item("", "in_progress"), &between, item(&call.arguments, "completed"));
    }
}

pub fn frames(turn: &Turn) -> Vec<String> {
    let mut events = Events { out: Vec::new(), items: Vec::new() };
    let begun = json!({"id": "resp_1", "status": "in_progress", "model": "m", "output": []});
    events.push("response.created", json!({"response": begun}));
    if !turn.calls.is_empty() {
        events.reasoning();
    }
    if turn.stop == Stop::Refusal {
        let words = "I cannot help with that.";
        let kind = "response.refusal.delta";
        events.message(
            json!({"type": "refusal", "refusal": words}),
            &[(kind, json!({"delta": words}))],
        );
    }
    if !turn.text.is_empty() {
        let (head, tail) = halves(&turn.text);
        let kind = "response.output_text.delta";
        let part = json!({"type": "output_text", "text": turn.text, "annotations": []});
        let deltas = [
            ("response.content_part.added", json!({"content_index": 0, "part": {}})),
            (kind, json!({"content_index": 0, "delta": head})),
            (kind, json!({"content_index": 0, "delta": tail})),
            ("response.output_text.done", json!({"content_index": 0, "text": turn.text})),
        ];
        events.message(part, &deltas);
    }
    turn.calls.iter().for_each(|call| events.call(call));
    let usage = json!({"input_tokens": 127, "input_tokens_details": {"cached_tokens": 100},
        "output_tokens": 30, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 157});
    let mut response = json!({"id": "resp_1", "status": "completed", "model": "m",
        "output": events.items, "usage": usage});
    if turn.stop == Stop::MaxTokens {
        response["status"] = json!("incomplete");
        response["incomplete_details"] = json!({"reason": "max_output_tokens"});
        events.push("response.incomplete", json!({"response": response}));
    } else {
        events.push("response.completed", json!({"response": response}));
    }
    events.out
}
