//! Looks at the raw frames that genai also reads, for what it loses or hides: refusals, blocked prompts, errors, tool calls
//! whose index is missing or repeated. Must not know our blocks.

use std::sync::{Mutex, MutexGuard, PoisonError};

use ::genai::chat::{ChatFrameSink, FrameCtx, RawFrameRef};
use serde_json::Value;

use super::target::Wire;

/// A tool call as chat completions stream it: the raw text of its arguments.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RawCall {
    index: Option<u64>,
    pub id: String,
    pub name: String,
    pub arguments: String,
}

/// What the frames of one stream held.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// Chat completions only.
    pub calls: Vec<RawCall>,
    /// Reasoning under the one key that providers take back; chat completions only.
    pub reasoning_content: String,
    /// The words of a refusal (chat completions), or why a prompt was blocked (Gemini).
    pub refusal: String,
    /// An error that genai passes over (Ollama).
    pub error: String,
    /// Ollama's last line.
    pub done: bool,
    /// A frame whose event name does not fit its data: genai would have passed over it.
    pub torn: bool,
    /// All frames so far.
    pub bytes: usize,
}

#[derive(Debug)]
pub(super) struct Witness {
    wire: Wire,
    seen: Mutex<Seen>,
}

impl Witness {
    pub(super) fn new(wire: Wire) -> Self {
        Self { wire, seen: Mutex::default() }
    }

    pub(super) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChatFrameSink for Witness {
    fn on_frame(&self, _: &FrameCtx, frame: RawFrameRef<'_>) {
        if frame.data.is_empty() {
            return;
        }
        let mut seen = self.seen();
        seen.bytes += frame.data.len();
        let Ok(data) = serde_json::from_str::<Value>(frame.data) else { return };
        match self.wire {
            Wire::Anthropic => {
                // A CR LF that is cut between two chunks makes genai see an event without data and data without an event.
                seen.torn |= frame.event != data.get("type").and_then(Value::as_str);
            }
            Wire::Gemini => {
                if let Some(reason) = data.pointer("/promptFeedback/blockReason").and_then(Value::as_str) {
                    reason.clone_into(&mut seen.refusal);
                }
            }
            Wire::Ollama => {
                seen.done |= data.get("done").and_then(Value::as_bool).unwrap_or(false);
                if let Some(error) = data.get("error").and_then(Value::as_str) {
                    error.clone_into(&mut seen.error);
                }
            }
            _ => seen.chat_completion_chunk(&data),
        }
    }
}

impl Seen {
    fn chat_completion_chunk(&mut self, data: &Value) {
        let Some(delta) = data.pointer("/choices/0/delta") else { return };
        if let Some(text) = delta.get("refusal").and_then(Value::as_str) {
            self.refusal.push_str(text);
        }
        if let Some(text) = delta.get("reasoning_content").and_then(Value::as_str) {
            self.reasoning_content.push_str(text);
        }
        for call in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.piece_of_call(call);
        }
    }

    /// A piece opens a new call when its index is new, or when it brings another id than the call at that index has: some
    /// servers count every parallel call as index 0, some leave the index out.
    fn piece_of_call(&mut self, piece: &Value) {
        let text = |pointer: &str| piece.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let (id, name) = (text("/id"), text("/function/name"));
        let index = piece.get("index").and_then(Value::as_u64);
        let known = match index {
            Some(_) => self.calls.iter_mut().rev().find(|call| call.index == index),
            None => self.calls.last_mut(),
        };
        let continues = |call: &RawCall| {
            let same_id = id.is_empty() || id == call.id;
            // Whole calls that share an empty or repeated id are told apart by bringing a name again without an index.
            same_id && (index.is_some() || name.is_empty())
        };
        let call = match known {
            Some(call) if continues(call) => call,
            _ => {
                self.calls.push(RawCall { index, id: id.to_owned(), ..RawCall::default() });
                let Some(call) = self.calls.last_mut() else { return };
                call
            }
        };
        if call.name.is_empty() {
            name.clone_into(&mut call.name);
        }
        match piece.pointer("/function/arguments") {
            Some(Value::String(arguments)) => call.arguments.push_str(arguments),
            // Not what the wire says, but what some servers send: the object itself.
            Some(object @ Value::Object(_)) => call.arguments.push_str(&object.to_string()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn calls(pieces: Vec<Value>) -> Vec<(String, String, String)> {
        let mut seen = Seen::default();
        for piece in pieces {
            seen.chat_completion_chunk(&json!({"choices": [{"delta": {"tool_calls": [piece]}}]}));
        }
        seen.calls.into_iter().map(|call| (call.id, call.name, call.arguments)).collect()
    }

    fn want(rows: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
        rows.iter().map(|(a, b, c)| (a.to_string(), b.to_string(), c.to_string())).collect()
    }

    #[test]
    fn calls_are_put_together_from_pieces() {
        let got = calls(vec![
            json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}),
            json!({"index": 1, "id": "b", "function": {"name": "f", "arguments": "{\"x\""}}),
            json!({"index": 0, "function": {"arguments": "{}"}}),
            json!({"index": 1, "function": {"arguments": ":1}"}}),
        ]);
        assert_eq!(got, want(&[("a", "f", "{}"), ("b", "f", "{\"x\":1}")]));
    }

    #[test]
    fn an_index_that_is_repeated_missing_or_starts_late_loses_no_call() {
        let whole = |id: &str, args: &str| json!({"id": id, "function": {"name": "f", "arguments": args}});
        let at = |index: u64, id: &str, args: &str| json!({"index": index, "id": id, "function": {"name": "f", "arguments": args}});
        let two = want(&[("a", "f", "{\"x\":1}"), ("b", "f", "{\"x\":2}")]);
        assert_eq!(calls(vec![at(0, "a", "{\"x\":1}"), at(0, "b", "{\"x\":2}")]), two);
        assert_eq!(calls(vec![whole("a", "{\"x\":1}"), whole("b", "{\"x\":2}")]), two);
        assert_eq!(calls(vec![at(1, "a", "{\"x\":1}"), at(2, "b", "{\"x\":2}")]), two);
        let same = calls(vec![whole("", "{\"x\":1}"), whole("", "{\"x\":2}")]);
        assert_eq!(same, want(&[("", "f", "{\"x\":1}"), ("", "f", "{\"x\":2}")]));
        let repeated = calls(vec![at(0, "a", "{\"x\":1}"), at(1, "a", "{\"x\":2}")]);
        assert_eq!(repeated, want(&[("a", "f", "{\"x\":1}"), ("a", "f", "{\"x\":2}")]));
    }
}
