//! What every door can do, and what it says of it. Must not know any door by its name, or when
//! something is shown.

use std::fmt::Debug;
use std::sync::Arc;

use crate::domain::{
    Address, Answer, ApprovalId, LiveSink, PostedState, Question, SessionId, UnixMillis,
};
use crate::mail::PostedQuestion;

/// Why something is not shown, by what has to be done about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DoorFault {
    /// It was not done. Trying again may help.
    #[error("the chat cannot be reached: {0}")]
    MayPass(String),
    /// No answer that could be read: it may have been done or not. Trying again may help, and may
    /// do it twice.
    #[error("the chat does not answer: {0}")]
    Unanswered(String),
    /// The chat does not let this door write. What it should get waits until it does.
    #[error("the chat does not let claw write: {0}")]
    Blocked(String),
    /// The formatting was refused; the same text without it may pass.
    #[error("the formatting was refused: {0}")]
    Formatting(String),
    /// The chat goes on somewhere else, and the door could not follow it.
    #[error("the chat has moved: {0}")]
    Moved(String),
    /// A part of a chat (a topic) is gone; the chat itself may take the message.
    #[error("the place is gone: {0}")]
    Gone(String),
    /// Any other refusal. Asking again brings the same answer.
    #[error("refused: {0}")]
    Refused(String),
}

impl crate::domain::Blamed for DoorFault {
    fn blame(&self) -> crate::domain::Blame {
        match self {
            Self::MayPass(_)
            | Self::Unanswered(_)
            | Self::Blocked(_)
            | Self::Formatting(_)
            | Self::Moved(_)
            | Self::Gone(_)
            | Self::Refused(_) => crate::domain::Blame::Broken,
        }
    }
}

/// The message that a question went out in.
#[derive(Clone, Copy, Debug, Default)]
pub struct QuestionMessage {
    pub message: i64,
    /// When the service had it, in its own seconds since 1970; 0 if that is not known.
    pub at_s: i64,
    /// The message is a file, and the question is its caption.
    pub file: bool,
}

impl QuestionMessage {
    /// As it goes on record.
    pub fn posted(&self, approval: &ApprovalId, to: &Address) -> PostedQuestion {
        PostedQuestion {
            approval: approval.clone(),
            address: to.clone(),
            message: self.message,
            state: PostedState::Open,
            file: self.file,
            sent_s: self.at_s,
        }
    }
}

/// How a question was closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Closed {
    /// `by` is who answered; `end` is how the call went, once that is known.
    Answered {
        answer: Answer,
        by: String,
        at_ms: UnixMillis,
        end: Option<CallStatus>,
    },
    Expired {
        at_ms: UnixMillis,
    },
    /// It was closed without an answer, for this reason.
    Superseded {
        at_ms: UnixMillis,
        why: String,
    },
    /// The question stands in a newer message.
    AskedAgain,
}

/// How an answered call went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallStatus {
    Ok,
    Failed,
    Denied,
    Unknown,
}

/// A door: where a person talks to claw, as far as every door does it. A door for chats is a
/// [`ChatDoor`](super::ChatDoor), too; the console is a door alone, because its address ends with
/// its process, and nothing that stands on a terminal can be changed.
pub trait Door: Send + Sync + Sized + 'static {
    /// The first word of its addresses.
    const NAME: &'static str;

    /// One message, as this door shows text.
    type Text: Clone + PartialEq + Debug + Send + Sync + 'static;

    /// Sends a message, with its formatting or without, and gives back its number.
    fn send(
        &self,
        to: &Address,
        text: &Self::Text,
    ) -> impl Future<Output = Result<i64, DoorFault>> + Send;

    /// Puts a question of this turn, with whatever an answer takes. 0: the turn is not known, or
    /// nothing of it was shown here.
    fn ask(
        &self,
        to: &Address,
        turn_seq: u64,
        question: &Question,
    ) -> impl Future<Output = Result<QuestionMessage, DoorFault>> + Send;

    /// Makes the message of a list, which is still open, show what of it is answered. It may be
    /// done twice.
    fn show_answered(
        &self,
        posted: &PostedQuestion,
        question: &Question,
    ) -> impl Future<Output = Result<(), DoorFault>> + Send;

    /// Says what became of a question: in its message, where that can be changed.
    fn close(
        &self,
        posted: &PostedQuestion,
        question: &Question,
        how: &Closed,
    ) -> impl Future<Output = Result<(), DoorFault>> + Send;

    /// Where glimpses of a session go while it runs: what happens now, shown or dropped, never
    /// waited for. Dropping the sink ends the show.
    fn glimpses(self: &Arc<Self>, session: &SessionId, to: &Address) -> LiveSink;
}
