//! Which openings a command asks for, in its argument `opens`. Pure. Must not know which are open,
//! or how they are reached.

use claw_domain::{Level, Opening};
use serde::Deserialize as _;

use super::{Facts, level};

/// The argument's name.
pub(crate) const OPENS: &str = "opens";
/// What a call is told whose openings make no sense.
const AT_NETWORK: &str =
    "`opens` goes with needs: \"network\", because what is opened leads out of the box";
const NAMES: &str = "`opens` is a list of \"ssh-agent\" and \"docker\"";

/// The openings that a command of our own bash server names; none for every other call.
///
/// # Errors
/// What is wrong with them, for the model.
pub fn named(facts: &Facts<'_>) -> Result<Vec<Opening>, &'static str> {
    let opens = facts.arguments.get(OPENS).filter(|_| level::is_command(facts));
    let Some(opens) = opens.filter(|opens| !opens.is_null()) else { return Ok(Vec::new()) };
    let mut named = Vec::<Opening>::deserialize(opens).map_err(|_| NAMES)?;
    named.sort();
    named.dedup();
    if !named.is_empty() && level::of(facts) != Some(Level::Network) {
        return Err(AT_NETWORK);
    }
    Ok(named)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::shape::{Shape, covers, offered_shapes};
    use crate::tests::facts;
    use crate::{Policy, Verdict};
    use claw_domain::Scope;

    const ALLOW_ALL: &str = "[[rule]]\nserver = \"*\"\ndecision = \"allow\"\nwhy = \"all\"\n";

    fn call(needs: &str, opens: Value) -> Value {
        json!({"command": "docker ps", "needs": needs, "opens": opens})
    }

    #[test]
    fn only_names_that_there_are_can_be_opened_and_only_at_network() {
        let named = |arguments: &Value| named(&facts("bash", "run", arguments));
        assert_eq!(
            named(&call("network", json!(["docker", "ssh-agent", "docker"]))),
            Ok(vec![Opening::SshAgent, Opening::Docker])
        );
        for none in [Value::Null, json!([])] {
            assert_eq!(named(&call("read", none)), Ok(Vec::new()));
        }
        for (needs, opens) in [
            ("read", json!(["docker"])),
            ("write", json!(["docker"])),
            ("root", json!(["docker"])),
            ("network", json!(["Docker"])),
            ("network", json!("docker")),
            ("network", json!([1])),
        ] {
            assert!(named(&call(needs, opens.clone())).is_err(), "{needs} {opens}");
        }
    }

    #[test]
    fn no_rule_and_no_grant_for_a_program_lets_it_run_without_a_question() {
        let opened = call("network", json!(["docker"]));
        let policy = Policy::load(Some(ALLOW_ALL)).unwrap();
        let judged = policy.judge(&facts("bash", "run", &opened));
        assert!(
            matches!(&judged, Verdict::Ask { rule, .. } if rule == "builtin.opening"),
            "{judged:?}"
        );
        let offered = offered_shapes(&facts("bash", "run", &opened));
        assert!(offered.iter().all(|(scope, _)| *scope == Scope::Exact), "{offered:?}");
        let plain = json!({"command": "docker ps", "needs": "network"});
        let scope = Scope::Command { words: vec!["docker".into(), "ps".into()] };
        if let Some(granted) = Shape::of(&scope, &facts("bash", "run", &plain)) {
            assert!(!covers(&granted, &facts("bash", "run", &opened)));
        }
    }
}
