//! What the events of OpenAI's Responses hold, item by item and in their order: text, calls, and
//! the reasoning that goes back with the next request. `genai` keeps neither the order nor why a
//! response has failed. Must not know our blocks.

use serde_json::Value;

use super::stream_inspector::{ARGUMENTS_BYTES_MAX, CALLS_MAX, RawCall, too_long_arguments};

/// An item of a response.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    Text(String),
    /// As OpenAI has encrypted it.
    Reasoning(String),
    Call(RawCall),
}

/// What the events of one response held so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ResponseItems {
    pub all: Vec<Item>,
    /// The words of a refusal, or why a response was cut off for what it says.
    pub refusal: String,
    /// The error object of a response that has failed.
    pub failed: Option<Value>,
    /// The arguments of the item that is open, in bytes.
    arguments_bytes: usize,
}

impl ResponseItems {
    /// Takes an event in. An error says why nothing of this response may be used.
    pub(super) fn take(&mut self, event: &Value) -> Result<(), String> {
        match event.get("type").and_then(Value::as_str).unwrap_or_default() {
            "response.output_item.added" => self.arguments_bytes = 0,
            "response.function_call_arguments.delta" => {
                self.arguments_bytes += text(event, "/delta").len();
                if self.arguments_bytes > ARGUMENTS_BYTES_MAX {
                    return Err(too_long_arguments());
                }
            }
            "response.output_item.done" => {
                if let Some(item) = event.get("item") {
                    return self.item(item);
                }
            }
            "response.completed" => return self.output(event),
            "response.incomplete" => {
                self.output(event)?;
                let why = text(event, "/response/incomplete_details/reason");
                if why == "content_filter" {
                    why.clone_into(&mut self.refusal);
                }
            }
            "response.failed" => self.failed = event.pointer("/response/error").cloned(),
            _ => {}
        }
        Ok(())
    }

    /// The end holds the whole once more, with what was lost on the way. Some who speak like OpenAI
    /// leave it out there, and some have sent it nowhere else.
    fn output(&mut self, event: &Value) -> Result<(), String> {
        let output = event.pointer("/response/output").and_then(Value::as_array);
        let Some(output) = output.filter(|output| !output.is_empty()) else { return Ok(()) };
        self.all.clear();
        self.refusal.clear();
        output.iter().try_for_each(|item| self.item(item))
    }

    fn item(&mut self, item: &Value) -> Result<(), String> {
        let new = match text(item, "/type") {
            "message" => Item::Text(self.message(item)),
            "reasoning" => Item::Reasoning(text(item, "/encrypted_content").to_owned()),
            "function_call" => {
                let arguments = text(item, "/arguments").to_owned();
                if arguments.len() > ARGUMENTS_BYTES_MAX {
                    return Err(too_long_arguments());
                }
                let (id, name) =
                    (text(item, "/call_id").to_owned(), text(item, "/name").to_owned());
                Item::Call(RawCall { index: None, id, name, arguments })
            }
            _ => return Ok(()),
        };
        if self.all.len() >= CALLS_MAX {
            return Err(format!("more than {CALLS_MAX} items"));
        }
        if !matches!(&new, Item::Text(text) | Item::Reasoning(text) if text.is_empty()) {
            self.all.push(new);
        }
        Ok(())
    }

    /// The text of a message. A refusal in it is noted.
    fn message(&mut self, item: &Value) -> String {
        let parts = item.get("content").and_then(Value::as_array).into_iter().flatten();
        let mut words = String::new();
        for part in parts {
            match text(part, "/type") {
                "output_text" => words.push_str(text(part, "/text")),
                "refusal" => self.refusal.push_str(text(part, "/refusal")),
                _ => {}
            }
        }
        words
    }
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn taken(events: &[Value]) -> ResponseItems {
        let mut items = ResponseItems::default();
        for event in events {
            items.take(event).unwrap();
        }
        items
    }

    fn done(item: Value) -> Value {
        json!({"type": "response.output_item.done", "output_index": 0, "item": item})
    }

    fn call(arguments: &str) -> Value {
        json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": arguments})
    }

    #[test]
    fn items_are_kept_in_their_order_and_none_twice() {
        let reasoning =
            |blob: &str| json!({"type": "reasoning", "encrypted_content": blob, "summary": []});
        let message = json!({"type": "message", "content": [
            {"type": "output_text", "text": "Look"}, {"type": "output_text", "text": "ing."}]});
        let items = [reasoning("one"), message, reasoning("two"), reasoning(""), call("{}")];
        let ends = |output: &[Value]| json!({"type": "response.completed", "response": {"output": output}});
        let events: Vec<Value> = items.iter().cloned().map(done).collect();
        let raw = RawCall { index: None, id: "c".into(), name: "f".into(), arguments: "{}".into() };
        let wanted = [
            Item::Reasoning("one".into()),
            Item::Text("Looking.".into()),
            Item::Reasoning("two".into()),
            Item::Call(raw),
        ];
        assert_eq!(taken(&events).all, wanted);
        for before in [&events[..], &events[..2], &[]] {
            let whole = [before, &[ends(&items)]].concat();
            assert_eq!(taken(&whole).all, wanted, "the end has what was lost on the way");
        }
        let without = [&events[..], &[ends(&[])]].concat();
        assert_eq!(taken(&without).all, wanted, "and says nothing where it is empty");
    }

    #[test]
    fn a_refusal_a_filter_and_a_failure_are_noted() {
        let refusal =
            json!({"type": "message", "content": [{"type": "refusal", "refusal": "No."}]});
        assert_eq!(taken(&[done(refusal)]).refusal, "No.");
        let cut = |reason: &str| {
            json!({"type": "response.incomplete",
            "response": {"incomplete_details": {"reason": reason}}})
        };
        assert_eq!(taken(&[cut("content_filter")]).refusal, "content_filter");
        assert_eq!(taken(&[cut("max_output_tokens")]).refusal, "");
        let error = json!({"code": "server_error", "message": "Sorry."});
        let failed = json!({"type": "response.failed", "response": {"error": error}});
        assert_eq!(taken(&[failed]).failed, Some(error));
    }

    #[test]
    fn arguments_without_an_end_are_refused() {
        let piece =
            json!({"type": "response.function_call_arguments.delta", "delta": "x".repeat(1 << 19)});
        let opened = json!({"type": "response.output_item.added", "item": {}});
        let mut items = taken(&[piece.clone(), opened, piece.clone(), piece.clone()]);
        assert!(items.take(&piece).is_err());
        let long = "x".repeat(ARGUMENTS_BYTES_MAX + 1);
        assert!(ResponseItems::default().take(&done(call(&long))).is_err());
    }
}
