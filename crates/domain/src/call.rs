//! A tool call and how it can end. Owns the states of a call; must not know how a verdict is
//! reached or a call is sent.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    ApprovalId, CallId, DeniedBy, Origin, Proposal, SessionId, ShellFolder, ShellVariables,
};
use crate::text_forms::text_forms;

/// A call that somebody requests. It becomes an action only behind the gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: CallId,
    /// The server's name as `mcp.json` gives it.
    pub server: String,
    pub tool: String,
    pub arguments: Value,
    pub origin: Origin,
    /// Who requests it, for grants and audit, for example `console:uid:1000`.
    pub principal: String,
}

impl ToolCall {
    /// The session in whose log it stands, if it stands in one.
    pub fn session(&self) -> Option<&SessionId> {
        self.id.session()
    }
}

/// `received → denied | waiting → approved → started → ended | unknown`, and
/// `started → input_required → started` for each round in which the server asks a person. A server
/// may make a task of it: `started → task`, and `task → input_required → task` for its rounds.
/// Only a call that was started and has no end may have run; earlier states are judged again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    Received,
    Denied,
    Waiting,
    Approved,
    Started,
    /// It was started, and its server has answered with a question: nothing runs. It goes on by the
    /// same call with the answer, and is never judged or frozen anew.
    InputRequired,
    /// It was started, and its server works on it as a task, which outlives claw. It is followed by
    /// the id of the task, and never sent again.
    Task,
    Ended,
    Unknown,
}

text_forms!(CallState {
    Received = "received",
    Denied = "denied",
    Waiting = "waiting",
    Approved = "approved",
    Started = "started",
    InputRequired = "input_required",
    Task = "task",
    Ended = "ended",
    Unknown = "unknown",
});

/// What a tool gave back, reduced to what the model and the log can hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolOutput {
    /// Text for the model. Larger results are cut by the limits layer, with a handle to the whole.
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    pub is_error: bool,
    /// What the server marks as meant for the user alone, as text. No model is sent it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub for_user: String,
    /// What a model that can see is shown with the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<ImageRef>,
    /// Where the command has left its shell. The gate alone writes it, of our own bash server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell: Option<Box<ShellFolder>>,
    /// What the command has made of its shell's exported variables. The gate alone writes it, of
    /// our own bash server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell_variables: Option<Box<ShellVariables>>,
    /// What the tool proposes; each entry has passed the gate's checks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<Proposal>,
}

/// An image that came with a result. Its bytes are kept beside the log, as an artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageRef {
    /// An IANA media type, for example `image/png`.
    pub mime: String,
    pub digest: String,
    pub bytes: u64,
}

/// How a call went, as the turn sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Outcome {
    Ended {
        output: ToolOutput,
    },
    /// Never forwarded. `reason` names the rule and what would be possible instead.
    Denied {
        reason: String,
        /// `None` in a result of before this was kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<DeniedBy>,
    },
    /// Forwarded, and nobody knows how it ended. Never run again.
    Unknown {
        reason: String,
    },
    /// Frozen in the store until a human answers.
    Parked {
        approval: ApprovalId,
    },
    /// Its server works on it as a task, and this process ends: the next one goes on with it.
    Left,
}

/// Of a call that is [`Outcome::Left`], as the end of a sentence.
pub const LEFT: &str = "its server still works on it as a task";

impl Outcome {
    /// Why there is no result to use, as the end of a sentence: what its server says of an error,
    /// the reason of a denial or of an unknown end, or what the call still waits for.
    pub fn into_reason(self) -> String {
        match self {
            Self::Ended { output } => output.text,
            Self::Denied { reason, .. } | Self::Unknown { reason } => reason,
            Self::Parked { approval } => format!("it waits for an answer to {approval}"),
            Self::Left => LEFT.to_owned(),
        }
    }

    /// Without its contents, for the log.
    pub fn in_a_word(&self) -> &'static str {
        match self {
            Self::Ended { .. } => "ended",
            Self::Denied { .. } => "denied",
            Self::Unknown { .. } => "unknown",
            Self::Parked { .. } => "waits for an answer",
            Self::Left => "is left to the next process",
        }
    }

    pub fn denied(by: DeniedBy, reason: impl Into<String>) -> Self {
        Self::Denied { reason: reason.into(), by: Some(by) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_has_no_result_says_why() {
        let output =
            ToolOutput { text: "no such file".into(), is_error: true, ..Default::default() };
        let waits = Outcome::Parked { approval: ApprovalId("k3v9".into()) };
        for (outcome, why) in [
            (Outcome::Ended { output }, "no such file"),
            (Outcome::denied(DeniedBy::Stop, "it was stopped"), "it was stopped"),
            (Outcome::Unknown { reason: "its server died".into() }, "its server died"),
            (waits, "it waits for an answer to k3v9"),
            (Outcome::Left, LEFT),
        ] {
            assert_eq!(outcome.into_reason(), why);
        }
    }
}
