//! Where a request came from. Owns the order of trust; must not know what any origin may do (that
//! is policy).

use serde::{Deserialize, Serialize};

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

impl Origin {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Forwarded => "forwarded",
            Self::SubAgent => "sub_agent",
            Self::McpClient => "mcp_client",
            Self::Schedule => "schedule",
            Self::Button => "button",
            Self::Owner => "owner",
        }
    }
}
