//! What comes in by a door. Owns the stored form of an inbox row; must not know any door's wire.

use serde::{Deserialize, Serialize};

use super::{Address, Answer, ApprovalId, Block, Named, Origin, SessionId};

/// Something that somebody said or tapped. It is committed in the inbox before it is acknowledged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inbound {
    pub session: SessionId,
    /// Where an answer goes.
    pub from: Address,
    /// Who it is, as the door has proven it: `console:uid:1000`, `telegram:12345`.
    pub principal: String,
    pub origin: Origin,
    pub body: InboundBody,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum InboundBody {
    Message {
        blocks: Vec<Block>,
        /// What of tool servers it names, as its writer has typed it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        named: Vec<Named>,
    },
    /// An answer that has already been decided by compare-and-set; it only wakes the session.
    Answered {
        approval: ApprovalId,
        answer: Option<Answer>,
        by: String,
    },
    Stop,
    Compact,
    /// `/new`.
    Clear,
    /// Drops the newest exchange from what a model sees.
    Undo,
}

impl InboundBody {
    /// A message that names nothing of any server.
    pub fn message(blocks: Vec<Block>) -> Self {
        Self::Message { blocks, named: Vec::new() }
    }
}
