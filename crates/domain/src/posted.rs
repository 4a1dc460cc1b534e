//! A message that shows a question, and how far it is. Must not know how it is shown or stored.

use super::{Address, ApprovalId};

/// A message that shows a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostedQuestion {
    pub approval: ApprovalId,
    pub address: Address,
    /// Below zero: of a chat that has another number since, so that nothing can change it.
    pub message: i64,
    pub state: PostedState,
    /// The message is a file, and what it says is its caption.
    pub file: bool,
    /// When the service had it, in its own seconds since 1970; 0 if that is not known.
    pub sent_s: i64,
}

/// What still has to happen to the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostedState {
    /// The question waits, and this message has its buttons.
    Open,
    /// A newer message shows the question; this one does not say so yet.
    Stale,
    /// It shows the answer, and not yet what the call came to.
    Answered,
    /// It shows how the question ended.
    Closed,
    /// It asks for the reason of a denial.
    AsksReason,
    /// It asked for the reason of a denial, and the question is over.
    ReasonClosed,
}

impl PostedState {
    /// Whether the message shows its question to somebody who could answer it.
    pub fn is_live(self) -> bool {
        matches!(self, Self::Open | Self::Stale)
    }

    /// Whether the message asks, or has asked, for the reason of a denial.
    pub fn is_about_a_reason(self) -> bool {
        matches!(self, Self::AsksReason | Self::ReasonClosed)
    }
}
