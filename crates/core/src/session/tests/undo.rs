//! `/undo` of calls, behind a summary, while a turn runs, and behind a stop.

use std::time::Duration;

use super::rig::{Rig, echoes, message, submit_all, words};
use crate::domain::{EventBody, InboundBody};
use crate::gate::tests::rig::ALLOW;
use crate::model::{Delta, Script};
use crate::session::Ran;

async fn undo(rig: &Rig) {
    rig.submit(InboundBody::Undo).await;
    assert_eq!(rig.run().await, Ran::Idle);
}

fn told(rig: &Rig) -> Vec<String> {
    rig.model.requests().last().unwrap().messages.iter().flat_map(words).collect()
}

const NOTHING: &str = "There is nothing to undo: the model sees no whole exchange any more.";

#[tokio::test]
async fn an_exchange_with_calls_goes_with_them_and_what_they_did_stays() {
    let rig = Rig::new(ALLOW, [echoes(&["x", "y"]), Script::text("done"), Script::text("next")]);
    rig.turn("go").await;
    undo(&rig).await;
    assert_eq!(
        rig.notices(),
        ["Dropped from the context: “go”; the log keeps it. What its calls did stays done."]
    );
    assert_eq!(rig.gate.effects("legacy").len(), 2);
    rig.turn("c").await;
    assert_eq!(told(&rig), ["c"]);
}

#[tokio::test]
async fn what_a_summary_has_swallowed_is_not_undone() {
    let rig = Rig::new(ALLOW, ["one", "they said a", "two"].map(Script::text));
    rig.turn("a").await;
    // The request for a summary came first, so the undo waits for it.
    rig.submit(InboundBody::Compact).await;
    undo(&rig).await;
    assert_eq!(rig.notices().last().unwrap(), NOTHING);
    rig.turn("b").await;
    let seen = told(&rig);
    assert!(seen[0].ends_with("by a model:\n> they said a"), "{seen:?}");
    assert_eq!(seen[1..], ["b"]);
    undo(&rig).await;
    assert!(rig.notices().last().unwrap().contains("“b”"));
}

#[tokio::test]
async fn a_turn_that_goes_on_is_not_undone() {
    let rig = Rig::new("", [echoes(&["x"]), Script::text("done")]);
    assert_eq!(rig.turn("go").await, Ran::Parked);
    rig.submit(InboundBody::Undo).await;
    assert_eq!(rig.run().await, Ran::Parked);
    assert_eq!(rig.notices(), [crate::session::TURN_IS_OPEN]);
    assert!(!rig.log().iter().any(|body| matches!(body, EventBody::ExchangeDropped { .. })));
    rig.allow().await;
    assert_eq!(rig.run().await, Ran::Idle);
    assert_eq!(rig.replies(), ["done"]);
}

#[tokio::test]
async fn a_stop_and_an_undo_behind_it_drop_the_stopped_turn() {
    let hang = Script::Hang { deltas: vec![Delta::Text("half".into())] };
    let rig = Rig::new(ALLOW, [Script::text("one"), hang, Script::text("three")]);
    rig.turn("a").await;
    rig.say("b").await;
    let stop = async {
        let deadline = std::time::Instant::now() + claw_test_kit::SOON;
        while rig.model.requests().len() < 2 {
            assert!(std::time::Instant::now() < deadline, "not in time");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        // At once: a run that finds the stop alone has nothing left to do behind it.
        submit_all(&rig.gate, [InboundBody::Stop, InboundBody::Undo, message("c")]).await;
    };
    tokio::join!(rig.run(), stop);
    assert_eq!(rig.replies(), ["one", "Stopped.", "three"]);
    assert_eq!(told(&rig), ["a", "one", "c"]);
}
