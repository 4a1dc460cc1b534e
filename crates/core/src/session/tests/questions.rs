//! Questions and what comes at the same time as their end: a message, time, a killed holder, a new
//! conversation, a stop.

use std::time::Duration;

use super::rig::{Rig, echoes, log};
use crate::domain::{ApprovalState, EventBody, InboundBody};
use crate::gate::tests::rig::{OWNER, allow};
use crate::model::Script;
use crate::session::Ran;

/// `echo two` runs without a question, any other asks.
const TWO_IS_FINE: &str =
    "[[rule]]\ntool = \"echo\"\nargs.text = \"two\"\ndecision = \"allow\"\nwhy = \"two is fine\"\n";

fn parked_rig() -> Rig {
    Rig::new(TWO_IS_FINE, [echoes(&["one", "two"]), Script::text("done")])
}

#[tokio::test]
async fn a_message_that_waits_behind_a_question_is_read_when_its_time_is_over() {
    let rig = parked_rig();
    rig.turn("go").await;
    assert_eq!(rig.turn("still there?").await, Ran::Parked);
    let db = rusqlite::Connection::open(rig.gate.home().join("claw.db")).unwrap();
    assert_eq!(db.execute("UPDATE approvals SET expires_ms = 1", []).unwrap(), 1);
    assert_eq!(rig.run().await, Ran::Idle);
    let told = rig.last_asked();
    assert!(told[0].contains("in time") && told[2] == "still there?", "{told:?}");
}

#[tokio::test]
async fn an_answer_that_comes_with_a_message_counts() {
    let rig = parked_rig();
    rig.turn("go").await;
    rig.allow().await;
    assert_eq!(rig.turn("hurry").await, Ran::Idle);
    assert_eq!(rig.gate.effects("legacy"), ["two", "one"]);
    assert_eq!(rig.last_asked(), ["result one", "result two", "hurry"]);
}

/// The store closes a question before the log says so. A holder that is killed in between leaves
/// the two apart; what comes after it must neither wait forever nor spin.
#[tokio::test]
async fn a_question_that_a_killed_holder_closed_is_closed_in_the_log() {
    for by_time in [false, true] {
        let rig = parked_rig();
        rig.turn("go").await;
        let call = rig.gate.store.read(|tx| tx.open_approvals(None)).unwrap()[0].call.clone();
        // An older claw has closed questions when its owner wrote.
        let how = if by_time { ApprovalState::Expired } else { ApprovalState::Superseded };
        let id = rig.gate.store.read(|tx| tx.approval_of(&call)).unwrap().unwrap().id;
        let denied = crate::domain::Outcome::denied(crate::domain::DeniedBy::Stop, "a new message");
        let close = move |tx: &crate::store::Tx<'_>| {
            tx.decide(&id, how, None, how.as_str())?.unwrap();
            tx.end_call(&call, &denied)?;
            Ok(())
        };
        rig.gate.store.write(close).await.unwrap();
        let settled = tokio::time::timeout(Duration::from_secs(20), rig.turn("still there?")).await;
        assert_eq!(settled.expect("it does not spin"), Ran::Idle);
        let closed =
            |body: &EventBody| matches!(body, EventBody::CallAnswered { answer: None, .. });
        assert!(log(&rig.gate).iter().any(closed));
        assert_eq!(rig.gate.effects("legacy"), ["two"]);
    }
}

#[tokio::test]
async fn new_ends_the_turn_its_questions_and_the_grants_of_the_session() {
    let rig = parked_rig();
    rig.turn("go").await;
    rig.answer(&crate::gate::tests::rig::allow(crate::domain::Term::Session)).await;
    assert_eq!(rig.run().await, Ran::Idle);
    for text in ["one", "done", "one", "done"] {
        rig.model.push(if text == "one" { echoes(&["one"]) } else { Script::text(text) });
    }
    assert_eq!(rig.turn("again").await, Ran::Idle, "the session grant covers it");
    // A clear and a message at once: the grant must be gone before the message's call is judged.
    rig.submit(InboundBody::Clear).await;
    assert_eq!(rig.turn("and now").await, Ran::Parked);
    assert_eq!(rig.gate.effects("legacy"), ["two", "one", "one"]);
    assert_eq!(super::rig::words(&rig.model.requests().last().unwrap().messages[0]), ["and now"]);
    rig.submit(InboundBody::Clear).await;
    assert_eq!(rig.run().await, Ran::Idle);
    assert!(rig.gate.store.read(|tx| tx.open_approvals(None)).unwrap().is_empty());
    assert_eq!(rig.kinds().last().unwrap(), "session.cleared");
}

/// The answer and a stop came at the same moment, and the stop was absorbed first.
#[tokio::test]
async fn an_answer_to_a_turn_that_has_ended_has_no_place_in_the_log() {
    let rig = Rig::new("", [echoes(&["one"]), Script::text("two")]);
    assert_eq!(rig.turn("go").await, Ran::Parked);
    let approval = rig.gate.store.read(|tx| tx.open_approvals(None)).unwrap().remove(0).id;
    rig.submit(InboundBody::Stop).await;
    assert_eq!(rig.run().await, Ran::Idle);
    let answer = Some(allow(crate::domain::Term::Once));
    rig.submit(InboundBody::Answered { approval, answer, by: OWNER.into() }).await;
    assert_eq!(rig.turn("go on").await, Ran::Idle);
    assert!(!rig.kinds().contains(&"call.answered".to_owned()), "{:?}", rig.kinds());
    assert_eq!(rig.replies().last().unwrap(), "two");
}
