//! The two eras of the protocol and the revisions that claw speaks in each. Must not know
//! connections.

use serde::{Deserialize, Serialize};

/// What `initialize` offers. Never a modern revision (trap 1): servers that copy the version back
/// would then be asked for a life cycle which they do not have.
pub const LEGACY_PROTOCOL: &str = "2025-11-25";

/// The current revision: no `initialize`, metadata in every request.
pub const MODERN_PROTOCOL: &str = "2026-07-28";

/// Revisions with `initialize` that claw accepts as an answer.
pub(crate) const LEGACY_PROTOCOLS: [&str; 4] =
    ["2024-11-05", "2025-03-26", "2025-06-18", LEGACY_PROTOCOL];

/// Which life cycle a server has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Era {
    /// Revisions up to 2025-11-25, opened by `initialize`.
    Legacy,
    /// 2026-07-28 and later, opened by `server/discover`.
    Modern,
}

impl Era {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Legacy, Self::Modern].into_iter().find(|era| era.as_str() == text)
    }
}
