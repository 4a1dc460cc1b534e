//! A call that no log made: of a client. It is asked about, answered elsewhere, and runs once.

use super::rig::{OWNER, Rig, allow, echo};
use crate::calls::DecideError;
use crate::domain::{Answer, ApprovalState, CallId, Origin, Outcome, Scope, Term, ToolCall};

fn of_client(number: u64, text: &str) -> ToolCall {
    let principal = "mcp:laptop".to_owned();
    let id = CallId::Client { principal: principal.clone(), number };
    ToolCall { id, principal, origin: Origin::McpClient, ..echo(0, text) }
}

#[tokio::test]
async fn the_answer_of_another_process_wakes_whoever_drives_the_client_and_no_log() {
    let rig = Rig::new(&["legacy"], "");
    let call = of_client(7, "x");
    let asked = rig.parked(call.clone()).await;
    let question = rig.gate.calls().question(&asked).unwrap().unwrap();
    assert_eq!((question.session, question.call.to_string()), (None, "mcp:laptop/7".to_owned()));
    let (other, yes) = (rig.again(""), allow(Term::Once));
    let (waited, decided) = tokio::join!(
        rig.gate.calls().until_decided(&call.id),
        other.gate.calls().decide(&asked, &yes, OWNER)
    );
    waited.unwrap();
    decided.unwrap();
    assert!(rig.store.read(|tx| tx.sessions_with_answers()).unwrap().is_empty());
    assert_eq!(rig.ended(call.clone()).await, "x");
    assert_eq!(rig.row(&call.id).await.outcome, Some(rig.call(call).await), "it is kept");
    assert_eq!(rig.effects("legacy"), ["x"]);
    rig.verify();
}

#[tokio::test]
async fn what_an_owner_allows_a_chat_reaches_no_client() {
    let rig = Rig::new(&["legacy"], "");
    let asked = rig.parked(echo(1, "x")).await;
    rig.gate.calls().decide(&asked, &allow(Term::Always), OWNER).await.unwrap();
    assert_eq!(rig.ended(echo(2, "x")).await, "x");
    let asked = rig.parked(of_client(1, "x")).await;
    // No session waits for it: nothing is offered for one, and nothing is taken for one.
    let question = rig.gate.calls().question(&asked).unwrap().unwrap();
    let of_session = |answer: &Answer| matches!(answer, Answer::Allow { term: Term::Session, .. });
    assert!(!question.choices.iter().any(|choice| of_session(&choice.answer)), "{question:?}");
    let session = Answer::Allow { term: Term::Session, scope: Scope::Exact };
    let refused = rig.gate.calls().decide(&asked, &session, OWNER).await;
    assert!(matches!(refused, Err(DecideError::NotOffered(_))), "{refused:?}");
    // What is allowed a client is its own, and no other client's.
    rig.gate.calls().decide(&asked, &allow(Term::Always), OWNER).await.unwrap();
    assert_eq!(rig.ended(of_client(2, "x")).await, "x");
    let principal = "mcp:phone".to_owned();
    let id = CallId::Client { principal: principal.clone(), number: 1 };
    rig.parked(ToolCall { id, principal, ..of_client(0, "x") }).await;
}

#[tokio::test]
async fn a_question_that_nobody_answers_ends_the_wait_of_a_client() {
    let rig = Rig::with(&["legacy"], "", |settings| {
        settings.limits.question_time = std::time::Duration::from_millis(1);
    });
    let call = of_client(1, "x");
    let asked = rig.parked(call.clone()).await;
    rig.gate.calls().until_decided(&call.id).await.unwrap();
    let state = rig.store.read(|tx| tx.approval(&asked)).unwrap().unwrap().state;
    assert_eq!(state, ApprovalState::Expired);
    assert!(matches!(rig.call(call).await, Outcome::Denied { .. }));
    assert!(rig.effects("legacy").is_empty());
}
