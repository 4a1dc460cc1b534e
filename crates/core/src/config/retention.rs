//! The `[retention]` section of `claw.toml`: how long what claw keeps is kept. Must not know who
//! keeps to it.

use serde::Deserialize;

use super::range::within;

/// The generous defaults outlive every question and every usual look back.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Retention {
    /// Days after which the file of an artifact goes, unless a conversation still shows it to a
    /// model.
    pub artifacts_days: u64,
    /// Bytes that all artifacts may take; the oldest go first.
    pub artifacts_bytes_max: u64,
    /// Days after which a row of the audit goes. More than a question can stay open.
    pub audit_days: u64,
    /// Days after which a message that was taken in or delivered, and which message of a chat
    /// showed a question that was answered, goes from the queues. The log of its session keeps what
    /// it says.
    pub delivered_days: u64,
    /// Days after which a turn that changed files can no longer be undone.
    pub undo_days: u64,
    /// Bytes that what turns have changed may take; the oldest turns go first.
    pub undo_bytes_max: u64,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            artifacts_days: 365,
            artifacts_bytes_max: 10 << 30,
            audit_days: 1095,
            delivered_days: 90,
            undo_days: 30,
            undo_bytes_max: 2 << 30,
        }
    }
}

impl Retention {
    /// The first key outside of its range, and what is wrong with it.
    pub(super) fn check(&self) -> Result<(), (&'static str, String)> {
        within(
            "retention",
            [
                ("artifacts_days", self.artifacts_days, 1, 36_500),
                ("artifacts_bytes_max", self.artifacts_bytes_max, 1 << 20, 1 << 50),
                ("audit_days", self.audit_days, 31, 36_500),
                ("delivered_days", self.delivered_days, 2, 36_500),
                ("undo_days", self.undo_days, 1, 36_500),
                ("undo_bytes_max", self.undo_bytes_max, 1 << 20, 1 << 50),
            ],
        )
    }
}
