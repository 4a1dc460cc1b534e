//! From our messages to genai's. Owns what each wire demands of a request. Must not know replies or
//! errors.

use ::genai::chat::{
    CacheControl, ChatMessage, ChatRequest, ChatRole, ContentPart, CustomPart, MessageContent,
    Tool, ToolCall, ToolResponse,
};
use serde_json::{Value, json};

use super::receive::REASONING;
use super::target::{Target, Wire};
use crate::domain::{Block, Message, Role, ToolSpec};
use crate::model::wire_schema::Fitted;
use crate::model::{Request, history};

/// Tool names that all providers accept back: ASCII letters, digits, `_`, `-`.
const NAME_BYTES_MAX: usize = 64;

/// The request, with the tools and their names as this wire takes them.
pub(super) fn chat_request(
    request: &Request,
    target: &Target,
    fitted: &Fitted,
    keeps_reasoning: bool,
) -> ChatRequest {
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.trim().is_empty() {
        messages.push(ChatMessage::system(request.system.as_str()));
    }
    let told = request.messages.iter().map(|message| told(message, target, keeps_reasoning));
    for message in history::well_formed(told, target.wire.id_rule()) {
        match message.role {
            Role::User => push_user(message, target.wire, fitted, &mut messages),
            Role::Assistant => push_assistant(message, target, fitted, &mut messages),
        }
    }
    if target.wire == Wire::Anthropic {
        mark_for_cache(&mut messages);
    }
    let chat = ChatRequest::from_messages(messages);
    // Some providers refuse an empty list.
    if fitted.tools.is_empty() {
        chat
    } else {
        let tools = fitted.tools.iter().map(|spec| tool(spec, target.wire));
        chat.with_tools(tools.collect::<Vec<_>>())
    }
}

/// A message without what this provider is not sent: a message of nothing else is none.
fn told(message: &Message, target: &Target, keeps_reasoning: bool) -> Message {
    let is_told = |block: &&Block| match block {
        Block::Opaque { provider, data } if data["type"] == REASONING => {
            // No other model can read it.
            *provider == target.provider && keeps_reasoning && data["model"] == target.model
        }
        Block::Opaque { provider, .. } => *provider == target.provider,
        // What a model may see of kept images has been put in before (`model/vision_input.rs`).
        Block::ImageRef { .. } => false,
        _ => true,
    };
    // Mostly all of them are, and there may be thousands of messages.
    let mut blocks = Vec::with_capacity(message.blocks.len());
    blocks.extend(message.blocks.iter().filter(is_told).cloned());
    Message { role: message.role, blocks }
}

/// Anthropic caches up to a mark and nothing without one: the instructions, and the conversation so
/// far.
fn mark_for_cache(messages: &mut [ChatMessage]) {
    let mark = |message: &mut ChatMessage| message.options = Some(CacheControl::Ephemeral.into());
    if let Some(first) = messages.first_mut().filter(|first| matches!(first.role, ChatRole::System))
    {
        mark(first);
    }
    if let Some(last) = messages.last_mut().filter(|last| matches!(last.role, ChatRole::User)) {
        mark(last);
    }
}

fn tool(spec: &ToolSpec, wire: Wire) -> Tool {
    let tool = Tool::new(spec.name.as_str())
        .with_description(spec.description.as_str())
        .with_schema(spec.input_schema.clone());
    match wire {
        // Without a word, Responses demand every property there where they can.
        Wire::OpenAiResponses => tool.with_strict(false),
        _ => tool,
    }
}

/// Results lead the message; `history` saw to that.
fn push_user(message: Message, wire: Wire, fitted: &Fitted, out: &mut Vec<ChatMessage>) {
    let mut results = Vec::new();
    let mut rest = Vec::with_capacity(message.blocks.len());
    for block in message.blocks {
        match block {
            Block::Text { text } => rest.push(ContentPart::Text(text)),
            Block::Image { mime, base64 } => {
                rest.push(ContentPart::from_binary_base64(mime, base64, None))
            }
            Block::ToolResult { use_id, name, content, is_error } => {
                results.push(result(wire, use_id, fitted.wire_name(&name), content, is_error));
            }
            // What a model may see of kept images has been put in before (`model/vision_input.rs`).
            Block::ImageRef { .. } | Block::ToolUse(_) | Block::Opaque { .. } => {}
        }
    }
    match wire {
        // One message, or two of the same role would follow each other.
        Wire::Anthropic => {
            results.append(&mut rest);
            out.push(ChatMessage::user(MessageContent::from_parts(results)));
        }
        // genai puts one result into a message of this wire and forgets the others.
        Wire::Ollama => {
            out.extend(
                results
                    .into_iter()
                    .map(|part| ChatMessage::tool(MessageContent::from_parts(vec![part]))),
            );
        }
        _ if results.is_empty() => {}
        _ => out.push(ChatMessage::tool(MessageContent::from_parts(results))),
    }
    if !rest.is_empty() {
        out.push(ChatMessage::user(MessageContent::from_parts(rest)));
    }
}

fn result(wire: Wire, use_id: String, name: &str, content: String, is_error: bool) -> ContentPart {
    if wire == Wire::Anthropic && is_error {
        // genai has no mark for an error; this wire does.
        return custom(
            json!({"type": "tool_result", "tool_use_id": use_id, "content": content, "is_error": true}),
        );
    }
    let says_so =
        content.trim_start().get(..5).is_some_and(|start| start.eq_ignore_ascii_case("error"));
    let content = if is_error && !says_so { format!("Error: {content}") } else { content };
    ContentPart::ToolResponse(ToolResponse::new(use_id, content).with_fn_name(safe_name(name)))
}

fn push_assistant(message: Message, target: &Target, fitted: &Fitted, out: &mut Vec<ChatMessage>) {
    let mut parts = Vec::with_capacity(message.blocks.len());
    let mut signature: Option<String> = None;
    for block in message.blocks {
        match block {
            Block::Text { text } => parts.push(ContentPart::Text(text)),
            Block::ToolUse(one) => parts.push(ContentPart::ToolCall(ToolCall {
                call_id: one.id,
                fn_name: safe_name(fitted.wire_name(&one.name)),
                fn_arguments: match one.input {
                    input @ Value::Object(_) => fitted.arguments_to_wire(&one.name, input),
                    _ => json!({}),
                },
                thought_signatures: signature.take().map(|signature| vec![signature]),
            })),
            Block::Opaque { data, .. } if data["type"] == REASONING => {
                // genai puts all reasoning of a message before the rest of it.
                if parts.iter().any(is_said) {
                    let before = MessageContent::from_parts(std::mem::take(&mut parts));
                    out.push(ChatMessage::assistant(before));
                }
                let encrypted = data["encrypted_content"].as_str().unwrap_or_default();
                parts.push(ContentPart::ThoughtSignature(encrypted.to_owned()));
            }
            Block::Opaque { provider, data } if provider == target.provider => {
                opaque(*data, &mut parts, &mut signature);
            }
            Block::Opaque { .. }
            | Block::Image { .. }
            | Block::ImageRef { .. }
            | Block::ToolResult { .. } => {}
        }
    }
    // Reasoning that nothing came of is refused.
    if parts.iter().any(is_said) {
        out.push(ChatMessage::assistant(MessageContent::from_parts(parts)));
    }
}

/// Whether a part is more than what goes before another one.
fn is_said(part: &ContentPart) -> bool {
    !matches!(part, ContentPart::ThoughtSignature(_))
}

/// Puts a block back the way [`super::receive`] took it.
fn opaque(data: Value, parts: &mut Vec<ContentPart>, signature: &mut Option<String>) {
    let text = |key: &str| data.get(key).and_then(Value::as_str).map(str::to_owned);
    match data.get("type").and_then(Value::as_str) {
        Some("call_signature") => *signature = text("signature"),
        Some("text_signature") => {
            // It came on a part without text of its own and goes back on one.
            parts.extend(text("signature").map(ContentPart::ThoughtSignature));
            parts.push(ContentPart::Text(String::new()));
        }
        Some("reasoning_content") => parts.extend(text("text").map(ContentPart::ReasoningContent)),
        // Anthropic's `thinking` and `redacted_thinking`, unchanged.
        Some(_) => parts.push(custom(data)),
        None => {}
    }
}

fn custom(data: Value) -> ContentPart {
    ContentPart::Custom(CustomPart { model_iden: None, data })
}

/// A model may ask for a tool whose name no provider would take back.
fn safe_name(name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let out: String = name.chars().map(safe).take(NAME_BYTES_MAX).collect();
    if out.is_empty() { "unknown".to_owned() } else { out }
}
