//! A question as the gate asks it, for the tests of whoever shows one or reads answers. Must not
//! know how either is done.

use claw_domain::{Answer, ApprovalId, CallId, Choice, Question, Scope, SessionId, Term};

/// A question about `write_file` with every kind of choice.
pub fn question() -> Question {
    let allow = |term, scope| Answer::Allow { term, scope };
    let below = || Scope::Below { path: "src".into() };
    let choice = |key: &str, answer| Choice { key: key.into(), label: "…".into(), answer };
    Question {
        approval: ApprovalId("q7f2".into()),
        call: CallId::Reply { session: SessionId::new("main").unwrap(), reply_seq: 3, block: 0 },
        session: Some(SessionId::new("main").unwrap()),
        server: "filesystem".into(),
        tool: "write_file".into(),
        arguments: vec![],
        why: "it changes files".into(),
        effect: None,
        expires_at_ms: 0,
        staged: None,
        list: None,
        input: None,
        choices: vec![
            choice("y", allow(Term::Once, Scope::Exact)),
            choice("10m", allow(Term::TenMinutes, Scope::Exact)),
            choice("s", allow(Term::Session, Scope::Exact)),
            choice("a", allow(Term::Always, Scope::Exact)),
            choice("sb", allow(Term::Session, below())),
            choice("never", Answer::Never),
            choice("n", Answer::Deny { word: None }),
        ],
    }
}
