//! Whose calls a believed hint lets run, and how long.

use serde_json::json;

use super::rig::{OWNER, Rig, tool};
use crate::calls::Grounds;
use crate::catalog::TrustAnswer;
use crate::domain::{
    Address, BELIEVED, DeniedBy, Origin, Outcome, OwnerQuestionState, ToolCall, Trust,
};
use crate::gate::CallContext;

fn look(n: u64) -> ToolCall {
    ToolCall { server: "hinted".into(), ..tool(n, "look", json!({})) }
}

async fn believing() -> Rig {
    let rig = Rig::new(&["hinted"], "");
    rig.gate.catalog().set_trust("hinted", Trust::Hints, OWNER).await.unwrap();
    rig
}

#[tokio::test]
async fn a_hint_counts_for_the_owners_own_words_alone() {
    let rig = believing().await;
    assert_eq!(rig.ended(look(1)).await, "done");
    let others = [Origin::Schedule, Origin::McpClient, Origin::SubAgent, Origin::Forwarded];
    for (n, origin) in (10..).zip(others) {
        rig.parked(ToolCall { origin, ..look(n) }).await;
    }
    // Others would hear what it reads.
    let context = CallContext { heard_by_others: true, ..rig.context() };
    let outcome = rig.gate.call(look(20), context).await;
    assert!(matches!(outcome, Outcome::Parked { .. }), "{outcome:?}");
    assert_eq!(rig.effects("hinted"), ["look"]);
    rig.verify();
}

#[tokio::test]
async fn a_hint_that_is_taken_back_between_the_verdict_and_the_start_starts_nothing() {
    let rig = believing().await;
    rig.ended(look(1)).await;
    let found = rig.gate.catalog().tool("hinted", "look").await.unwrap();
    let launch = rig.store.read(|tx| tx.trust("hinted")).unwrap().unwrap().launch;
    let judged = Grounds { believed: Some(launch), ..Grounds::new(BELIEVED, "it was believed") };
    let calls = rig.gate.calls();
    assert!(calls.begin(&look(2), None, &found, &judged).await.is_ok());
    rig.again("").gate.catalog().set_trust("hinted", Trust::Ask, OWNER).await.unwrap();
    let denied = calls.begin(&look(3), None, &found, &judged).await.unwrap_err();
    assert_eq!(denied.by, DeniedBy::Changed);
    rig.parked(look(4)).await;
}

#[tokio::test]
async fn the_question_is_asked_once_and_answered_once() {
    let rig = Rig::new(&["hinted"], "");
    rig.parked(look(1)).await;
    let to_show = || rig.store.read(|tx| tx.owner_questions_to_show(0)).unwrap();
    let asked = to_show();
    assert_eq!((asked.len(), asked[0].state), (1, OwnerQuestionState::New));
    let id = asked[0].id.clone();
    let catalog = rig.gate.catalog();
    // What nobody has seen cannot be answered.
    let answer = |level| catalog.answer_about_trust(&id, level, OWNER);
    assert_eq!(answer(Trust::Hints).await.unwrap(), TrustAnswer::Over);
    let (told, at) = (id.clone(), Address("telegram/1/2".into()));
    rig.store.write(move |tx| tx.owner_question_told(&told, &at, 5)).await.unwrap();
    assert_eq!(answer(Trust::Hints).await.unwrap(), TrustAnswer::Set(Trust::Hints));
    assert_eq!(answer(Trust::Nothing).await.unwrap(), TrustAnswer::Over);
    assert_eq!(catalog.trusted("hinted").unwrap().level, Trust::Hints);
    rig.store
        .write({
            let id = id.clone();
            move |tx| tx.close_owner_question(&id)
        })
        .await
        .unwrap();
    let later = rig.again("");
    later.ended(look(2)).await;
    assert!(to_show().is_empty(), "asked again");
}
