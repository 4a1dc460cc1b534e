//! The rows of a session that whoever takes part in it may read: messages, replies, calls, and what
//! became of them. Pure. Must not know who reads them.

use serde::Serialize;

use crate::domain::{
    Answer, Block, Event, EventBody, Origin, Outcome, TurnCallState, TurnEnd, UnixMillis, text_of,
};

/// What whoever takes part in a session may know of an event.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SessionRow {
    Message {
        seq: u64,
        at_ms: UnixMillis,
        from: &'static str,
        text: String,
    },
    Reply {
        seq: u64,
        at_ms: UnixMillis,
        text: String,
        calls: Vec<String>,
    },
    /// A call of the agent waits for the owner's answer.
    Asked {
        seq: u64,
        at_ms: UnixMillis,
        call: String,
        question: String,
    },
    /// A question has its answer, or was closed.
    Answered {
        seq: u64,
        at_ms: UnixMillis,
        call: String,
        allowed: bool,
    },
    Result {
        seq: u64,
        at_ms: UnixMillis,
        call: String,
        state: TurnCallState,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        #[serde(skip_serializing_if = "String::is_empty")]
        text: String,
    },
    TurnStarted {
        seq: u64,
        at_ms: UnixMillis,
    },
    TurnEnded {
        seq: u64,
        at_ms: UnixMillis,
        end: TurnEnd,
    },
}

impl SessionRow {
    /// `None` for what is claw's own business: what was packed, recalled, cut or summarised.
    pub fn of(event: &Event) -> Option<Self> {
        let (seq, at_ms) = (event.seq, event.at_ms);
        Some(match &event.body {
            EventBody::TurnStarted { .. } => Self::TurnStarted { seq, at_ms },
            EventBody::UserMessage { blocks, origin, .. } => {
                let from = match origin {
                    Origin::McpClient => "client",
                    Origin::Owner | Origin::Button => "owner",
                    _ => "other",
                };
                Self::Message { seq, at_ms, from, text: text_of(blocks) }
            }
            EventBody::ModelReply { blocks, .. } => {
                let name = |block: &Block| match block {
                    Block::ToolUse(tool_use) => Some(tool_use.name.clone()),
                    _ => None,
                };
                let calls = blocks.iter().filter_map(name).collect();
                Self::Reply { seq, at_ms, text: text_of(blocks), calls }
            }
            EventBody::CallParked { call, approval } => {
                Self::Asked { seq, at_ms, call: call.to_string(), question: approval.to_string() }
            }
            EventBody::CallAnswered { call, answer, .. } => {
                let allowed = matches!(answer, Some(Answer::Allow { .. }));
                Self::Answered { seq, at_ms, call: call.to_string(), allowed }
            }
            EventBody::ToolResult { call, outcome } => {
                let (state, reason) = became(outcome);
                let text = match &**outcome {
                    Outcome::Ended { output } => output.text.clone(),
                    _ => String::new(),
                };
                Self::Result { seq, at_ms, call: call.to_string(), state, reason, text }
            }
            EventBody::TurnEnded { end } => Self::TurnEnded { seq, at_ms, end: end.clone() },
            _ => return None,
        })
    }
}

/// In a word, and why if it did not run to its end.
pub fn became(outcome: &Outcome) -> (TurnCallState, Option<String>) {
    match outcome {
        Outcome::Ended { output } if output.is_error => (TurnCallState::Failed, None),
        Outcome::Ended { .. } => (TurnCallState::Ended, None),
        Outcome::Denied { reason, .. } => (TurnCallState::Refused, Some(reason.clone())),
        Outcome::Unknown { reason } => (TurnCallState::Unknown, Some(reason.clone())),
        Outcome::Parked { .. } | Outcome::Left => (TurnCallState::Waiting, None),
    }
}
