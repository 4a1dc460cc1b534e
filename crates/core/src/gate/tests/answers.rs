//! Questions and their answers where processes race, rules change and rows are not what was shown.

use std::time::Duration;

use super::rig::{ALLOW, OWNER, Rig, allow, echo};
use crate::domain::{Answer, Outcome, Term};

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
