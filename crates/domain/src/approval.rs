//! How far a question got, what a standing answer does, and who may answer. Must not know how a
//! question is shown or a row is stored.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text_forms::text_forms;

/// `waiting → approved | denied | expired | superseded`. All but the first are ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalState {
    #[default]
    Waiting,
    Approved,
    Denied,
    /// Nobody answered in time.
    Expired,
    /// Something else has made the question needless: a new message, a newer question, the end of
    /// the turn.
    Superseded,
}

text_forms!(ApprovalState {
    Waiting = "waiting",
    Approved = "approved",
    Denied = "denied",
    Expired = "expired",
    Superseded = "superseded",
});

/// What a standing answer of the owner does with the calls that it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantEffect {
    /// Turns a question into an allowance.
    Allow,
    /// Denies from now on.
    Deny,
}

text_forms!(GrantEffect {
    Allow = "allow",
    Deny = "deny",
});

/// Who may answer a question: principals, for example `console:uid:1000` and `telegram:12345`. Its
/// text form has commas between them, and is part of what a frozen call is checked by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Approvers(Vec<String>);

impl Approvers {
    pub fn parse(text: &str) -> Self {
        Self(text.split(',').map(str::to_owned).collect())
    }

    pub fn include(&self, principal: &str) -> bool {
        self.iter().any(|approver| approver == principal)
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl FromIterator<String> for Approvers {
    fn from_iter<T: IntoIterator<Item = String>>(principals: T) -> Self {
        Self(principals.into_iter().collect())
    }
}

impl fmt::Display for Approvers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text forms stand in stores that are in use.
    #[test]
    fn the_text_forms_lead_back() {
        for state in ["waiting", "approved", "denied", "expired", "superseded"] {
            assert_eq!(ApprovalState::parse(state).map(ApprovalState::as_str), Some(state));
        }
        for effect in ["allow", "deny"] {
            assert_eq!(GrantEffect::parse(effect).map(GrantEffect::as_str), Some(effect));
        }
        assert_eq!((ApprovalState::parse("Waiting"), GrantEffect::parse("")), (None, None));
    }

    #[test]
    fn only_a_whole_principal_may_answer() {
        let approvers = Approvers::parse("console:uid:1000,telegram:12345");
        assert_eq!(approvers.to_string(), "console:uid:1000,telegram:12345");
        assert!(approvers.include("telegram:12345") && !approvers.include("telegram:1234"));
        assert!(!approvers.include("console:uid:1000,telegram:12345"));
        assert!(!Approvers::default().include(""));
    }
}
