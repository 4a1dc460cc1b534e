//! Where a request came from. Owns the order of trust; must not know what any origin may do (that
//! is policy).

use std::fmt;

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

    pub fn parse(text: &str) -> Option<Self> {
        [
            Self::Forwarded,
            Self::SubAgent,
            Self::McpClient,
            Self::Schedule,
            Self::Button,
            Self::Owner,
        ]
        .into_iter()
        .find(|origin| origin.as_str() == text)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
