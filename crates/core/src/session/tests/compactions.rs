//! Compactions in whole sessions: what is told of them, what a model sees behind them, and what a
//! kill in the middle of one leaves.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use crate::domain::{
    Address, Block, CallId, Event, EventBody, Finish, InboundBody, KeptWords, Origin, Outcome,
    ToolOutput, ToolUse, TurnEnd, Usage,
};
use crate::gate::tests::rig::{ALLOW, Rig as GateRig};
use crate::model::{Script, Scripted};
use crate::session::tests::rig::{
    BOUNDS, Rig, kinds, log, main, message, notices, submit, words, worker,
};
use crate::session::{Ran, Worker};
use crate::store::now_ms;
use crate::turn::Bounds;

pub(super) fn told(rig: &Rig, request: usize) -> String {
    let request = &rig.model.requests()[request];
    request.messages.iter().flat_map(words).collect::<Vec<_>>().join("\n")
}

async fn say(rig: &Rig, worker: &Worker, text: &str) {
    rig.say(text).await;
    worker.run(&main(), &rig.gate.live()).await.unwrap();
}

#[tokio::test]
async fn compact_says_what_it_did_with_figures() {
    let rig = Rig::new(ALLOW, ["one", "two", "short"].map(Script::text));
    rig.turn(&"long words ".repeat(400)).await;
    rig.turn("b").await;
    rig.submit(InboundBody::Compact).await;
    assert_eq!(rig.run().await, Ran::Idle);
    let said = rig.notices();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[1].starts_with("Summarised: about 1"), "{said:?}");
    assert!(said[1].contains(" tokens before, ") && said[1].ends_with(" % less)."), "{said:?}");
    let summaries: Vec<EventBody> = rig.log().into_iter().filter(is_summary).collect();
    let EventBody::Summary { made, through_seq, .. } = &summaries[0] else { panic!() };
    assert_eq!(*through_seq, 5, "the small turn stays");
    assert!(made.after_tokens * 2 < made.before_tokens, "{made:?}");
    let archive = made.kept.archive.clone().unwrap();
    let kept = std::fs::read_to_string(rig.gate.home().join("artifacts").join(archive)).unwrap();
    assert!(kept.contains("a person: long words long words"), "{kept}");
}

fn is_summary(body: &EventBody) -> bool {
    matches!(body, EventBody::Summary { .. })
}

#[tokio::test]
async fn a_model_that_fails_changes_nothing_and_is_told() {
    let rig = Rig::new(ALLOW, [Script::text("one"), Script::fail("is down")]);
    rig.turn("the first words").await;
    rig.submit(InboundBody::Compact).await;
    assert_eq!(rig.run().await, Ran::Idle);
    let said = rig.notices();
    assert!(said[1].contains("could not be summarised") && said[1].contains("is down"), "{said:?}");
    assert_eq!(rig.kinds().last().unwrap(), "compaction.failed");
    for text in [" ", "two"] {
        rig.model.push(Script::text(text));
    }
    rig.submit(InboundBody::Compact).await;
    rig.run().await;
    assert!(rig.notices()[3].contains("an empty one"), "{:?}", rig.notices());
    rig.turn("b").await;
    assert!(told(&rig, 3).contains("the first words"), "{}", told(&rig, 3));
}

#[tokio::test]
async fn a_fourth_summary_in_an_hour_waits() {
    let rig = Rig::new(ALLOW, [Script::text("one")]);
    rig.turn("a").await;
    for _ in 0..4 {
        rig.model.push(Script::fail("down"));
        rig.submit(InboundBody::Compact).await;
        assert_eq!(rig.run().await, Ran::Idle);
    }
    assert_eq!(rig.model.left(), 1, "three are asked for");
    assert!(rig.notices().last().unwrap().contains("three summaries"), "{:?}", rig.notices());
}

#[tokio::test]
async fn a_summary_that_never_ends_is_not_waited_for() {
    let rig = Rig::new(ALLOW, [Script::text("one")]);
    rig.turn("a").await;
    let deltas = vec![crate::model::Delta::Text("and on ".repeat(20_000))];
    rig.model.push(Script::Hang { deltas });
    rig.submit(InboundBody::Compact).await;
    assert_eq!(rig.run().await, Ran::Idle);
    let log = rig.log();
    let Some(EventBody::Summary { text, .. }) = log.last() else { panic!("{:?}", rig.kinds()) };
    assert!(text.len() < 20_000 && text.ends_with("the summary was too long]"), "{}", text.len());
}

#[tokio::test]
async fn a_silent_model_is_not_waited_for() {
    let rig = Rig::new(ALLOW, [Script::text("one")]);
    rig.turn("a").await;
    rig.model.push(Script::Hang { deltas: Vec::new() });
    rig.submit(InboundBody::Compact).await;
    tokio::time::pause();
    rig.worker.run(&main(), &rig.gate.live()).await.unwrap();
    assert_eq!(rig.kinds().last().unwrap(), "compaction.failed");
}

#[tokio::test]
async fn long_results_are_cut_in_place_and_kept_whole() {
    let long = format!("first {} the needle {} last", "hay ".repeat(2_000), "hay ".repeat(2_000));
    let rig = Rig::new(ALLOW, [Script::text("two")]);
    called_for(&rig.gate, &long).await;
    let small = Bounds { window_tokens: 2_000, ..BOUNDS };
    let worker = worker(&rig.gate, rig.model.clone(), small);
    say(&rig, &worker, "b").await;
    let seen = told(&rig, 0);
    assert!(seen.contains("result first") && seen.contains("hay  last"), "{}", seen.len());
    assert!(seen.contains("read_artifact with artifact") && !seen.contains("needle"), "{seen}");
    let log = rig.log();
    let cut = log.iter().find_map(|body| match body {
        EventBody::ResultsCut { cut, before_tokens, after_tokens, .. } => {
            assert!(after_tokens * 2 < *before_tokens);
            Some(cut.clone())
        }
        _ => None,
    });
    let kept = rig.gate.home().join("artifacts").join(&cut.unwrap()[0].artifact);
    assert!(std::fs::read_to_string(kept).unwrap().contains("the needle"));
    assert!(!kinds(&log).contains(&"summary".to_owned()), "no model is asked for one");
}

/// A turn in which a call gave this.
async fn called_for(gate: &GateRig, result: &str) {
    let tool_use = ToolUse {
        id: "1".into(),
        name: "legacy__echo".into(),
        input: serde_json::json!({}),
        broken_input: None,
    };
    let call = CallId::Reply { session: main(), reply_seq: 3, block: 0 };
    let output = ToolOutput { text: result.to_owned(), ..ToolOutput::default() };
    let bodies = [
        started(),
        said("look"),
        replied(Block::ToolUse(Box::new(tool_use))),
        EventBody::ToolResult { call, outcome: Box::new(Outcome::Ended { output }) },
        replied(Block::Text { text: "ok".into() }),
        EventBody::TurnEnded { end: TurnEnd::Answered },
    ];
    write(gate, now_ms(), bodies.into()).await;
}

fn started() -> EventBody {
    let (origin, principal) = (Origin::Owner, crate::gate::tests::rig::OWNER.to_owned());
    EventBody::TurnStarted { origin, principal, role: None }
}

fn said(text: &str) -> EventBody {
    EventBody::UserMessage {
        blocks: vec![Block::Text { text: text.into() }],
        inbox_id: 1_000,
        from: Address("console/1".into()),
        origin: Origin::Owner,
    }
}

fn replied(block: Block) -> EventBody {
    EventBody::ModelReply {
        blocks: vec![block],
        finish: Finish::Complete,
        usage: Usage::default(),
        provider: "x".into(),
        model: "x".into(),
        notice: None,
    }
}

async fn write(gate: &GateRig, at_ms: i64, bodies: Vec<EventBody>) {
    let events = (1..).zip(bodies).map(|(seq, body)| Event { seq, at_ms, body });
    let events: Vec<Event> = events.collect();
    let write = move |tx: &crate::store::Tx<'_>| {
        events.iter().try_for_each(|event| tx.append_event(&main(), event))
    };
    gate.store.write(write).await.unwrap();
}

/// A conversation of a while ago, written as it was then.
pub(super) async fn long_ago(gate: &GateRig, hours: i64, text: &str) {
    let at_ms = now_ms() - hours * 3_600_000;
    let reply = replied(Block::Text { text: "ok".into() });
    let end = EventBody::TurnEnded { end: TurnEnd::Answered };
    write(gate, at_ms, vec![started(), said(text), reply, end]).await;
}

#[tokio::test]
async fn after_an_hour_a_conversation_goes_on_from_its_summary() {
    let words = format!("the plan is to paint the boat {}", "slowly ".repeat(800));
    for (hours, asks) in [(2, true), (0, false)] {
        let rig = Rig::new(ALLOW, []);
        long_ago(&rig.gate, hours, &words).await;
        if asks {
            rig.model.push(Script::text("We plan to paint the boat."));
        }
        rig.model.push(Script::text("At the boat."));
        rig.turn("where were we?").await;
        let last = rig.model.requests().len() - 1;
        let seen = told(&rig, last);
        assert_eq!(seen.contains("> We plan to paint the boat."), asks, "{seen}");
        assert_eq!(seen.contains("slowly slowly"), !asks);
        assert!(seen.ends_with("where were we?"), "{seen}");
        assert_eq!(rig.kinds().contains(&"window.idle".to_owned()), asks);
    }
    let rig = Rig::new(ALLOW, [Script::text("ok")]);
    long_ago(&rig.gate, 2, "short").await;
    rig.turn("hello").await;
    assert!(told(&rig, 0).contains("short"), "a short window costs less than its summary");
}

/// Polls a run this often and then drops it, as a kill does. True when it ended before.
async fn polled(times: usize, worker: &Worker, gate: &GateRig) -> bool {
    let (session, live) = (main(), gate.live());
    let mut run = pin!(worker.run(&session, &live));
    let mut left = times;
    std::future::poll_fn(|context| match run.as_mut().poll(context) {
        Poll::Ready(ran) => {
            ran.unwrap();
            Poll::Ready(true)
        }
        Poll::Pending if left == 0 => Poll::Ready(false),
        Poll::Pending => {
            left -= 1;
            Poll::Pending
        }
    })
    .await
}

/// At whichever point a compaction ends: there is the old window or the new one, and whoever comes
/// next finishes it.
#[tokio::test]
async fn a_kill_in_a_compaction_leaves_the_old_window_or_the_new_one() {
    let mut whole = false;
    let mut points = 0;
    while !whole {
        let gate = GateRig::new(&["legacy"], ALLOW);
        long_ago(&gate, 0, &"the old words ".repeat(500)).await;
        submit(&gate, InboundBody::Compact).await;
        {
            let first = gate.again(ALLOW);
            let model = Arc::new(Scripted::new([Script::text("sum")]));
            whole = polled(points, &worker(&first, model, BOUNDS), &first).await;
        }
        let model = Arc::new(Scripted::new(["sum", "ok"].map(Script::text)));
        let second = worker(&gate, model.clone(), BOUNDS);
        second.run(&main(), &gate.live()).await.unwrap();
        submit(&gate, message("and now?")).await;
        if model.requests().is_empty() {
            // It was summarised before; the word for that is left over.
            assert_eq!(model.left(), 2);
        }
        let all = log(&gate);
        assert_eq!(all.iter().filter(|body| is_summary(body)).count(), 1, "{:?}", kinds(&all));
        let EventBody::Summary { made, .. } = all.iter().find(|body| is_summary(body)).unwrap()
        else {
            panic!()
        };
        assert_ne!(made.kept, KeptWords::default());
        let said = notices(&gate);
        let told = said.iter().filter(|notice| notice.starts_with("Summarised:")).count();
        assert_eq!(told, 1, "{said:?}");
        points += 1;
    }
    // How often it has to wait for the thread that commits is not its own choice.
    assert!(points >= 2, "{points}");
}
