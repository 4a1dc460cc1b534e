//! A message that comes in the middle of a turn, and answers that are cut, refused or empty.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use super::rig::{BOUNDS, Hooked, Rig, echoes, message, replies, submit, words, worker};
use crate::domain::{Block, Finish};
use crate::gate::tests::rig::{ALLOW, Rig as GateRig};
use crate::model::{Script, Scripted};
use crate::session::Ran;

#[tokio::test]
async fn a_message_that_comes_while_the_model_thinks_joins_behind_the_results() {
    let gate = Arc::new(GateRig::new(&["legacy"], ALLOW));
    let inner = Arc::new(Scripted::new([echoes(&["one"]), Script::text("both")]));
    let hooked = gate.clone();
    let hook = move |n: usize| -> futures::future::BoxFuture<'static, ()> {
        let gate = hooked.clone();
        Box::pin(async move {
            if n == 1 {
                submit(&gate, message("and this")).await;
            }
        })
    };
    let model =
        Arc::new(Hooked { inner: inner.clone(), hook: Box::new(hook), asked: AtomicUsize::new(0) });
    let worker = worker(&gate, model, BOUNDS);
    submit(&gate, message("do it")).await;
    assert_eq!(worker.run(&super::rig::main(), &gate.live()).await.unwrap(), Ran::Idle);
    assert_eq!(words(inner.requests()[1].messages.last().unwrap()), ["result one", "and this"]);
    assert_eq!(replies(&gate), ["both"], "one turn");
    assert_eq!(inner.requests().len(), 2);
}

#[tokio::test]
async fn cut_and_refused_answers_end_visibly() {
    let text = |finish| Script::blocks(vec![Block::Text { text: "half".into() }], finish);
    let refusal = Finish::Refusal { reason: "policy".into() };
    let rig = Rig::new(
        ALLOW,
        [text(Finish::MaxTokens), text(refusal), Script::blocks(vec![], Finish::Complete)],
    );
    for n in 0..3 {
        rig.turn(&n.to_string()).await;
    }
    let replies = rig.replies();
    assert!(replies[0].starts_with("half") && replies[0].contains("output limit"), "{replies:?}");
    assert!(replies[1].contains("the model refused: policy"), "{replies:?}");
    assert!(replies[2].contains("empty answer"), "{replies:?}");
}
