//! How far a message is that shows a question. Must not know how it is shown or stored.

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
