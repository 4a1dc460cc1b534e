//! What a new standing answer does with the questions that are open, and how its uses are counted.

use serde_json::json;

use super::rig::{ALLOW, OWNER, Rig, allow, echo, session};
use crate::domain::{
    Answer, ApprovalId, ApprovalState, CallState, DeniedBy, Origin, Outcome, Term, ToolCall,
};
use crate::store::GrantRow;

fn of_session(n: u64, name: &str) -> ToolCall {
    let mut call = echo(n, "hi");
    call.id.rename_session(&session(name));
    call
}

fn state(rig: &Rig, id: &ApprovalId) -> ApprovalState {
    rig.store.read(|tx| tx.approval(id)).unwrap().unwrap().state
}

fn grant(rig: &Rig) -> GrantRow {
    rig.store.read(|tx| tx.grants()).unwrap().remove(0)
}

/// Five questions about the same: two of `main`, one of another session, one of another person, one
/// of a lower origin; and one about something else.
struct Asked {
    rig: Rig,
    first: ApprovalId,
    second: ApprovalId,
    elsewhere: ApprovalId,
    strangers: ApprovalId,
    forwarded: ApprovalId,
    other: ApprovalId,
}

async fn asked() -> Asked {
    let rig = Rig::new(&["legacy"], "");
    let mut of_stranger = echo(4, "hi");
    of_stranger.principal = "telegram:666".into();
    let mut forwarded = echo(5, "hi");
    forwarded.origin = Origin::Forwarded;
    Asked {
        first: rig.parked(echo(1, "hi")).await,
        second: rig.parked(echo(2, "hi")).await,
        elsewhere: rig.parked(of_session(3, "other")).await,
        strangers: rig.parked(of_stranger).await,
        forwarded: rig.parked(forwarded).await,
        other: rig.parked(echo(6, "something else")).await,
        rig,
    }
}

#[tokio::test]
async fn a_new_grant_answers_the_open_questions_that_it_covers_and_no_others() {
    let Asked { rig, first, second, elsewhere, strangers, forwarded, other } = asked().await;
    rig.gate.calls().decide(&first, &allow(Term::Always), OWNER).await.unwrap();
    for id in [&second, &elsewhere] {
        let row = rig.store.read(|tx| tx.approval(id)).unwrap().unwrap();
        assert_eq!(row.state, ApprovalState::Approved);
        assert_eq!(row.decided_by.unwrap(), format!("grant {}", grant(&rig).id));
        assert_eq!(row.answer, Some(allow(Term::Always)));
    }
    for id in [&strangers, &forwarded, &other] {
        assert_eq!(state(&rig, id), ApprovalState::Waiting);
    }
    let settled = rig.store.read(|tx| tx.approvals_settled_with(&first)).unwrap();
    assert_eq!(settled.len(), 2);
    // Each session hears of it, and each call has its own row in the audit.
    for name in ["main", "other"] {
        let woken = rig.store.read(|tx| tx.queued_inbound(&session(name))).unwrap();
        assert_eq!(woken.len(), if name == "main" { 2 } else { 1 });
    }
    let audit = rig.store.read(|tx| tx.audit_after(0, 1_000)).unwrap();
    let covered: Vec<_> = audit.iter().filter(|row| row.body.get("covered_by").is_some()).collect();
    assert_eq!(covered.len(), 2);
    assert_eq!(covered[0].body["covered_by"]["given_by"], json!(OWNER));
    assert_eq!(rig.ended(echo(1, "hi")).await, "hi");
    assert_eq!(rig.ended(echo(2, "hi")).await, "hi");
    assert_eq!(rig.ended(of_session(3, "other")).await, "hi");
    assert_eq!(rig.effects("legacy").len(), 3);
    rig.verify();
}

#[tokio::test]
async fn a_grant_of_a_session_answers_none_of_another_one() {
    let Asked { rig, first, second, elsewhere, .. } = asked().await;
    rig.gate.calls().decide(&first, &allow(Term::Session), OWNER).await.unwrap();
    assert_eq!(state(&rig, &second), ApprovalState::Approved);
    assert_eq!(state(&rig, &elsewhere), ApprovalState::Waiting);
}

#[tokio::test]
async fn a_yes_to_one_call_and_a_no_answer_nothing_else() {
    for answer in [allow(Term::Once), Answer::Deny { word: None }] {
        let Asked { rig, first, second, .. } = asked().await;
        rig.gate.calls().decide(&first, &answer, OWNER).await.unwrap();
        assert_eq!(state(&rig, &second), ApprovalState::Waiting);
    }
}

#[tokio::test]
async fn never_denies_the_open_questions_of_all_that_it_covers() {
    let Asked { rig, first, second, strangers, forwarded, other, .. } = asked().await;
    rig.gate.calls().decide(&first, &Answer::Never, OWNER).await.unwrap();
    for id in [&second, &strangers, &forwarded] {
        assert_eq!(state(&rig, id), ApprovalState::Denied);
    }
    assert_eq!(state(&rig, &other), ApprovalState::Waiting);
    let never = grant(&rig).id;
    let outcome = rig.call(echo(2, "hi")).await;
    assert!(
        matches!(outcome, Outcome::Denied { by: Some(DeniedBy::Never { grant }), .. } if grant == never),
        "{outcome:?}"
    );
    // Four were open; the one that was answered itself was a no of its own.
    assert_eq!(grant(&rig).uses, 4);
    rig.denied(echo(9, "hi")).await;
    rig.row(&echo(9, "hi").id).await;
    assert_eq!(grant(&rig).uses, 5);
    assert!(rig.effects("legacy").is_empty());
}

/// What was allowed is judged again, under the rules and grants of that moment.
#[tokio::test]
async fn a_grant_that_is_taken_back_before_a_call_starts_lets_none_of_them_run() {
    let Asked { rig, first, second, elsewhere, .. } = asked().await;
    rig.gate.calls().decide(&first, &allow(Term::Always), OWNER).await.unwrap();
    let id = grant(&rig).id;
    rig.store.write(move |tx| tx.revoke_grant(id)).await.unwrap();
    let again = rig.parked(echo(2, "hi")).await;
    assert_ne!(again, second);
    let never = "[[rule]]\nserver = \"legacy\"\ndecision = \"deny\"\nwhy = \"no\"\n";
    rig.again(never).denied(of_session(3, "other")).await;
    assert_eq!(state(&rig, &elsewhere), ApprovalState::Approved);
    assert!(rig.effects("legacy").is_empty());
}

/// Another process gives the grant between the verdict on a call and its question.
#[tokio::test]
async fn a_call_that_is_judged_while_a_grant_is_given_is_not_asked_about() {
    let rig = Rig::new(&["legacy"], "");
    let first = rig.parked(echo(1, "hi")).await;
    // All the rows of the judged call wait in the writer behind the answer to the first one.
    let answering = rig.gate.clone();
    let calls: Vec<_> = (2..30).map(|n| rig.call(echo(n, "hi"))).collect();
    let answer = async move {
        answering.calls().decide(&first, &allow(Term::Always), OWNER).await.unwrap();
    };
    let (_, outcomes) = tokio::join!(answer, futures::future::join_all(calls));
    let open = rig.store.read(|tx| tx.open_approvals(None)).unwrap();
    assert!(open.is_empty(), "{open:?} {outcomes:?}");
}

#[tokio::test]
async fn each_call_that_a_grant_lets_run_is_counted_once() {
    let rig = Rig::new(&["legacy"], "idempotent = [\"legacy/echo\"]\n");
    let first = rig.parked(echo(1, "hi")).await;
    rig.gate.calls().decide(&first, &allow(Term::Always), OWNER).await.unwrap();
    assert_eq!((grant(&rig).uses, grant(&rig).last_used_ms), (0, None));
    rig.ended(echo(1, "hi")).await;
    assert_eq!(grant(&rig).uses, 0, "that one was asked about");
    for n in 2..5 {
        rig.ended(echo(n, "hi")).await;
        rig.ended(echo(n, "hi")).await;
    }
    assert_eq!(grant(&rig).uses, 3);
    assert!(grant(&rig).last_used_ms.is_some());
    // A kill in the middle: the call is started, has no end, and is run again.
    let id = echo(4, "hi").id;
    rig.row(&id).await;
    let key = id.to_string();
    let db = rusqlite::Connection::open(rig.home().join("claw.db")).unwrap();
    let reset = "UPDATE calls SET state = 'started', outcome = NULL, ended_ms = NULL WHERE id = ?1";
    assert_eq!(db.execute(reset, [key]).unwrap(), 1);
    assert_eq!(rig.row(&id).await.state, CallState::Started);
    rig.ended(echo(4, "hi")).await;
    assert_eq!(rig.effects("legacy").len(), 5, "it ran again");
    assert_eq!(grant(&rig).uses, 3);
    // What a rule allows is no grant's doing.
    let allowing = rig.again(ALLOW);
    allowing.ended(echo(7, "hi")).await;
    assert_eq!(grant(&rig).uses, 3);
}
