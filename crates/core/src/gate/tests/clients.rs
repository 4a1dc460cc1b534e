//! A call that no log made: of a client. It is asked about, answered elsewhere, and runs once.

use super::rig::{OWNER, Rig, allow, echo};
use crate::domain::{ApprovalState, CallId, Origin, Outcome, Term, ToolCall};

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
