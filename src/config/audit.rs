//! The `[audit]` section of `claw.toml`. Must not know who keeps to it.

use serde::Deserialize;

/// What is told of the audit without being asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AuditSection {
    /// Tell number and digest of the newest row to `telegram.notify_chat`, once a day.
    pub tell_head: bool,
}
