//! Asks one of claw's models at a stand-in. Owns the target and what a door would have shown; knows
//! no test.

use std::sync::Arc;
use std::time::Duration;

use claw_core::config::model::ToolChoice;
use claw_core::domain::{Block, Message, Role, ToolSpec, ToolUse};
use claw_core::model::genai::{GenaiModel, Target, Wire as ClawWire};
use claw_core::model::{Delta, Model, ModelError, Reply, Request, Retry, RetryPolicy};
use serde_json::json;

use super::{StandIn, Wire};

pub const SECRET: &str = "sk-secret-of-the-test";

pub fn target(wire: Wire, base_url: &str) -> Target {
    let (wire, provider) = match wire {
        Wire::Anthropic => (ClawWire::Anthropic, "claude"),
        Wire::OpenAi => (ClawWire::OpenAi, "openai"),
        Wire::Responses => (ClawWire::OpenAiResponses, "openai"),
        Wire::Gemini => (ClawWire::Gemini, "gemini"),
        Wire::Ollama => (ClawWire::Ollama, "ollama"),
    };
    Target {
        wire,
        provider: provider.into(),
        model: "model-x".into(),
        base_url: Target::normal_base_url(wire, base_url).unwrap(),
        api_key: Some(SECRET.to_owned().into()),
        key_setting: "THE_KEY_VARIABLE".into(),
        address_setting: "THE_ADDRESS_SETTING".into(),
        model_setting: "THE_MODEL_SETTING".into(),
        max_tokens: None,
        temperature: None,
        // A test that waits for its end sets one of its own; for the others a busy
        // machine has time.
        timeout: Duration::from_secs(60),
        tool_choice: ToolChoice::Auto,
    }
}

pub fn model(target: Target) -> Retry {
    let quick = RetryPolicy { backoff_first: Duration::from_millis(1), ..RetryPolicy::default() };
    Retry::with_policy(Arc::new(GenaiModel::new(target)), quick)
}

pub fn request(messages: Vec<Message>) -> Request {
    let schema = json!({"type": "object", "properties": {"x": {"type": "integer"}}});
    let tool = ToolSpec { name: "s__t".into(), description: "a tool".into(), input_schema: schema };
    Request { system: "Be brief.".into(), messages, tools: [tool].into(), model: None }
}

pub fn go() -> Request {
    request(vec![Message::user_text("go")])
}

/// What a door would show in the end: a restart voids what came before.
pub fn shown(deltas: &[Delta]) -> String {
    let mut text = String::new();
    for delta in deltas {
        match delta {
            Delta::Text(piece) => text.push_str(piece),
            Delta::Reasoning(_) => {}
            Delta::Restarted { .. } => text.clear(),
        }
    }
    text
}

pub fn restarts(deltas: &[Delta]) -> usize {
    deltas.iter().filter(|delta| matches!(delta, Delta::Restarted { .. })).count()
}

pub async fn ask_with(
    target: Target,
    request: &Request,
) -> (Result<Reply, ModelError>, Vec<Delta>) {
    let mut deltas = Vec::new();
    let reply = model(target).reply(request, &mut |delta| deltas.push(delta)).await;
    if let Err(error) = &reply {
        assert!(!format!("{error:?}").contains(SECRET), "a secret in {error:?}");
    }
    (reply, deltas)
}

pub async fn ask(
    stand_in: &StandIn,
    wire: Wire,
    request: &Request,
) -> (Result<Reply, ModelError>, Vec<Delta>) {
    ask_with(target(wire, &stand_in.base_url), request).await
}

pub fn uses(reply: &Reply) -> Vec<&ToolUse> {
    fn pick(block: &Block) -> Option<&ToolUse> {
        if let Block::ToolUse(one) = block { Some(one) } else { None }
    }
    reply.blocks.iter().filter_map(pick).collect()
}

pub fn answered(reply: &Reply, contents: &[(&str, bool)]) -> Vec<Message> {
    let results = uses(reply)
        .iter()
        .zip(contents)
        .map(|(one, (content, is_error))| Block::ToolResult {
            use_id: one.id.clone(),
            name: one.name.clone(),
            content: (*content).into(),
            is_error: *is_error,
        })
        .collect();
    vec![
        Message::user_text("go"),
        Message { role: Role::Assistant, blocks: reply.blocks.clone() },
        Message { role: Role::User, blocks: results },
    ]
}
