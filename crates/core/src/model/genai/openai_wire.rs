//! On which of OpenAI's two wires a model is asked, and whether its own reasoning goes back to it.
//! Owns what refusals have said about that. Must not know requests, or how an answer is read.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::target::{Target, Wire};

/// OpenAI's models that reason by themselves take tools in Responses alone, from this version on:
/// "Function tools with reasoning_effort are not supported for gpt-5.5 in /v1/chat/completions".
const RESPONSES_FROM: (u32, u32) = (5, 5);

/// What a refusal says about the way in which a model is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lesson {
    /// It is to be asked in Responses.
    Responses,
    /// It does not take reasoning back, or not this: it has none, or another key has made it.
    NoReasoning,
}

/// Kept as long as the model itself.
#[derive(Default)]
pub(super) struct OpenAiWire(Mutex<State>);

#[derive(Default)]
struct State {
    /// By the model's name.
    responses: BTreeSet<String>,
    no_reasoning: BTreeSet<String>,
}

impl OpenAiWire {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The target, with the wire on which its model is asked now.
    pub(super) fn of<'a>(&self, target: &'a Target) -> Cow<'a, Target> {
        let is_chat = target.wire == Wire::OpenAi;
        // Who speaks like OpenAI may know chat completions alone, so only a refusal tells.
        let by_name = || target.provider == "openai" && takes_tools_in_responses(&target.model);
        if is_chat && (by_name() || self.state().responses.contains(&target.model)) {
            return Cow::Owned(Target { wire: Wire::OpenAiResponses, ..target.clone() });
        }
        Cow::Borrowed(target)
    }

    /// Whether reasoning of earlier replies goes back with a request, and is asked for.
    pub(super) fn keeps_reasoning(&self, target: &Target) -> bool {
        target.wire == Wire::OpenAiResponses && !self.state().no_reasoning.contains(&target.model)
    }

    /// Asks as the refusal says from here on. False if that changes nothing.
    pub(super) fn takes(&self, lesson: Lesson, target: &Target) -> bool {
        let (model, mut state) = (target.model.clone(), self.state());
        let is_new = match lesson {
            Lesson::Responses => state.responses.insert(model),
            Lesson::NoReasoning => state.no_reasoning.insert(model),
        };
        if is_new {
            tracing::info!(
                model = target.model,
                ?lesson,
                "the provider wants to be asked otherwise"
            );
        }
        is_new
    }
}

/// What a refusal of a request to this target says.
pub(super) fn lesson(status: u16, body: &str, wire: Wire) -> Option<Lesson> {
    let body = body.to_ascii_lowercase();
    match wire {
        Wire::OpenAi if matches!(status, 400 | 404) && body.contains("v1/responses") => {
            Some(Lesson::Responses)
        }
        // `invalid_encrypted_content`, and "Encrypted content is not supported with this model".
        Wire::OpenAiResponses
            if status == 400
                && ["encrypted_content", "encrypted content"]
                    .iter()
                    .any(|it| body.contains(it)) =>
        {
            Some(Lesson::NoReasoning)
        }
        _ => None,
    }
}

fn takes_tools_in_responses(model: &str) -> bool {
    let Some(rest) = model.strip_prefix("gpt-") else { return false };
    let version = rest.split('-').next().unwrap_or_default();
    let (major, minor) = version.split_once('.').unwrap_or((version, "0"));
    let version = major.parse::<u32>().ok().zip(minor.parse::<u32>().ok());
    version.is_some_and(|version| version >= RESPONSES_FROM)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_that_take_tools_in_responses_alone_are_known_by_their_version() {
        for model in
            ["gpt-5.5", "gpt-5.5-2026-04-23", "gpt-5.6-terra", "gpt-5.10", "gpt-6", "gpt-6.1"]
        {
            assert!(takes_tools_in_responses(model), "{model}");
        }
        for model in
            ["gpt-4o", "gpt-4.1", "gpt-5", "gpt-5.4-mini", "gpt-oss-120b", "o3", "m", "gpt-"]
        {
            assert!(!takes_tools_in_responses(model), "{model}");
        }
    }

    #[test]
    fn a_refusal_is_a_lesson_on_its_own_wire_alone() {
        let tools = "Function tools with reasoning_effort are not supported for gpt-5.6-terra in \
                     /v1/chat/completions. To use function tools, use /v1/responses or set \
                     reasoning_effort to 'none'.";
        let only = "This model is only supported in v1/responses and not in v1/chat/completions.";
        assert_eq!(lesson(400, tools, Wire::OpenAi), Some(Lesson::Responses));
        assert_eq!(lesson(404, only, Wire::OpenAi), Some(Lesson::Responses));
        let foreign = r#"{"error":{"message":"The encrypted content gAAA... could not be verified.","code":"invalid_encrypted_content"}}"#;
        let none = "Encrypted content is not supported with this model.";
        for body in [foreign, none] {
            assert_eq!(lesson(400, body, Wire::OpenAiResponses), Some(Lesson::NoReasoning));
            assert_eq!(lesson(400, body, Wire::OpenAi), None);
        }
        assert_eq!(lesson(400, tools, Wire::OpenAiResponses), None);
        assert_eq!(lesson(500, tools, Wire::OpenAi), None);
        assert_eq!(lesson(400, tools, Wire::Groq), None);
    }
}
