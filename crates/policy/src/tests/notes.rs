//! What is given of the memory, and who may write to it.

use claw_domain::OwnServerName;
use serde_json::json;

use super::{ALLOW_ALL, facts, kind, policy};
use crate::{Facts, Origin, Policy};

#[test]
fn what_the_memory_holds_is_given_to_others_only_after_a_question() {
    let none = json!({});
    let judged = |policy: &Policy, origin, tool| {
        let memory =
            Facts { builtin: Some(OwnServerName::Memory), origin, ..facts("memory", tool, &none) };
        let verdict = policy.judge(&memory);
        let (kind, rule) = kind(&verdict);
        format!("{kind} {rule}")
    };
    let usual = policy("");
    for origin in [Origin::Owner, Origin::Button, Origin::Schedule, Origin::SubAgent] {
        assert_eq!(judged(&usual, origin, "recall"), "allow class.safe", "{origin:?}");
    }
    for origin in [Origin::Forwarded, Origin::McpClient] {
        for tool in ["recall", "read", "list"] {
            assert_eq!(judged(&usual, origin, tool), "ask class.private", "{origin:?}");
        }
    }
    // A rule of the owner's says more than what is usual.
    assert_eq!(judged(&policy(ALLOW_ALL), Origin::Forwarded, "recall"), "allow policy.toml:1");
}

/// Also where a rule of the owner's allows everything, whoever asks.
#[test]
fn whoever_is_not_the_owner_proposes_and_never_writes_and_a_proposal_needs_a_tap() {
    let none = json!({});
    let policy = policy(ALLOW_ALL);
    let denied = |origin, tool| {
        let memory =
            Facts { builtin: Some(OwnServerName::Memory), origin, ..facts("memory", tool, &none) };
        let denial = policy.hard_deny(&memory).map(|denial| denial.rule);
        let verdict = policy.judge(&memory);
        let (kind, rule) = kind(&verdict);
        assert_eq!(kind == "deny", denial.is_some(), "{origin:?} {tool}");
        denial.inspect(|denial| assert_eq!(denial, rule))
    };
    let writes = ["remember", "update", "supersede", "forget", "restore", "link", "to come"];
    let others = [Origin::Schedule, Origin::McpClient, Origin::SubAgent, Origin::Forwarded];
    for origin in others {
        for tool in writes {
            let by = denied(origin, tool);
            assert_eq!(by.as_deref(), Some("builtin.memory-others"), "{origin:?} {tool}");
        }
        assert_eq!(denied(origin, "promote").as_deref(), Some("builtin.memory-tap"));
    }
    for tool in writes {
        assert_eq!(denied(Origin::Owner, tool), None, "{tool}");
        assert_eq!(denied(Origin::Button, tool), None, "{tool}");
    }
    assert_eq!(denied(Origin::Owner, "promote").as_deref(), Some("builtin.memory-tap"));
    assert_eq!(denied(Origin::Button, "promote"), None);
    for origin in others.into_iter().chain([Origin::Owner, Origin::Button]) {
        for tool in ["propose", "skip", "recall", "read", "list"] {
            assert_eq!(denied(origin, tool), None, "{origin:?} {tool}");
        }
    }
    // A server of others that is called so is none of ours.
    let strange = Facts { origin: Origin::McpClient, ..facts("memory", "promote", &none) };
    assert_eq!(policy.hard_deny(&strange), None);
}
