//! What a tool proposes instead of doing it, and how a question shows it. Owns the stored form;
//! must not know who may propose, how a proposal is checked, or any door.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One entry of `_meta["claw/actions"]` of a tool's result: a call of the same server that a tap of
/// the owner makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// A tool of the server that proposes.
    pub tool: String,
    #[serde(default = "no_arguments")]
    pub arguments: Value,
    /// What the tap does, in the server's words. Without it the entry is a button that needs no
    /// question, and the tool has to be safe by our own policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel_label: Option<String>,
    /// How long it can be confirmed, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_s: Option<u64>,
    /// Entries with the same group stand together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

fn no_arguments() -> Value {
    Value::Object(serde_json::Map::new())
}

/// What makes a question one about something staged. Every string is already made visible by
/// `domain::escape`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Staged {
    /// One staged call: choices `y` (its label) and `n` (its cancel label).
    Item {
        summary: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        group: Option<String>,
        /// Its place in the list of the turn, from one on.
        number: u32,
        /// How many there are in the list.
        of: u32,
    },
    /// All items of the turn's list at once: choices `y` and `n`. Its arguments name the items by
    /// number.
    All { of: u32 },
    /// Buttons that need no question: one choice each, with the keys `1`, `2`, …
    Buttons {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        group: Option<String>,
    },
}

/// Which staged action an event is about, in words that need no other event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Action {
    pub server: String,
    pub tool: String,
    pub arguments: Value,
    /// The server's summary, or the label of a button. Redacted, not escaped.
    pub summary: String,
}
