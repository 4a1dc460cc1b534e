//! Messages that show what is not finished: what a model says, a call that runs. Must not know how
//! they are shown or stored.

use super::{Address, SessionId};

/// A message that shows the beginning of what the model is saying.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftMessage {
    pub address: Address,
    pub message: i64,
    pub session: SessionId,
    pub turn_seq: u64,
    pub step: u32,
    /// The first one is 0.
    pub part: u32,
}

/// A message that shows a call that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningCall {
    pub address: Address,
    pub message: i64,
    pub session: SessionId,
    pub title: String,
}
