//! A turn that goes well, and the limits that end one that does not.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use serde_json::json;

use super::rig::{BOUNDS, Hooked, Rig, echoes, log, message, replies, submit, words, worker};
use crate::domain::{Block, EventBody, Finish, InboundBody, ToolUse, TurnEnd};
use crate::gate::tests::rig::{ALLOW, Rig as GateRig};
use crate::model::{ModelError, Script, Scripted};
use crate::session::Ran;

#[tokio::test]
async fn a_message_becomes_a_reply() {
    let rig = Rig::new(ALLOW, [Script::text("Hello.")]);
    assert_eq!(rig.turn("Hi").await, Ran::Idle);
    assert_eq!(
        rig.kinds(),
        ["turn.started", "user.message", "prompt.packed", "model.reply", "turn.ended"]
    );
    assert_eq!(rig.replies(), ["Hello."]);
    assert!(rig.gate.store.read(|tx| tx.queued_inbound(&super::rig::main())).unwrap().is_empty());
    assert_eq!(rig.gate.store.read(|tx| tx.usage_since(None, 0)).unwrap().replies, 1);
    assert!(!rig.worker.left_over(&super::rig::main()).unwrap());
    assert_eq!(rig.run().await, Ran::Idle, "nothing is left");
    assert_eq!(rig.replies().len(), 1);
}

#[tokio::test]
async fn parallel_calls_of_one_tool_each_get_their_result() {
    let rig = Rig::new(ALLOW, [echoes(&["one", "two", "three"]), Script::text("done")]);
    assert_eq!(rig.turn("go").await, Ran::Idle);
    assert_eq!(rig.last_asked(), ["result one", "result two", "result three"]);
    let mut effects = rig.gate.effects("legacy");
    effects.sort();
    assert_eq!(effects, ["one", "three", "two"]);
    assert_eq!(rig.replies(), ["done"]);
    rig.gate.verify();
}

#[tokio::test]
async fn broken_arguments_and_unknown_tools_are_answered_and_never_forwarded() {
    let broken = Block::ToolUse(ToolUse {
        id: "a".into(),
        name: "legacy__echo".into(),
        input: json!({}),
        broken_input: Some("{\"text\": \"hal".into()),
    });
    let unknown = Block::ToolUse(ToolUse {
        id: "b".into(),
        name: "nobody__x".into(),
        input: json!({}),
        broken_input: None,
    });
    let rig = Rig::new(
        ALLOW,
        [Script::blocks(vec![broken, unknown], Finish::ToolUse), Script::text("done")],
    );
    rig.turn("go").await;
    let told = rig.last_asked();
    assert!(
        told[0].starts_with("result Not run: the arguments are not complete, valid JSON"),
        "{told:?}"
    );
    assert!(
        told[1].contains("there is no tool `nobody__x`; there are:")
            && told[1].contains("legacy__echo")
    );
    assert!(rig.gate.effects("legacy").is_empty());
}

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
async fn a_message_that_comes_behind_the_answer_starts_the_next_turn() {
    let gate = Arc::new(GateRig::new(&["legacy"], ALLOW));
    let inner = Arc::new(Scripted::new([Script::text("first"), Script::text("second")]));
    let hooked = gate.clone();
    let hook = move |n: usize| -> futures::future::BoxFuture<'static, ()> {
        let gate = hooked.clone();
        Box::pin(async move {
            if n == 1 {
                submit(&gate, message("two")).await;
            }
        })
    };
    let model = Arc::new(Hooked { inner, hook: Box::new(hook), asked: AtomicUsize::new(0) });
    let worker = worker(&gate, model, BOUNDS);
    submit(&gate, message("one")).await;
    worker.run(&super::rig::main(), &gate.live()).await.unwrap();
    assert_eq!(replies(&gate), ["first", "second"]);
    let turns =
        log(&gate).iter().filter(|body| matches!(body, EventBody::TurnStarted { .. })).count();
    assert_eq!(turns, 2);
}

#[tokio::test]
async fn too_many_steps_stop_the_turn_with_a_word() {
    let steps = (0..9).map(|n| echoes(&[&n.to_string()]));
    let rig = Rig::new(ALLOW, steps);
    rig.turn("go").await;
    assert_eq!(rig.model.requests().len(), 6);
    assert!(rig.replies()[0].contains("limits.model_steps_max"), "{:?}", rig.replies());
    assert!(matches!(
        rig.log().last().unwrap(),
        EventBody::TurnEnded { end: TurnEnd::Limit { .. } }
    ));
    rig.model.push(Script::text("x"));
}

#[tokio::test]
async fn identical_calls_stop_the_turn_with_a_word() {
    let rig = Rig::new(ALLOW, (0..9).map(|_| echoes(&["same"])));
    rig.turn("go").await;
    assert_eq!(rig.gate.effects("legacy").len(), 3);
    assert!(rig.replies()[0].contains("limits.identical_calls_max"), "{:?}", rig.replies());
}

#[tokio::test]
async fn a_model_that_fails_ends_the_turn_and_the_session_lives_on() {
    let rig = Rig::new(ALLOW, [Script::fail("set `X_API_KEY`"), Script::text("back")]);
    assert_eq!(rig.turn("Hi").await, Ran::Idle);
    assert_eq!(rig.replies(), ["Set `X_API_KEY`."]);
    assert!(matches!(
        rig.log().last().unwrap(),
        EventBody::TurnEnded { end: TurnEnd::Failed { .. } }
    ));
    rig.turn("again").await;
    assert_eq!(rig.replies()[1], "back");
    let told: Vec<Vec<String>> = rig.model.requests()[1].messages.iter().map(words).collect();
    assert_eq!(told, [["Hi", "again"]], "what was said is not lost");
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

#[tokio::test]
async fn a_context_that_is_too_long_is_compacted_once() {
    let long =
        || Script::Fail(ModelError::ContextTooLong { model: "m".into(), detail: "d".into() });
    let script =
        [Script::text("one"), long(), Script::text("the summary"), Script::text("two"), long()];
    let rig = Rig::new(ALLOW, script);
    rig.turn("a").await;
    rig.turn("b").await;
    assert_eq!(rig.replies(), ["one", "two"]);
    assert_eq!(rig.kinds().iter().filter(|kind| *kind == "summary").count(), 1);
    let told: Vec<String> = rig.model.requests()[3].messages.iter().flat_map(words).collect();
    assert_eq!(told, ["Summary of the earlier part of this conversation:\nthe summary", "b"]);
    rig.submit(InboundBody::Clear).await;
    rig.turn("c").await;
    assert!(
        rig.replies()[2].contains("longer than m can read"),
        "nothing is left to compact: {:?}",
        rig.replies()
    );
}
