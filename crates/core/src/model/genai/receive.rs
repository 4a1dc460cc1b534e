//! From genai's events to our reply. Owns what counts as a finish, and ids that are unique within a
//! reply. Must not know HTTP.

use std::collections::HashSet;

use ::genai::chat::{
    ChatStreamEvent, ContentPart, StopReason, StreamEnd, ToolCall, Usage as WireUsage,
};
use serde_json::{Value, json};

use super::response_items::Item;
use super::stream_inspector::{RawCall, StreamInspector};
use super::target::{Target, Wire};
use super::{failure, seconds};
use crate::domain::depth::is_too_deep;
use crate::domain::{Block, Finish, ToolUse, Usage};
use crate::model::wire_schema::Fitted;
use crate::model::{Delta, DeltaSink, ModelError, Reply};

/// The type of an opaque block that holds what OpenAI gives back its models of their reasoning.
pub(super) const REASONING: &str = "reasoning";

/// Collects one stream.
pub(super) struct Receiver<'a> {
    target: &'a Target,
    inspector: &'a StreamInspector,
    /// Gives calls the names back under which their tools are offered.
    fitted: &'a Fitted,
    /// In the order in which they came; Anthropic's calls and thoughts are taken from the end event
    /// instead.
    blocks: Vec<Block>,
    /// Gemini's signatures that wait for the call or text they belong to.
    signatures: Vec<String>,
}

impl<'a> Receiver<'a> {
    pub(super) fn new(
        target: &'a Target,
        inspector: &'a StreamInspector,
        fitted: &'a Fitted,
    ) -> Self {
        Self { target, inspector, fitted, blocks: Vec::new(), signatures: Vec::new() }
    }

    /// The reply, once the end event is there.
    pub(super) fn take(
        &mut self,
        event: ChatStreamEvent,
        deltas: &mut DeltaSink<'_>,
    ) -> Result<Option<Reply>, ModelError> {
        match event {
            ChatStreamEvent::Start | ChatStreamEvent::Heartbeat => {}
            ChatStreamEvent::Chunk(chunk) => {
                self.text(&chunk.content);
                deltas(Delta::Text(chunk.content));
            }
            ChatStreamEvent::ReasoningChunk(chunk) => deltas(Delta::Reasoning(chunk.content)),
            ChatStreamEvent::ThoughtSignatureChunk(chunk) => self.signatures.push(chunk.content),
            // Gemini and Ollama send whole calls; the others send pieces, which are put together
            // elsewhere.
            ChatStreamEvent::ToolCallChunk(chunk) => {
                if matches!(self.target.wire, Wire::Gemini | Wire::Ollama) {
                    self.whole_call(chunk.tool_call);
                }
            }
            ChatStreamEvent::End(end) => return self.finish(end).map(Some),
        }
        Ok(None)
    }

    /// An error event is final, but for the frames of Gemini that hold no candidate: either the
    /// prompt was blocked, or the frame only counts tokens and more will come.
    pub(super) fn after_error(
        &mut self,
        error: &::genai::Error,
    ) -> Result<Option<Reply>, ModelError> {
        let hollow = matches!(error, ::genai::Error::ChatResponse { body, .. } if body.get("error").is_none());
        if self.target.wire == Wire::Gemini && hollow {
            let refusal = self.inspector.seen().refusal.clone();
            if refusal.is_empty() {
                return Ok(None);
            }
            return Ok(Some(self.reply(
                Vec::new(),
                Finish::Refusal { reason: refusal },
                Usage::default(),
            )));
        }
        if let Some(failed) = &self.inspector.seen().response.failed {
            return Err(failure::in_stream(failed, self.target));
        }
        Err(failure::of(error, self.target))
    }

    /// The stream ended and nothing said that the reply did.
    pub(super) fn cut(&self) -> ModelError {
        let error = self.inspector.seen().error.clone();
        if !error.is_empty() {
            return failure::in_stream(&Value::String(error), self.target);
        }
        ModelError::transient(format!(
            "{} closed the stream in the middle of its reply",
            self.target.provider
        ))
    }

    fn text(&mut self, piece: &str) {
        match self.blocks.last_mut() {
            Some(Block::Text { text }) => text.push_str(piece),
            _ => self.blocks.push(Block::Text { text: piece.to_owned() }),
        }
    }

    fn whole_call(&mut self, call: ToolCall) {
        let own = call.thought_signatures.and_then(|signatures| signatures.into_iter().next());
        if let Some(signature) = own {
            self.signatures.retain(|waiting| *waiting != signature);
            self.blocks
                .push(self.opaque(json!({"type": "call_signature", "signature": signature})));
        }
        self.blocks.push(tool_use(call.call_id, call.fn_name, call.fn_arguments));
    }

    fn opaque(&self, data: Value) -> Block {
        Block::Opaque { provider: self.target.provider.clone(), data: Box::new(data) }
    }

    fn finish(&mut self, end: StreamEnd) -> Result<Reply, ModelError> {
        if self.inspector.seen().torn {
            return Err(ModelError::transient(format!(
                "{} sent a frame that is torn",
                self.target.provider
            )));
        }
        let reason = match end.captured_stop_reason {
            Some(reason) => reason,
            None if self.inspector.seen().done => StopReason::Completed("done".to_owned()),
            None => return Err(self.cut()),
        };
        let usage = usage(end.captured_usage.unwrap_or_default());
        let mut blocks = self
            .collect(end.captured_content.map(|content| content.into_parts()).unwrap_or_default());
        let visible =
            |block: &Block| !matches!(block, Block::Text { text } if text.trim().is_empty());
        blocks.retain(visible);
        unique_ids(&mut blocks);
        for block in &mut blocks {
            if let Block::ToolUse(call) = block {
                self.fitted.take_back(call);
            }
        }
        let calls = blocks.iter().any(|block| matches!(block, Block::ToolUse(_)));
        let finish = self.classify(&reason, calls)?;
        Ok(self.reply(blocks, finish, usage))
    }

    fn reply(&self, blocks: Vec<Block>, finish: Finish, usage: Usage) -> Reply {
        let (provider, model) = (self.target.provider.clone(), self.target.model.clone());
        Reply { blocks, finish, usage, provider, model, notice: None }
    }

    fn collect(&mut self, parts: Vec<ContentPart>) -> Vec<Block> {
        if self.target.wire == Wire::Anthropic {
            return self.anthropic(parts);
        }
        if self.target.wire == Wire::OpenAiResponses {
            return self.responses();
        }
        let mut blocks = std::mem::take(&mut self.blocks);
        for signature in std::mem::take(&mut self.signatures) {
            blocks.push(self.opaque(json!({"type": "text_signature", "signature": signature})));
        }
        let seen = self.inspector.seen();
        if !seen.reasoning_content.is_empty() {
            let data = json!({"type": "reasoning_content", "text": seen.reasoning_content});
            blocks.insert(0, self.opaque(data));
        }
        for call in &seen.calls {
            blocks.push(raw_call(call));
        }
        blocks
    }

    /// Items in their order: reasoning goes back before what it was for. Of a reply that was cut
    /// off in the middle of its text, only the pieces came.
    fn responses(&mut self) -> Vec<Block> {
        let seen = self.inspector.seen();
        let mut blocks: Vec<Block> = seen
            .response
            .all
            .iter()
            .map(|item| match item {
                Item::Text(text) => Block::Text { text: text.clone() },
                Item::Reasoning(encrypted) => self.opaque(json!({
                    "type": REASONING, "model": self.target.model, "encrypted_content": encrypted,
                })),
                Item::Call(call) => raw_call(call),
            })
            .collect();
        if !seen.response.all.iter().any(|item| matches!(item, Item::Text(_))) {
            drop(seen);
            let said = std::mem::take(&mut self.blocks);
            let calls = blocks.iter().position(|block| matches!(block, Block::ToolUse(_)));
            let at = calls.unwrap_or(blocks.len());
            blocks.splice(at..at, said);
        }
        blocks
    }

    /// Thinking comes as pairs of signature and text, and goes back as Anthropic wrote it.
    fn anthropic(&self, parts: Vec<ContentPart>) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut parts = parts.into_iter().peekable();
        while let Some(part) = parts.next() {
            match part {
                ContentPart::ThoughtSignature(signature) => {
                    let thinking = match parts
                        .next_if(|next| matches!(next, ContentPart::ReasoningContent(_)))
                    {
                        Some(ContentPart::ReasoningContent(text)) => text,
                        _ => String::new(),
                    };
                    let data =
                        json!({"type": "thinking", "thinking": thinking, "signature": signature});
                    blocks.push(self.opaque(data));
                }
                ContentPart::Custom(custom) => blocks.push(self.opaque(custom.data)),
                ContentPart::Text(text) => blocks.push(Block::Text { text }),
                ContentPart::ToolCall(call) => {
                    blocks.push(tool_use(call.call_id, call.fn_name, call.fn_arguments))
                }
                ContentPart::ReasoningContent(_)
                | ContentPart::Binary(_)
                | ContentPart::ToolResponse(_) => {}
            }
        }
        blocks
    }

    fn classify(&self, reason: &StopReason, calls: bool) -> Result<Finish, ModelError> {
        let refusal = self.inspector.seen().refusal.clone();
        Ok(match reason {
            _ if !refusal.is_empty() => Finish::Refusal { reason: refusal },
            StopReason::MaxTokens(_) => Finish::MaxTokens,
            StopReason::ContentFilter(word) => Finish::Refusal { reason: word.clone() },
            StopReason::Other(word) if is_failure(word) => {
                return Err(ModelError::transient(format!(
                    "{} broke off with `{word}`",
                    self.target.provider
                )));
            }
            StopReason::ToolCall(_) if !calls => {
                let who = &self.target.provider;
                return Err(ModelError::transient(format!(
                    "{who} announced a tool call and sent none"
                )));
            }
            _ if calls => Finish::ToolUse,
            _ => Finish::Complete,
        })
    }
}

/// Words that end a reply and mean that something went wrong on the provider's side.
fn is_failure(word: &str) -> bool {
    const WORDS: [&str; 10] = [
        "error",
        "failed",
        "cancelled",
        "insufficient_system_resource",
        "load",
        "unload",
        "other",
        "malformed_function_call",
        "unexpected_tool_call",
        "finish_reason_unspecified",
    ];
    WORDS.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// A call whose arguments came as text.
fn raw_call(call: &RawCall) -> Block {
    let input = if call.arguments.trim().is_empty() {
        json!({})
    } else {
        serde_json::from_str(&call.arguments)
            .unwrap_or_else(|_| Value::String(call.arguments.clone()))
    };
    tool_use(call.id.clone(), call.name.clone(), input)
}

/// Arguments are an object, or they are broken: genai leaves what it cannot parse as a string, and
/// what is nested too deep could not be read back.
fn tool_use(id: String, name: String, input: Value) -> Block {
    let (input, broken_input) = match input {
        deep if is_too_deep(&deep) => (json!({}), Some(deep.to_string())),
        Value::Object(_) => (input, None),
        Value::Null => (json!({}), None),
        Value::String(raw) => (json!({}), Some(raw)),
        other => (json!({}), Some(other.to_string())),
    };
    Block::ToolUse(Box::new(ToolUse { id, name, input, broken_input }))
}

/// Some providers send no id, some use one for all parallel calls.
fn unique_ids(blocks: &mut [Block]) {
    let mut used: HashSet<String> = HashSet::new();
    let mut number = 0;
    for block in blocks {
        let Block::ToolUse(one) = block else { continue };
        let given = one.id.clone();
        while one.id.is_empty() || used.contains(&one.id) {
            number += 1;
            one.id = match given.strip_prefix("call#").and_then(|rest| rest.rsplit_once('#')) {
                // genai's stand-in for Gemini's missing ids, which it takes off again by its form.
                Some((name, _)) => format!("call#{name}#{number}"),
                None if given.is_empty() => format!("call_{number}"),
                None => format!("{given}-{number}"),
            };
        }
        used.insert(one.id.clone());
    }
}

/// genai has already added Anthropic's cached tokens to its input tokens.
fn usage(usage: WireUsage) -> Usage {
    let count =
        |tokens: Option<i32>| tokens.and_then(|tokens| u64::try_from(tokens).ok()).unwrap_or(0);
    let details = usage.prompt_tokens_details.unwrap_or_default();
    Usage {
        input_tokens: count(usage.prompt_tokens),
        output_tokens: count(usage.completion_tokens),
        cached_tokens: count(details.cached_tokens),
        cache_write_tokens: count(details.cache_creation_tokens),
    }
}

/// The sentence for a silence.
pub(super) fn silence(target: &Target) -> String {
    format!("{} sent nothing for {}", target.provider, seconds(target.timeout))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_are_nested_too_deep_are_broken() {
        let nested = |levels: usize| (0..levels).fold(json!({}), |inner, _| json!({"a": inner}));
        for (levels, is_broken) in [(0, false), (63, false), (64, true), (124, true)] {
            let Block::ToolUse(call) = tool_use("1".into(), "t".into(), nested(levels)) else {
                panic!("no call");
            };
            assert_eq!(call.broken_input.is_some(), is_broken, "{levels}");
            assert_eq!(call.input == json!({}), is_broken || levels == 0, "{levels}");
        }
    }
}
