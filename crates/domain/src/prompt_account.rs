//! The account of a request to a model: of its parts that no log holds, how large they are and
//! which version they were. Must not know how a request is packed, or who reads the account.

use serde::{Deserialize, Serialize};

/// Digits of a digest that tell versions apart, and by which a person names one.
pub const DIGEST_DIGITS: usize = 16;

/// What stands beside the conversation in a request. The conversation itself is the log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PromptAccount {
    pub persona: PromptPart,
    /// The texts that the persona was made of, in their order.
    pub texts: Vec<PromptText>,
    /// Claw's own rules, the facts of the machine, and what servers say about themselves.
    pub rules: PromptPart,
    pub tools: PromptPart,
    pub tools_count: u64,
    /// All tools that there are, where not all are offered at once.
    #[serde(skip_serializing_if = "PromptTools::is_none")]
    pub tools_known: PromptTools,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<PromptCut>,
}

/// One part of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PromptPart {
    /// The first [`DIGEST_DIGITS`] digits of its SHA-256, in lower case.
    pub digest: String,
    /// Estimated.
    pub tokens: u64,
}

/// How many tools there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PromptTools {
    pub count: u64,
    /// Of their definitions, estimated.
    pub tokens: u64,
}

impl PromptTools {
    fn is_none(&self) -> bool {
        self.count == 0
    }
}

/// One text of a persona.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PromptText {
    /// Its file, or what else it comes from.
    pub name: String,
    pub digest: String,
}

/// What did not go in whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PromptCut {
    pub what: String,
    /// A part of a sentence.
    pub why: String,
}

impl PromptAccount {
    /// Estimated tokens of everything that stands beside the conversation.
    pub fn tokens(&self) -> u64 {
        self.persona.tokens + self.rules.tokens + self.tools.tokens
    }
}
