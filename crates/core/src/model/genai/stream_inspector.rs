//! Looks at the raw frames that genai also reads, for what it loses or hides: refusals, blocked
//! prompts, errors, tool calls whose index is missing or repeated. Must not know our blocks.

use std::sync::{Mutex, MutexGuard, PoisonError};

use ::genai::chat::{ChatFrameSink, FrameCtx, RawFrameRef};
use serde_json::Value;
use tokio::sync::Notify;

use super::failure;
use super::response_items::ResponseItems;
use super::target::{Target, Wire};
use crate::domain::depth::{LEVELS_MAX, is_deeper_than};
use crate::model::ModelError;

/// The largest number of a tool call or content block in one reply. Real ones have a few dozen.
const INDEX_MAX: u64 = 4096;
pub(super) const CALLS_MAX: usize = INDEX_MAX as usize;
/// The arguments of one tool call, in bytes. `genai` copies what it has of them with each piece.
pub(super) const ARGUMENTS_BYTES_MAX: usize = 1 << 20;

/// Of a frame: arguments may have [`LEVELS_MAX`], and lie a few levels deep in it.
const FRAME_LEVELS_MAX: usize = LEVELS_MAX + 16;

/// A tool call as OpenAI's wires stream it: the raw text of its arguments.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RawCall {
    pub index: Option<u64>,
    pub id: String,
    pub name: String,
    pub arguments: String,
}

/// What the frames of one stream held.
#[derive(Clone, Debug, Default)]
pub(super) struct FramesSeen {
    /// Chat completions only.
    pub calls: Vec<RawCall>,
    /// Reasoning under the one key that providers take back; chat completions only.
    pub reasoning_content: String,
    /// The words of a refusal (chat completions), or why a prompt was blocked (Gemini).
    pub refusal: String,
    /// An error that genai passes over (Ollama).
    pub error: String,
    /// Responses only.
    pub response: ResponseItems,
    /// Ollama's last line.
    pub done: bool,
    /// A frame whose event name does not fit its data: genai would have passed over it.
    pub torn: bool,
    /// All frames so far, in bytes, and their number with those that hold nothing.
    pub bytes: usize,
    pub frames: u64,
    /// Something came that is no frame of the wire, and nothing that is one.
    pub odd: bool,
    /// Why nothing of this reply may be used: half a sentence about what came.
    pub malformed: Option<String>,
    /// A frame with a JSON object has come.
    framed: bool,
    /// The arguments of Anthropic's block that is open, in bytes.
    arguments_bytes: usize,
}

#[derive(Debug)]
pub(super) struct StreamInspector {
    wire: Wire,
    seen: Mutex<FramesSeen>,
    /// Woken when a frame must not be used: `genai` may pass over that frame without an event.
    refused: Notify,
}

impl StreamInspector {
    pub(super) fn new(wire: Wire) -> Self {
        Self { wire, seen: Mutex::default(), refused: Notify::new() }
    }

    /// An error if something has come that must not be used. Each frame is looked at before `genai`
    /// reads it.
    pub(super) fn check(&self, target: &Target) -> Result<(), ModelError> {
        let Some(what) = self.seen().malformed.clone() else { return Ok(()) };
        Err(failure::malformed(&what, target))
    }

    /// Nothing of this reply may be used; `what` was sent.
    pub(super) fn refuse(&self, what: String) {
        self.seen().refuse(what);
        self.refused.notify_one();
    }

    /// Returns once something has come that must not be used. For one waiter.
    pub(super) async fn refused(&self) {
        self.refused.notified().await;
    }

    /// Whether Ollama's wire, which has a JSON object a line, cannot have this one, not even cut.
    fn is_no_line(&self, line: &str) -> bool {
        let line = line.trim();
        self.wire == Wire::Ollama && !line.is_empty() && (line == "{" || !line.starts_with('{'))
    }

    /// Takes what `genai` loses or hides out of a frame, in the order in which frames come.
    fn look(&self, seen: &mut FramesSeen, frame: RawFrameRef<'_>) {
        seen.frames += 1;
        // A page or an object in the place of server-sent events has lines that are neither
        // `event:` nor `data:`.
        seen.odd |= !seen.framed
            && (frame.event.is_none() && frame.data.is_empty() || self.is_no_line(frame.data));
        if frame.data.is_empty() {
            return;
        }
        seen.bytes += frame.data.len();
        let data = match serde_json::from_str::<Value>(frame.data) {
            Ok(data) => data,
            Err(error) => {
                // serde_json has no kind of error for this; it stops at 128 levels.
                if error.to_string().starts_with("recursion limit exceeded") {
                    seen.refuse(too_deep());
                }
                return;
            }
        };
        if is_deeper_than(&data, FRAME_LEVELS_MAX) {
            seen.refuse(too_deep());
            return;
        }
        seen.odd = false;
        seen.framed |= data.is_object();
        match self.wire {
            Wire::Anthropic => {
                seen.anthropic_block(&data);
                // A CR LF that is cut between two chunks makes genai see an event without data and
                // data without an event.
                seen.torn |= frame.event != data.get("type").and_then(Value::as_str);
            }
            Wire::Gemini => {
                if let Some(reason) =
                    data.pointer("/promptFeedback/blockReason").and_then(Value::as_str)
                {
                    reason.clone_into(&mut seen.refusal);
                }
            }
            Wire::Ollama => {
                seen.done |= data.get("done").and_then(Value::as_bool).unwrap_or(false);
                let error = data.get("error");
                if let Some(error) =
                    error.and_then(|error| error.get("message").unwrap_or(error).as_str())
                {
                    error.clone_into(&mut seen.error);
                }
            }
            Wire::OpenAiResponses => seen.responses_event(&data),
            _ => seen.chat_completion_chunk(&data),
        }
    }

    pub(super) fn seen(&self) -> MutexGuard<'_, FramesSeen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChatFrameSink for StreamInspector {
    fn on_frame(&self, _: &FrameCtx, frame: RawFrameRef<'_>) {
        let mut seen = self.seen();
        self.look(&mut seen, frame);
        if seen.malformed.is_some() {
            self.refused.notify_one();
        }
    }
}

impl FramesSeen {
    fn refuse(&mut self, what: String) {
        self.malformed.get_or_insert(what);
    }

    /// Whether a number of a call or block is one that a sane provider sends. What comes next may
    /// make room for all below it.
    fn takes_index(&mut self, index: Option<&Value>) -> bool {
        let fits = index.is_none_or(|index| {
            index.is_null() || index.as_u64().is_some_and(|index| index <= INDEX_MAX)
        });
        if let (false, Some(index)) = (fits, index) {
            let shown: String = index.to_string().chars().take(40).collect();
            self.refuse(format!(
                "a tool call with the number {shown}, where {INDEX_MAX} is the most"
            ));
        }
        fits
    }

    fn anthropic_block(&mut self, data: &Value) {
        self.takes_index(data.get("index"));
        if data.get("content_block").is_some() {
            self.arguments_bytes = 0;
        }
        let piece = data.pointer("/delta/partial_json").and_then(Value::as_str).unwrap_or_default();
        self.arguments_bytes += piece.len();
        if self.arguments_bytes > ARGUMENTS_BYTES_MAX {
            self.refuse(too_long_arguments());
        }
    }

    fn responses_event(&mut self, data: &Value) {
        if let Err(why) = self.response.take(data) {
            self.refuse(why);
        }
        self.response.refusal.clone_into(&mut self.refusal);
    }

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

    /// A piece opens a new call when its index is new, or when it brings another id than the call
    /// at that index has: some servers count every parallel call as index 0, some leave the index
    /// out.
    fn piece_of_call(&mut self, piece: &Value) {
        if !self.takes_index(piece.get("index")) {
            return;
        }
        if self.calls.len() as u64 > INDEX_MAX {
            self.refuse(format!("more than {INDEX_MAX} tool calls"));
            return;
        }
        let text =
            |pointer: &str| piece.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let (id, name) = (text("/id"), text("/function/name"));
        let index = piece.get("index").and_then(Value::as_u64);
        let known = match index {
            Some(_) => self.calls.iter_mut().rev().find(|call| call.index == index),
            None => self.calls.last_mut(),
        };
        let continues = |call: &RawCall| {
            let same_id = id.is_empty() || id == call.id;
            // Whole calls that share an empty or repeated id are told apart by bringing a name
            // again without an index.
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
        if call.arguments.len() > ARGUMENTS_BYTES_MAX {
            self.refuse(too_long_arguments());
        }
    }
}

fn too_deep() -> String {
    format!("JSON that is nested more than {FRAME_LEVELS_MAX} levels deep")
}

pub(super) fn too_long_arguments() -> String {
    format!("a tool call whose arguments are longer than {} MiB", ARGUMENTS_BYTES_MAX >> 20)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn calls(pieces: Vec<Value>) -> Vec<(String, String, String)> {
        let mut seen = FramesSeen::default();
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
        let whole =
            |id: &str, args: &str| json!({"id": id, "function": {"name": "f", "arguments": args}});
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
