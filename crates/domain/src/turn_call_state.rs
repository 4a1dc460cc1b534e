//! How far a call of a turn is, in one word, for whoever takes part in its session. Must not know
//! who is told.

use serde::Serialize;

use crate::text_forms::text_forms;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnCallState {
    Running,
    /// For an answer, or for the next process.
    Waiting,
    Ended,
    /// Its tool says that it failed.
    Failed,
    Refused,
    /// It may or may not have run.
    Unknown,
}

text_forms!(TurnCallState {
    Running = "running",
    Waiting = "waiting",
    Ended = "ended",
    Failed = "failed",
    Refused = "refused",
    Unknown = "unknown",
});
