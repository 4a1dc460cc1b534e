//! Questions and their answers: what was shown is what runs, once, by whoever decided first.

use std::time::Duration;

use super::rig::{ALLOW, OWNER, Rig, allow, echo};
use crate::calls::DecideError;
use crate::domain::{Answer, ApprovalState, InboundBody, Outcome, Term};
use crate::store::DecideRefused;

#[tokio::test]
async fn an_approved_call_runs_exactly_once() {
    let rig = Rig::new(&["legacy"], "");
    let call = echo(1, "hi");
    let asked = rig.parked(call.clone()).await;
    assert_eq!(rig.parked(call.clone()).await, asked, "asked once, however often it is called");
    assert_eq!(rig.again("").parked(call.clone()).await, asked, "also after a restart");
    // The answer comes by another process, and wakes the session through the inbox.
    rig.again("").gate.calls().decide(&asked, &allow(Term::Once), OWNER).await.unwrap();
    let inbox = rig.store.read(|tx| tx.queued_inbound(call.session().unwrap())).unwrap();
    assert!(
        matches!(&inbox[0].inbound.body, InboundBody::Answered { approval, .. } if *approval == asked)
    );
    assert_eq!(rig.ended(call.clone()).await, "hi");
    assert_eq!(rig.ended(call.clone()).await, "hi");
    assert_eq!(rig.effects("legacy"), ["hi"]);
    let kinds = ["received", "verdict", "asked", "answered", "verdict", "started", "ended"];
    assert_eq!(rig.audit(&call.id).await, kinds);
    assert_eq!(rig.again("").ended(call.clone()).await, "hi");
    rig.parked(echo(2, "hi")).await;
    assert_eq!(rig.effects("legacy"), ["hi"], "once is for one call, not for its arguments");
    rig.verify();
}

#[tokio::test]
async fn a_no_denies_with_the_word_to_the_model() {
    let rig = Rig::new(&["legacy"], "");
    let asked = rig.parked(echo(1, "hi")).await;
    let no = Answer::Deny { word: Some("use the other file".into()) };
    rig.gate.calls().decide(&asked, &no, OWNER).await.unwrap();
    assert!(rig.denied(echo(1, "hi")).await.contains("use the other file"));
    assert!(rig.effects("legacy").is_empty());
}

#[tokio::test]
async fn two_processes_that_decide_at_once_have_one_winner() {
    let rig = Rig::new(&["legacy"], "");
    for n in 1..6 {
        let (one, two) = (rig.again(""), rig.again(""));
        let asked = rig.parked(echo(n, "hi")).await;
        let (yes, no) = (allow(Term::Always), Answer::Never);
        let (a, b) = tokio::join!(
            one.gate.calls().decide(&asked, &yes, OWNER),
            two.gate.calls().decide(&asked, &no, OWNER)
        );
        assert_eq!(usize::from(a.is_ok()) + usize::from(b.is_ok()), 1);
        let grants = rig.store.read(|tx| tx.grants()).unwrap();
        assert_eq!(grants.len(), 1, "the loser grants nothing");
        assert_eq!(grants[0].effect.as_str(), if a.is_ok() { "allow" } else { "deny" });
        let outcome = rig.call(echo(n, "hi")).await;
        assert_eq!(matches!(outcome, Outcome::Ended { .. }), a.is_ok(), "{outcome:?}");
        let id = grants[0].id;
        rig.store.write(move |tx| tx.revoke_grant(id)).await.unwrap();
    }
}

#[tokio::test]
async fn only_the_owner_answers_and_only_once() {
    let rig = Rig::new(&["legacy"], "");
    let asked = rig.parked(echo(1, "hi")).await;
    let decide = |by: &'static str| {
        let asked = asked.clone();
        let gate = rig.gate.clone();
        async move { gate.calls().decide(&asked, &allow(Term::Once), by).await }
    };
    assert!(matches!(
        decide("telegram:666").await,
        Err(DecideError::Refused(DecideRefused::NotYours { .. }))
    ));
    decide(OWNER).await.unwrap();
    assert!(matches!(
        decide(OWNER).await,
        Err(DecideError::Refused(DecideRefused::AlreadyDecided { .. }))
    ));
}

#[tokio::test]
async fn an_approval_under_other_rules_is_asked_again() {
    let rig = Rig::new(&["legacy"], "");
    let call = echo(1, "hi");
    let asked = rig.parked(call.clone()).await;
    rig.gate.calls().decide(&asked, &allow(Term::Once), OWNER).await.unwrap();
    let other = "[[rule]]\ntool = \"echo\"\ndecision = \"ask\"\nwhy = \"new\"\n";
    let changed = rig.again(other);
    let again = changed.parked(call.clone()).await;
    assert_ne!(again, asked);
    assert!(rig.effects("legacy").is_empty());
    changed.gate.calls().decide(&again, &allow(Term::Once), OWNER).await.unwrap();
    assert_eq!(changed.ended(call.clone()).await, "hi");
    assert_eq!(rig.effects("legacy"), ["hi"]);
}

#[tokio::test]
async fn an_open_question_under_other_rules_is_replaced() {
    let rig = Rig::new(&["legacy"], "");
    let call = echo(1, "hi");
    let asked = rig.parked(call.clone()).await;
    let changed = rig.again("[[rule]]\ntool = \"echo\"\ndecision = \"ask\"\nwhy = \"new\"\n");
    let again = changed.parked(call.clone()).await;
    let late = rig.gate.calls().decide(&asked, &allow(Term::Once), OWNER).await.unwrap_err();
    assert!(late.to_string().contains("superseded"), "{late}");
    assert_eq!(rig.store.read(|tx| tx.open_approvals(None)).unwrap().len(), 1);
    // Rules that allow it close the question and run it.
    let allowing = rig.again(ALLOW);
    assert_eq!(allowing.ended(call).await, "hi");
    assert!(rig.gate.calls().decide(&again, &allow(Term::Once), OWNER).await.is_err());
    assert_eq!(rig.effects("legacy"), ["hi"]);
}

#[tokio::test]
async fn a_rule_that_denies_beats_an_approval_that_was_given_before() {
    let rig = Rig::new(&["legacy"], "");
    let asked = rig.parked(echo(1, "hi")).await;
    rig.gate.calls().decide(&asked, &allow(Term::Once), OWNER).await.unwrap();
    let denying = rig.again("[[rule]]\ntool = \"echo\"\ndecision = \"deny\"\nwhy = \"no\"\n");
    assert!(denying.denied(echo(1, "hi")).await.contains("policy.toml"));
    assert!(rig.effects("legacy").is_empty());
}

#[tokio::test]
async fn a_question_whose_time_is_over_is_closed_and_denies() {
    let rig = Rig::with(&["legacy"], "", |settings| settings.limits.question_time = Duration::ZERO);
    let asked = rig.parked(echo(1, "hi")).await;
    let late = rig.gate.calls().decide(&asked, &allow(Term::Once), OWNER).await.unwrap_err();
    assert!(late.to_string().contains("expired"), "{late}");
    assert_eq!(rig.gate.calls().closed(&asked).unwrap(), None);
    assert_eq!(rig.gate.calls().expire(&echo(1, "hi").id).await.unwrap(), Some(asked.clone()));
    assert_eq!(rig.gate.calls().expire(&echo(1, "hi").id).await.unwrap(), None, "once");
    assert_eq!(rig.gate.calls().closed(&asked).unwrap(), Some(ApprovalState::Expired));
    assert!(rig.denied(echo(1, "hi")).await.contains("in time"));
    assert!(rig.effects("legacy").is_empty());
}

#[tokio::test]
async fn an_answer_that_is_used_too_late_is_asked_for_again() {
    let rig = Rig::new(&["legacy"], "");
    let asked = rig.parked(echo(1, "hi")).await;
    rig.gate.calls().decide(&asked, &allow(Term::Once), OWNER).await.unwrap();
    // Its hours go by between the answer and the start.
    let db = rusqlite::Connection::open(rig.home().join("claw.db")).unwrap();
    db.busy_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!(db.execute("UPDATE approvals SET expires_ms = 1", []).unwrap(), 1);
    assert_ne!(rig.parked(echo(1, "hi")).await, asked);
    assert!(rig.effects("legacy").is_empty());
}

#[tokio::test]
async fn the_stop_switch_beats_an_approval() {
    let rig = Rig::new(&["legacy"], "");
    let asked = rig.parked(echo(1, "hi")).await;
    rig.gate.calls().decide(&asked, &allow(Term::Once), OWNER).await.unwrap();
    rig.store.write(|tx| tx.set_panic(Some("owner"))).await.unwrap();
    assert!(rig.denied(echo(1, "hi")).await.contains("stop switch"));
    assert!(rig.effects("legacy").is_empty());
}

/// Somebody who can write to the database but was not there when it was shown.
#[tokio::test]
async fn a_row_that_is_not_what_was_shown_does_not_run() {
    let rig = Rig::new(&["legacy"], "");
    let call = echo(1, "shown");
    let asked = rig.parked(call.clone()).await;
    rig.gate.calls().decide(&asked, &allow(Term::Once), OWNER).await.unwrap();
    let mut row = rig.row(&call.id).await;
    row.arguments = r#"{"text":"swapped"}"#.into();
    rig.store.write(move |tx| tx.put_call(&row)).await.unwrap();
    assert_ne!(
        rig.parked(call).await,
        asked,
        "the swapped row is not what was approved: it is asked again"
    );
    assert!(rig.effects("legacy").is_empty());
}
