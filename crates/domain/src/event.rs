//! The events of a session's append-only log. Owns their stored form; must not know who writes or
//! folds them.

use serde::{Deserialize, Serialize};

use super::{
    Action, Address, Answer, ApprovalId, Block, CallId, Compaction, CutResult, Finish, ImageRef,
    Named, NamedState, Origin, Outcome, ProjectFile, PromptAccount, RecalledNote, ShellPart,
    UnixMillis, Usage,
};

/// One row of the log. `seq` counts from 1 without gaps within a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub seq: u64,
    pub at_ms: UnixMillis,
    #[serde(flatten)]
    pub body: EventBody,
}

/// Stop, time, budget, answers and compaction enter as events, because `turn::next` reads no clock
/// and no database.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum EventBody {
    #[serde(rename = "turn.started")]
    TurnStarted {
        origin: Origin,
        principal: String,
        /// The role of all its requests, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        role: Option<String>,
    },
    /// Where the calls of the turn run, as the model is told from here on: the mode of the session
    /// and the branch. It comes before the message with which that was first so.
    #[serde(rename = "turn.context")]
    TurnContext { text: String },
    /// What claw itself has found in the memory for the message behind it, as the model is told it
    /// from here on. A note that stands in the window already is not among it.
    #[serde(rename = "turn.recalled")]
    TurnRecalled {
        call: CallId,
        text: String,
        notes: Vec<RecalledNote>,
        /// Notes that were found and are not in the text, because there was no room.
        #[serde(default, skip_serializing_if = "is_zero")]
        left_out: u32,
    },
    /// What the workspace has for agents, as the model is told it from here on, as data of the
    /// workspace. It comes before the message with which it was first so, or has changed.
    #[serde(rename = "turn.project")]
    TurnProject { text: String, files: Vec<ProjectFile> },
    /// What the owner names in the message behind it, as its server gave it, or why it could not be
    /// had; or that such a resource has changed since. A model is told it from here on, as data of
    /// that server.
    #[serde(rename = "turn.named")]
    TurnNamed {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<CallId>,
        named: Box<Named>,
        state: NamedState,
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<ImageRef>,
    },
    #[serde(rename = "user.message")]
    UserMessage { blocks: Vec<Block>, inbox_id: i64, from: Address, origin: Origin },
    /// What was packed for the model: the first event sent, how many were left out, the estimate of
    /// the conversation.
    #[serde(rename = "prompt.packed")]
    PromptPacked {
        from_seq: u64,
        dropped_events: u64,
        estimated_tokens: u64,
        /// What stood beside the conversation, where the window does not say the same already.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        account: Option<Box<PromptAccount>>,
    },
    /// Tools that stand in each request from here on, behind those that stood there before. Only a
    /// window whose model is not offered all tools at once has this event.
    #[serde(rename = "tools.loaded")]
    ToolsLoaded {
        by: LoadedBy,
        /// The names under which they are offered, in the order of the requests.
        tools: Vec<String>,
    },
    #[serde(rename = "model.reply")]
    ModelReply {
        blocks: Vec<Block>,
        finish: Finish,
        usage: Usage,
        provider: String,
        model: String,
        /// Why another model than before has answered, for the person.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        notice: Option<String>,
    },
    /// The text of a stream that was stopped.
    #[serde(rename = "model.partial")]
    ModelPartial { text: String },
    /// The model could not answer, after retries. `context_too_long` asks for a compaction instead
    /// of a stop.
    #[serde(rename = "model.failed")]
    ModelFailed {
        reason: String,
        context_too_long: bool,
        /// The provider does not take the key: nothing goes on before somebody changes a setting.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        key_refused: bool,
    },
    #[serde(rename = "call.parked")]
    CallParked { call: CallId, approval: ApprovalId },
    /// `answer: None` means that the question expired or was superseded; `by` says which, or who
    /// answered.
    #[serde(rename = "call.answered")]
    CallAnswered { call: CallId, approval: ApprovalId, answer: Option<Answer>, by: String },
    /// The answer to one tool use. `outcome` is never `Parked` or `Left`.
    #[serde(rename = "tool.result")]
    ToolResult { call: CallId, outcome: Box<Outcome> },
    /// What became of the question about a staged action. `answer: None` means that it expired. It
    /// stands by itself, because the turn in which it was staged may be long out of the window.
    #[serde(rename = "action.answered")]
    ActionAnswered {
        call: CallId,
        approval: ApprovalId,
        action: Box<Action>,
        answer: Option<Answer>,
        by: String,
    },
    /// How a confirmed action went. `outcome` is never `Parked` or `Left`.
    #[serde(rename = "action.result")]
    ActionResult { call: CallId, action: Box<Action>, outcome: Box<Outcome> },
    #[serde(rename = "stop.requested")]
    StopRequested { by: String },
    /// A limit of the design was met; `limit` is its setting's name.
    #[serde(rename = "limit.reached")]
    LimitReached { limit: String, text: String },
    /// `/compact`. `from` is who is told what it came to.
    #[serde(rename = "compact.requested")]
    CompactRequested {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<Address>,
    },
    /// Nobody has said anything for so long that the window begins anew with a summary.
    #[serde(rename = "window.idle")]
    WindowIdle { idle_s: u64 },
    /// From here on a model sees `bytes` of the text of each of these results, from its head and
    /// its tail, and where the rest is.
    #[serde(rename = "results.cut")]
    ResultsCut { cut: Vec<CutResult>, bytes: u64, before_tokens: u64, after_tokens: u64 },
    /// No summary was written. The window stays as it is.
    #[serde(rename = "compaction.failed")]
    CompactionFailed { reason: String, asked_ms: Vec<UnixMillis> },
    /// Everything up to and including `through_seq` is replaced by `text` in what a model sees.
    #[serde(rename = "summary")]
    Summary {
        text: String,
        through_seq: u64,
        /// What it took, and of whom.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        spent: Option<Spent>,
        #[serde(default, skip_serializing_if = "Compaction::is_unknown")]
        made: Box<Compaction>,
    },
    /// No summary made the window small enough: everything up to and including `through_seq` is
    /// dropped from what a model sees.
    #[serde(rename = "window.dropped")]
    ///
    /// `kept_summary` is the summary that was in force before, because what is before this event is
    /// not read again.
    WindowDropped {
        reason: String,
        through_seq: u64,
        kept_summary: String,
        #[serde(default, skip_serializing_if = "Compaction::is_unknown")]
        made: Box<Compaction>,
    },
    /// `/new`: the model sees nothing from before this event.
    #[serde(rename = "session.cleared")]
    SessionCleared {},
    /// No shell stands anywhere but in the workspace from here on, or keeps a variable: the owner
    /// wants that not to be remembered.
    #[serde(rename = "shell.forgotten")]
    ShellForgotten {
        #[serde(default)]
        part: ShellPart,
    },
    /// `/undo`: a model no longer sees the exchange (one turn) with these numbers. A summary that
    /// was written in the middle of that turn stays, because it stands for others.
    #[serde(rename = "exchange.dropped")]
    ExchangeDropped { from_seq: u64, through_seq: u64 },
    #[serde(rename = "turn.ended")]
    TurnEnded { end: TurnEnd },
}

/// The tokens of one round-trip that is no reply, and the model that they were spent on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    pub usage: Usage,
    pub provider: String,
    pub model: String,
}

impl EventBody {
    /// What a round-trip to a model took, if this is the end of one: the tokens, the provider, the
    /// model.
    pub fn spent(&self) -> Option<(&Usage, &str, &str)> {
        match self {
            Self::ModelReply { usage, provider, model, .. }
            | Self::Summary { spent: Some(Spent { usage, provider, model }), .. } => {
                Some((usage, provider, model))
            }
            _ => None,
        }
    }

    /// The call that it is about. Every kind answers, so that a new one with a call cannot be taken
    /// in with a foreign call, or keep its old name.
    pub fn call_mut(&mut self) -> Option<&mut CallId> {
        match self {
            Self::TurnNamed { call, .. } => call.as_mut(),
            Self::TurnRecalled { call, .. }
            | Self::CallParked { call, .. }
            | Self::CallAnswered { call, .. }
            | Self::ActionAnswered { call, .. }
            | Self::ActionResult { call, .. }
            | Self::ToolResult { call, .. } => Some(call),
            Self::TurnStarted { .. }
            | Self::TurnContext { .. }
            | Self::TurnProject { .. }
            | Self::UserMessage { .. }
            | Self::PromptPacked { .. }
            | Self::ToolsLoaded { .. }
            | Self::ModelReply { .. }
            | Self::ModelPartial { .. }
            | Self::ModelFailed { .. }
            | Self::StopRequested { .. }
            | Self::LimitReached { .. }
            | Self::CompactRequested { .. }
            | Self::WindowIdle { .. }
            | Self::ResultsCut { .. }
            | Self::CompactionFailed { .. }
            | Self::Summary { .. }
            | Self::WindowDropped { .. }
            | Self::SessionCleared {}
            | Self::ShellForgotten { .. }
            | Self::ExchangeDropped { .. }
            | Self::TurnEnded { .. } => None,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Why tools stand in the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadedBy {
    /// The list begins anew with them: those that were used lately, and those found last.
    Begin,
    /// The model has looked for them.
    Search,
    /// Claw has looked for them, by the words of a message.
    Message,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TurnEnd {
    /// The model answered.
    Answered,
    /// The owner stopped it.
    Stopped { by: String },
    /// A limit ended it; the text is what the person was told.
    Limit { text: String },
    /// The model could not be reached or refused; the text is what the person was told.
    Failed { text: String },
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window of short messages has thousands of events, and each takes the room of the largest
    /// kind: what only a rare kind has stands behind a pointer. The sizes are those in the program,
    /// where a JSON value is larger than in a build of this crate alone (`preserve_order`).
    #[test]
    fn an_event_is_small() {
        assert!(size_of::<Event>() <= 184, "{} bytes", size_of::<Event>());
        assert!(size_of::<Block>() <= 80, "{} bytes", size_of::<Block>());
    }
}
