//! Where a request came from. Owns the order of trust; must not know what any origin may do (that
//! is policy).

use serde::{Deserialize, Serialize};

use crate::text_forms::text_forms;

/// From the most to the least trusted; `Ord` follows trust, so `Forwarded < Owner`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Content that somebody else wrote and the owner passed on.
    Forwarded,
    SubAgent,
    McpClient,
    /// The scheduler or a heartbeat.
    Schedule,
    /// A button that the owner tapped.
    Button,
    /// A message that the owner wrote.
    Owner,
}

text_forms!(Origin {
    Forwarded = "forwarded",
    SubAgent = "sub_agent",
    McpClient = "mcp_client",
    Schedule = "schedule",
    Button = "button",
    Owner = "owner",
});
