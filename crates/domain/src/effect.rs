//! What a call does, as a person reads it before the yes. Owns no wording; must not know doors, or
//! how a call is judged.

use serde::{Deserialize, Serialize};

/// The effect of one frozen call: made when its question is made, and covered by the call's digest.
/// Every string in it is already made visible by [`crate::escape`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// The effect in one sentence without a full stop: `Delete photos/ and the 212 files in it`.
    pub says: String,
    /// Whether it cannot be taken back, or reaches out of the workspace.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub danger: bool,
    /// What else belongs beside the sentence: what the box lets a command do, a name that looks
    /// like another one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Who asks, where that is not the owner's own message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asker: Option<String>,
    /// Why it asks, where that is a rule and not only the class of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The lines that go, come and stay, each behind `-`, `+` or a space; `@` starts a place
    /// further down, `\` is a remark. Empty where nothing is compared.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub difference: String,
    /// The names of the arguments that the sentence or the difference tells whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<String>,
    /// The key of the answer that would have spared the owner the last yeses to the like of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offer: Option<String>,
    /// A job asks, so that "always" is for this job alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub for_job: bool,
    /// An MCP client asks, so that "always" is for this client alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub for_client: bool,
    /// What the workspace had when the sentence was made, as a mark to compare with. `None` where
    /// the sentence rests on the arguments alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
}

impl Effect {
    /// Whether a shown argument is told whole by the sentence or the difference. Parts of an
    /// argument are named `edits[0].old_text`.
    pub fn tells(&self, argument: &str) -> bool {
        self.told.iter().any(|told| {
            argument
                .strip_prefix(told.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_is_told_with_its_parts_and_no_other() {
        let effect = Effect { told: vec!["edits".into()], ..Effect::default() };
        for (name, told) in [
            ("edits", true),
            ("edits[0].old_text", true),
            ("edits.x", true),
            ("editsx", false),
            ("\"edits[0]\"", false),
            ("edit", false),
        ] {
            assert_eq!(effect.tells(name), told, "{name}");
        }
    }
}
