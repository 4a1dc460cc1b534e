//! Provider-neutral messages: content blocks under a role. Must not know any provider's wire
//! format.

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    User,
    Assistant,
}

/// One message of the transcript. Tool results travel in a `User` message right after the
/// `Assistant` one that asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    pub role: Role,
    pub blocks: Vec<Block>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    Text {
        text: String,
    },
    ToolUse(Box<ToolUse>),
    ToolResult {
        /// The provider's id of the tool use that this answers.
        use_id: String,
        /// The tool's name as the model called it; one provider needs it again with the result.
        name: String,
        content: String,
        is_error: bool,
    },
    Image {
        /// An IANA media type, for example `image/png`.
        mime: String,
        /// The bytes, base64 (RFC 4648 section 4).
        base64: String,
    },
    /// An image whose bytes are kept beside the log. A model gets it as an [`Block::Image`], or not
    /// at all.
    ImageRef {
        /// An IANA media type, for example `image/png`.
        mime: String,
        /// The bytes' digest, under which they are kept as an artifact.
        digest: String,
        bytes: u64,
    },
    /// Reasoning or other blocks that only the provider that made them can read; they go back to it
    /// unchanged, and to nobody else.
    Opaque {
        provider: String,
        data: Box<Value>,
    },
}

/// A model's request to call a tool. Only the gate makes a call of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolUse {
    /// The provider's id, kept only to be sent back. Never used as a key by us.
    pub id: String,
    /// The name as offered: `server__tool`.
    pub name: String,
    pub input: Value,
    /// The raw text of arguments that were cut off or are not valid JSON. Such a use is answered
    /// with an error and never forwarded; `input` is then an empty object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken_input: Option<String>,
}

impl Message {
    pub fn user_text(text: impl Into<String>) -> Self {
        Self { role: Role::User, blocks: vec![Block::Text { text: text.into() }] }
    }

    pub fn assistant_text(text: impl Into<String>) -> Self {
        Self { role: Role::Assistant, blocks: vec![Block::Text { text: text.into() }] }
    }

    /// All text blocks, joined by blank lines.
    pub fn text(&self) -> String {
        text_of(&self.blocks)
    }
}

/// All text blocks of `blocks`, joined by blank lines.
pub fn text_of(blocks: &[Block]) -> String {
    let texts: Vec<&str> = blocks
        .iter()
        .filter_map(|block| match block {
            Block::Text { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    texts.join("\n\n")
}
