//! A question to a human about one frozen call, and the answers there are. Must not know doors or
//! how grants are matched.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ApprovalId, CallId, CallList, Effect, Input, Mode, SessionId, Staged, UnixMillis};

/// How long an allowance holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Term {
    Once,
    TenMinutes,
    Session,
    Always,
}

/// Which arguments an allowance or a refusal covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Scope {
    /// Exactly the arguments that were shown.
    Exact,
    /// The same file tool, for any path at or below this one. Relative to the workspace, no `..`.
    Below { path: String },
    /// Writing, editing and moving by our file tools, at or below this path; empty: anywhere in
    /// the workspace. No file that is deleted or replaced, and none that other programs obey.
    Files { path: String },
    /// A shell command of this program and subcommand (`cargo test`), with whatever known options
    /// and plain words behind it.
    Command { words: Vec<String> },
    /// Any shell command that reaches these hosts and nothing else of the network.
    Hosts { hosts: Vec<String> },
    /// Every call of the session that this mode lets through.
    Mode { mode: Mode },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Answer {
    Allow {
        term: Term,
        scope: Scope,
    },
    Deny {
        /// A word of the owner to the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        word: Option<String>,
    },
    /// Deny now and every time these arguments come again.
    Never,
    /// The button with this index was pressed, counted from zero. Only for [`Staged::Buttons`].
    Press {
        index: u32,
    },
    /// Yes once to the calls with these numbers, and no to those; the others stay open. Only for a
    /// question with a [`CallList`].
    Pick {
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        yes: Vec<u32>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        no: Vec<u32>,
    },
    /// The value that a server has asked for. Only for a question with an [`Input`].
    Give {
        value: Value,
    },
    /// No value, and the form goes on without it. Only for an [`Input`] that is not required.
    Skip,
}

/// One possible answer, with the words that say exactly what it grants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// What a person types: `y`, `10m`, `s`, `a`, `never`, `n`, …
    pub key: String,
    pub label: String,
    pub answer: Answer,
}

/// A frozen call as a human sees it. Every string in `arguments` is already made visible by
/// `domain::escape`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    pub approval: ApprovalId,
    pub call: CallId,
    /// The session that waits for the answer. `None` for the call of a client, which no session
    /// waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    pub server: String,
    pub tool: String,
    /// Name and escaped value of every argument, in the order of the canonical form.
    pub arguments: Vec<(String, String)>,
    /// Why it asks: the rule's `why` or the class of the tool.
    pub why: String,
    /// What the call does, in words. `None` for what was staged, for a pause, and for a question of
    /// an older claw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    pub expires_at_ms: UnixMillis,
    pub choices: Vec<Choice>,
    /// What was staged, if the question is about that and not about a call that the model made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staged: Option<Staged>,
    /// The calls that are asked about together, if it is about several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<CallList>,
    /// The value that the server asks for, if its call runs already and waits for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Input>,
}

impl Question {
    /// Whether a yes remembers something. Only of our own memory server claw says itself what a
    /// staged action does.
    pub fn is_to_remember(&self) -> bool {
        let is_item = matches!(self.staged, Some(Staged::Item { .. }));
        is_item && self.effect.is_some() && self.tool == "promote"
    }
}
