//! The bounded window: a summary in time, and `/compact` with nothing to summarise.

use super::rig::{BOUNDS, Rig, words, worker};
use crate::domain::InboundBody;
use crate::gate::tests::rig::ALLOW;
use crate::model::Script;
use crate::session::Ran;

fn told(rig: &Rig, request: usize) -> Vec<String> {
    rig.model.requests()[request].messages.iter().flat_map(words).collect()
}

#[tokio::test]
async fn a_window_that_overflows_is_summarised_before_the_model_is_asked() {
    let rig = Rig::talked([]).await;
    for text in ["the summary", "three"] {
        rig.model.push(Script::text(text));
    }
    let small = crate::turn::Bounds { window_tokens: 40, ..BOUNDS };
    let worker = worker(&rig.gate, rig.model.clone(), small);
    rig.say("c").await;
    worker.run(&super::rig::main(), &rig.gate.live()).await.unwrap();
    assert_eq!(rig.replies().last().unwrap(), "three");
    assert!(told(&rig, 3)[0].ends_with("by a model:\n> the summary"), "{:?}", told(&rig, 3));
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
