//! What a compaction leaves in the log beside a summary: what stands word for word, what it came
//! to, which results were cut. Must not know how any of it is chosen or shown.

use serde::{Deserialize, Serialize};

use super::{ShellKeeps, ShellStands, UnixMillis};

/// What of the replaced part of a conversation a model sees word for word.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptWords {
    /// What the owner has said as a rule, oldest first.
    pub rules: Vec<String>,
    /// Names, numbers, paths and the like, each with some of the words before it.
    pub identifiers: Vec<String>,
    /// The artifact with the whole replaced part. Its first line names the one before it.
    pub archive: Option<String>,
}

/// What a compaction came to. The estimates are of the whole window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Compaction {
    pub before_tokens: u64,
    pub after_tokens: u64,
    /// When a model was asked for a summary, newest last; as far back as the limit on that looks.
    pub asked_ms: Vec<UnixMillis>,
    pub kept: KeptWords,
    /// Where shells stand that do not stand in the workspace.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shells: Vec<ShellStands>,
    /// What shells keep that keep any variables.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shell_variables: Vec<ShellKeeps>,
}

impl Compaction {
    /// Of a log that was written before this was noted.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}

/// A result of which a model sees head and tail only: that of a tool use, by the number of its
/// reply and its place in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutResult {
    pub reply_seq: u64,
    pub block: u32,
    /// The artifact with all of its text.
    pub artifact: String,
}
