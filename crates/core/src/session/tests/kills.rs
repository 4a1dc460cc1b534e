//! A run that is dropped at any point, as a kill does it within one process: whoever comes after
//! finishes the turn, and no effect is doubled or lost.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use serde_json::{Value, json};

use super::rig::{BOUNDS, log, main, message, replies, submit, worker};
use super::staging::{POLICY, item};
use crate::domain::{Block, CallId, EventBody, Finish, Message, Outcome, Term, ToolUse, Usage};
use crate::gate::tests::rig::{ALLOW, OWNER, Rig as GateRig, allow};
use crate::model::{DeltaSink, Model, Reply, Replying, Request};
use crate::session::{Ran, Worker};

/// Answers by what it is asked, not by how often.
struct ByRequest(fn(&Request) -> (Vec<Block>, Finish));

impl Model for ByRequest {
    fn provider(&self) -> &str {
        "test"
    }

    fn model(&self) -> &str {
        "test"
    }

    fn reply<'a>(&'a self, request: &'a Request, _deltas: &'a mut DeltaSink<'_>) -> Replying<'a> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            check(&request.messages);
            let (blocks, finish) = self.0(request);
            let (provider, model) = ("test".into(), "test".into());
            Ok(Reply { blocks, finish, usage: Usage::default(), provider, model, notice: None })
        })
    }
}

fn tool_use(id: &str, name: &str, input: Value) -> Block {
    Block::ToolUse(Box::new(ToolUse {
        id: id.into(),
        name: name.into(),
        input,
        broken_input: None,
    }))
}

/// First two calls, then a word about their results.
fn two_calls(request: &Request) -> (Vec<Block>, Finish) {
    let mut blocks = request.messages.iter().flat_map(|message| &message.blocks);
    if blocks.any(|block| matches!(block, Block::ToolResult { .. })) {
        return (vec![Block::Text { text: "done".into() }], Finish::Complete);
    }
    let echo = |text: &str| tool_use(text, "legacy__echo", json!({"text": text}));
    (vec![echo("one"), echo("two")], Finish::ToolUse)
}

/// What every provider demands of a history.
fn check(messages: &[Message]) {
    for pair in messages.windows(2) {
        assert_ne!(pair[0].role, pair[1].role);
        let uses = pair[0].blocks.iter().filter(|block| matches!(block, Block::ToolUse(_))).count();
        let results =
            pair[1].blocks.iter().filter(|block| matches!(block, Block::ToolResult { .. })).count();
        assert!(uses == 0 || uses == results);
    }
}

/// Polls a run this often and then drops it. True when it ended before.
async fn polled(times: usize, run: impl Future<Output = Ran>) -> bool {
    let mut run = pin!(run);
    let mut left = times;
    std::future::poll_fn(|context| match run.as_mut().poll(context) {
        Poll::Ready(_) => Poll::Ready(true),
        Poll::Pending if left == 0 => Poll::Ready(false),
        Poll::Pending => {
            left -= 1;
            Poll::Pending
        }
    })
    .await
}

/// Runs until nothing is left, saying yes to everything. Drops the run after `times` polls, if it
/// is given.
async fn finished(gate: &GateRig, worker: &Worker, times: Option<usize>) -> bool {
    let all = async {
        while worker.run(&main(), &gate.live()).await.unwrap() == Ran::Parked {
            for row in gate.store.read(|tx| tx.open_questions(None)).unwrap() {
                gate.gate.calls().decide(&row.id, &allow(Term::Once), OWNER).await.unwrap();
            }
        }
        Ran::Idle
    };
    match times {
        Some(times) => polled(times, all).await,
        None => all.await == Ran::Idle,
    }
}

async fn dropped_at_every_point(policy: &str) {
    let mut cut = 0;
    for times in 0.. {
        let gate = GateRig::new(&["legacy"], policy);
        submit(&gate, message("go")).await;
        let whole = {
            let first = gate.again(policy);
            let worker = worker(&first, Arc::new(ByRequest(two_calls)), BOUNDS);
            finished(&first, &worker, Some(times)).await
        };
        let second = worker(&gate, Arc::new(ByRequest(two_calls)), BOUNDS);
        finished(&gate, &second, None).await;
        consistent(&gate, times);
        if whole {
            break;
        }
        cut += 1;
        assert!(times < 500, "the run never ends");
    }
    assert!(cut >= 5, "the run was cut at {cut} points only");
}

/// One reply; each effect at most once, and exactly once unless the model and the owner were told
/// that nobody knows.
fn consistent(gate: &GateRig, times: usize) {
    let (effects, log) = (gate.effects("legacy"), log(gate));
    assert_eq!(replies(gate), ["done"], "cut after {times} polls");
    for (block, text) in ["one", "two"].into_iter().enumerate() {
        let count = effects.iter().filter(|effect| *effect == text).count();
        let outcomes: Vec<&Outcome> = log
            .iter()
            .filter_map(|body| match body {
                EventBody::ToolResult { call: CallId::Reply { block: at, .. }, outcome }
                    if *at as usize == block =>
                {
                    Some(&**outcome)
                }
                _ => None,
            })
            .collect();
        match outcomes.as_slice() {
            [Outcome::Ended { .. }] => assert_eq!(count, 1, "{text}, cut after {times} polls"),
            [Outcome::Unknown { .. }] => {
                assert!(count <= 1, "{text} ran {count} times, cut after {times} polls")
            }
            other => panic!("{text}, cut after {times} polls: {other:?}"),
        }
    }
    gate.verify();
}

#[tokio::test]
async fn a_run_of_allowed_calls_can_be_dropped_anywhere() {
    Box::pin(dropped_at_every_point(ALLOW)).await;
}

#[tokio::test]
async fn a_run_of_questions_can_be_dropped_anywhere() {
    Box::pin(dropped_at_every_point("")).await;
}

/// Dropped while its last writes are still queued: the next holder waits for them instead of
/// reading a stale log.
#[tokio::test]
async fn the_lock_is_let_go_behind_what_was_queued() {
    let gate = GateRig::new(&["legacy"], ALLOW);
    submit(&gate, message("go")).await;
    let worker = worker(&gate, Arc::new(ByRequest(two_calls)), BOUNDS);
    for times in 0..40 {
        let before =
            polled(times % 7, async { worker.run(&main(), &gate.live()).await.unwrap() }).await;
        // At once, without a pause: only the lock keeps the next one from a log that is not yet
        // whole.
        let after = worker.run(&main(), &gate.live()).await;
        after.unwrap_or_else(|error| panic!("cut after {} polls ({before}): {error}", times % 7));
        submit(&gate, message("again")).await;
    }
}

/// Proposes once, and then says so.
fn proposes(request: &Request) -> (Vec<Block>, Finish) {
    if request.messages.len() > 1 {
        return (vec![Block::Text { text: "look".into() }], Finish::Complete);
    }
    let actions = json!({"actions": [item("a"), item("b")]});
    (vec![tool_use("1", "shop__propose", actions)], Finish::ToolUse)
}

/// Runs until nothing is left, confirming everything that was staged.
async fn confirmed(gate: &GateRig, worker: &Worker) -> Ran {
    loop {
        worker.run(&main(), &gate.live()).await.unwrap();
        let open = gate.store.read(|tx| tx.open_approvals(None)).unwrap();
        let Some(row) = open.first() else { return Ran::Idle };
        gate.gate.calls().decide(&row.id, &allow(Term::Once), OWNER).await.unwrap();
    }
}

#[tokio::test]
async fn a_run_of_staged_actions_can_be_dropped_anywhere() {
    let mut cut = 0;
    for times in 0.. {
        let gate = GateRig::new(&["shop"], POLICY);
        submit(&gate, message("go")).await;
        let whole = {
            let first = gate.again(POLICY);
            let worker = worker(&first, Arc::new(ByRequest(proposes)), BOUNDS);
            polled(times, confirmed(&first, &worker)).await
        };
        confirmed(&gate, &worker(&gate, Arc::new(ByRequest(proposes)), BOUNDS)).await;
        let (effects, events) =
            (gate.effects("shop"), gate.store.read(|tx| tx.events_from(&main(), 1)).unwrap());
        assert_eq!(replies(&gate), ["look"], "cut after {times} polls");
        let staged = gate.store.read(|tx| tx.audit_after(0, 1000)).unwrap();
        let asked = staged.iter().filter(|row| row.kind == "asked").count();
        // A call that was cut has told nobody what it proposes.
        let told = events.iter().any(|event| {
            matches!(&event.body, EventBody::ToolResult { outcome, .. }
                if matches!(**outcome, Outcome::Ended { .. }))
        });
        let expected = if told { 3 } else { 0 };
        assert_eq!(
            asked, expected,
            "two actions and all of them, staged once, cut after {times} polls"
        );
        for text in ["a", "b"] {
            let count =
                effects.iter().filter(|effect| **effect == format!("confirm {text}")).count();
            let outcomes = events.iter().filter_map(|event| match &event.body {
                EventBody::ActionResult { action, outcome, .. }
                    if action.arguments["text"] == text =>
                {
                    Some(&**outcome)
                }
                _ => None,
            });
            match outcomes.collect::<Vec<_>>().as_slice() {
                [] if !told => assert_eq!(count, 0),
                [Outcome::Ended { .. }] => assert_eq!(count, 1, "{text}, cut after {times} polls"),
                [Outcome::Unknown { .. }] => {
                    assert!(count <= 1, "{text} ran {count} times, cut after {times} polls")
                }
                other => panic!("{text}, cut after {times} polls: {other:?}"),
            }
        }
        assert_eq!(
            crate::turn::replay::replay(&main(), events, &BOUNDS).difference,
            None,
            "cut after {times} polls"
        );
        gate.verify();
        if whole {
            break;
        }
        cut += 1;
        assert!(times < 500, "the run never ends");
    }
    assert!(cut >= 5, "the run was cut at {cut} points only");
}
