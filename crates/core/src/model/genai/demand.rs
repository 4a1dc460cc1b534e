//! Whether a reply has to call a tool (`[model] tool_choice`). Owns when the demand ends, so that a
//! turn can. Must not know what a tool means.

use ::genai::chat::ToolChoice as Demand;

use super::target::Target;
use crate::config::model::ToolChoice;
use crate::domain::{Block, Message, Role};
use crate::model::Request;

/// `Required` until a tool has been called since the model's last answer, if the owner's
/// configuration says so and tools are offered; else nothing is said, and the model decides.
pub(super) fn tool_choice(target: &Target, request: &Request) -> Option<Demand> {
    let demanded = target.tool_choice == ToolChoice::Required
        && !request.tools.is_empty()
        && !called_since_last_answer(&request.messages);
    demanded.then_some(Demand::Required)
}

/// Looks back to the last reply that called nothing, which is what ended the turn before.
fn called_since_last_answer(messages: &[Message]) -> bool {
    let mut replies = messages.iter().rev().filter(|message| message.role == Role::Assistant);
    replies
        .next()
        .is_some_and(|last| last.blocks.iter().any(|block| matches!(block, Block::ToolUse(_))))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::domain::{ToolSpec, ToolUse};
    use crate::model::genai::Wire;

    fn target(tool_choice: ToolChoice) -> Target {
        Target {
            wire: Wire::OpenAi,
            provider: "openai".into(),
            model: "m".into(),
            base_url: "http://127.0.0.1:9/v1/".into(),
            api_key: None,
            key_setting: String::new(),
            address_setting: String::new(),
            model_setting: String::new(),
            max_tokens: None,
            temperature: None,
            timeout: Duration::from_secs(1),
            tool_choice,
        }
    }

    fn says(role: Role, text: &str) -> Message {
        Message { role, blocks: vec![Block::Text { text: text.into() }] }
    }

    fn calls() -> [Message; 2] {
        let one =
            ToolUse { id: "a".into(), name: "t".into(), input: json!({}), broken_input: None };
        let result = Block::ToolResult {
            use_id: "a".into(),
            name: "t".into(),
            content: "done".into(),
            is_error: false,
        };
        [
            Message {
                role: Role::Assistant,
                blocks: vec![Block::Text { text: "so".into() }, Block::ToolUse(Box::new(one))],
            },
            Message { role: Role::User, blocks: vec![result] },
        ]
    }

    fn request(messages: Vec<Message>) -> Request {
        let tool = ToolSpec {
            name: "t".into(),
            description: "d".into(),
            input_schema: json!({"type": "object"}),
        };
        Request { messages, tools: vec![tool].into(), ..Request::default() }
    }

    #[test]
    fn a_call_is_demanded_until_there_was_one_and_in_the_next_turn_again() {
        let demand = |messages: &[Message]| {
            tool_choice(&target(ToolChoice::Required), &request(messages.to_vec()))
        };
        let mut messages = vec![says(Role::User, "do it")];
        assert_eq!(demand(&messages), Some(Demand::Required));
        messages.extend(calls());
        assert_eq!(demand(&messages), None, "the turn could not end otherwise");
        messages.push(says(Role::User, "and hurry"));
        assert_eq!(demand(&messages), None, "what joins a turn starts none");
        messages.push(says(Role::Assistant, "done"));
        messages.push(says(Role::User, "once more"));
        assert_eq!(demand(&messages), Some(Demand::Required));
    }

    #[test]
    fn nothing_is_demanded_by_itself_or_without_tools() {
        let asked = request(vec![says(Role::User, "do it")]);
        assert_eq!(tool_choice(&target(ToolChoice::Auto), &asked), None);
        let bare = Request { tools: Vec::new().into(), ..asked };
        assert_eq!(tool_choice(&target(ToolChoice::Required), &bare), None);
    }
}
