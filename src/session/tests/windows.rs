//! The bounded window: summaries, failed summaries, and `/compact`.

use super::rig::{BOUNDS, Rig, words, worker};
use crate::domain::{EventBody, InboundBody};
use crate::gate::tests::rig::ALLOW;
use crate::model::Script;
use crate::session::Ran;

async fn talked(script: impl IntoIterator<Item = Script>) -> Rig {
    let rig = Rig::new(ALLOW, [Script::text("one"), Script::text("two")].into_iter().chain(script));
    rig.turn("a").await;
    rig.turn("b").await;
    rig
}

fn told(rig: &Rig, request: usize) -> Vec<String> {
    rig.model.requests()[request].messages.iter().flat_map(words).collect()
}

#[tokio::test]
async fn the_oldest_turns_are_summarised_on_request() {
    let rig = talked([Script::text("they said a"), Script::text("three")]).await;
    rig.submit(InboundBody::Compact).await;
    assert_eq!(rig.run().await, Ran::Idle);
    assert!(told(&rig, 2).last().unwrap().starts_with("Summarise the conversation so far"));
    assert!(rig.model.requests()[2].tools.is_empty(), "a summary calls nothing");
    rig.turn("c").await;
    assert_eq!(told(&rig, 3)[0], "Summary of the earlier part of this conversation:\nthey said a");
    assert_eq!(told(&rig, 3)[1..], ["b", "two", "c"]);
}

#[tokio::test]
async fn a_failed_summary_drops_the_oldest_with_a_notice() {
    let rig = talked([Script::fail("down"), Script::text("three")]).await;
    rig.submit(InboundBody::Compact).await;
    rig.run().await;
    assert!(
        rig.log()
            .iter()
            .any(|body| matches!(body, EventBody::WindowDropped { through_seq: 5, .. }))
    );
    let heard = rig
        .gate
        .lives
        .lock()
        .unwrap()
        .iter()
        .any(|live| format!("{live:?}").contains("could not be summarised"));
    assert!(heard);
    rig.turn("c").await;
    assert_eq!(told(&rig, 3), ["b", "two", "c"]);
    assert_eq!(
        rig.log().len(),
        rig.gate.store.read(|tx| tx.last_seq(&super::rig::main())).unwrap() as usize
    );
}

#[tokio::test]
async fn a_window_that_overflows_is_summarised_before_the_model_is_asked() {
    let rig = talked([]).await;
    for text in ["the summary", "three"] {
        rig.model.push(Script::text(text));
    }
    let small = crate::turn::Bounds { window_tokens: 40, ..BOUNDS };
    let worker = worker(&rig.gate, rig.model.clone(), small);
    rig.say("c").await;
    worker.run(&super::rig::main(), &rig.gate.live()).await.unwrap();
    assert_eq!(rig.replies().last().unwrap(), "three");
    assert_eq!(told(&rig, 3)[0], "Summary of the earlier part of this conversation:\nthe summary");
    assert_eq!(told(&rig, 3).last().unwrap(), "c");
}

#[tokio::test]
async fn there_is_nothing_to_summarise_before_the_first_turn() {
    let rig = Rig::new(ALLOW, []);
    rig.submit(InboundBody::Compact).await;
    assert_eq!(rig.run().await, Ran::Idle);
    assert_eq!(rig.notices(), ["There is nothing to summarise yet."]);
    assert!(rig.log().is_empty());
}
