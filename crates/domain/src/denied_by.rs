//! Which layer of claw denied a call. Owns the stored form; must not know how a verdict is reached.

use serde::{Deserialize, Serialize};

/// The layer that denied a call, as it stands in a result and in the audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "layer", rename_all = "snake_case")]
pub enum DeniedBy {
    /// A hard deny, which no rule and no grant lifts, for example `builtin.pipe-to-shell`.
    HardDeny {
        rule: String,
    },
    /// A rule of the owner's, by its file and line: `policy.toml:12`.
    Rule {
        rule: String,
    },
    /// The class of the tool, because no rule fits, for example `class.dangerous`.
    Class {
        rule: String,
    },
    /// The owner's standing "never", by its number in `claw grants`.
    Never {
        grant: i64,
    },
    /// A rule or a class wants a question, which a button cannot ask.
    Unasked {
        rule: String,
    },
    StopSwitch,
    /// The owner's answer to the question about it.
    Answer,
    /// Nobody answered the question in time.
    Expiry,
    /// The turn or the process ended before the call ran.
    Stop,
    /// A limit, by its key: `limits.turn_time_s`.
    Limit {
        key: String,
    },
    /// A known secret, or the mark of one, stands in the arguments.
    Secrets,
    /// The model asked for a tool that is not there, or with arguments that do not fit.
    Request,
    /// What was judged or confirmed is not what would run.
    Changed,
    /// The hub could not send the call.
    Hub,
    /// Claw failed at something, such as reading its store.
    Failure,
}

impl DeniedBy {
    /// Whether somebody's rule denied the call: one of claw's own, of the owner's, or a "never".
    pub fn is_rule(&self) -> bool {
        matches!(
            self,
            Self::HardDeny { .. }
                | Self::Rule { .. }
                | Self::Class { .. }
                | Self::Never { .. }
                | Self::Unasked { .. }
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::{DeniedBy, Outcome};

    #[test]
    fn a_denial_of_before_layers_were_kept_is_read() {
        let old = r#"{"kind":"denied","reason":"no"}"#;
        let outcome: Outcome = serde_json::from_str(old).unwrap();
        assert_eq!(outcome, Outcome::Denied { reason: "no".into(), by: None });
        assert_eq!(serde_json::to_string(&outcome).unwrap(), old);
        let limit = DeniedBy::Limit { key: "limits.turn_time_s".into() };
        let json = serde_json::to_string(&Outcome::denied(limit.clone(), "late")).unwrap();
        let by = r#""by":{"layer":"limit","key":"limits.turn_time_s"}"#;
        assert!(json.contains(by), "{json}");
        assert_eq!(serde_json::from_str::<Outcome>(&json).unwrap(), Outcome::denied(limit, "late"));
    }
}
