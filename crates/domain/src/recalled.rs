//! A note that was recalled for a message, as its event keeps it. Owns the stored form; must not
//! know how notes are found, or how a model is told of one.

use serde::{Deserialize, Serialize};

/// What a model was given of the memory, apart from the words themselves, which stand in the text
/// of the event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecalledNote {
    pub id: String,
    /// What the note was then. The same note in another version is another text.
    pub version: String,
    pub subject: String,
    /// Who said it, and where, in words; empty if that is unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// The day on which it was last said to be so.
    pub date: String,
    /// How long ago that was when it was recalled.
    pub age: String,
    /// The note that is right instead, if this one is not so any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// The agent whose note it is, where several share a folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// Why it came: the words of the message that it holds, or what the server says of it.
    pub why: String,
}
