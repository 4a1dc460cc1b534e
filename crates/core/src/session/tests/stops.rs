//! Stops: of a model that streams, of one session of two, of nothing; the stop switch; who holds a
//! session.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use super::rig::{
    BOUNDS, Hooked, Rig, echoes, log, main, message, replies, submit, submit_to, worker,
};
use crate::domain::{Address, EventBody, Inbound, InboundBody, Origin, SessionId, TurnEnd};
use crate::gate::tests::rig::{ALLOW, Rig as GateRig, session};
use crate::model::{Delta, Script, Scripted};
use crate::session::Ran;

fn hang() -> Script {
    Script::Hang { deltas: vec![Delta::Text("I was about to".into())] }
}

async fn until(seen: impl Fn() -> bool) {
    let deadline = std::time::Instant::now() + claw_test_kit::SOON;
    while !seen() {
        assert!(std::time::Instant::now() < deadline, "not in time");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Submits `body` as soon as the server has seen a call, or the model has been asked, whatever
/// `seen` looks for.
async fn when(gate: &GateRig, seen: impl Fn() -> bool, body: InboundBody) {
    until(seen).await;
    submit(gate, body).await;
}

#[tokio::test]
async fn a_stop_keeps_what_was_streamed_and_ends_the_turn() {
    let rig = Rig::new(ALLOW, [hang(), Script::text("next")]);
    rig.say("go").await;
    let asked = || !rig.model.requests().is_empty();
    let (ran, ()) = tokio::join!(rig.run(), when(&rig.gate, asked, InboundBody::Stop));
    assert_eq!(ran, Ran::Idle);
    assert!(
        rig.log().contains(&EventBody::ModelPartial { text: "I was about to".into() }),
        "{:?}",
        rig.log()
    );
    assert!(matches!(
        rig.log().last().unwrap(),
        EventBody::TurnEnded { end: TurnEnd::Stopped { .. } }
    ));
    assert_eq!(rig.replies(), ["Stopped."]);
    rig.turn("more").await;
    let told: Vec<String> =
        rig.model.requests()[1].messages.iter().flat_map(super::rig::words).collect();
    assert_eq!(told, ["go", "I was about to\n[stopped here]", "more"]);
}

/// One of the two looks out for both, and the other one has to go on looking when that one has
/// ended.
#[tokio::test]
async fn of_two_sessions_each_obeys_its_own_stop_and_no_other() {
    for order in [["main", "other"], ["other", "main"]] {
        let rig = Rig::on(GateRig::new(&[], ""), [hang(), hang()]);
        let live = rig.gate.live();
        let [first, second] = order.map(session);
        for one in [&main(), &session("other")] {
            submit_to(&rig.gate, one, message("go")).await;
        }
        let open = |one: &SessionId| rig.gate.store.read(|tx| tx.turn_open(one)).unwrap();
        let stops = async {
            until(|| rig.model.requests().len() == 2).await;
            submit_to(&rig.gate, &first, InboundBody::Stop).await;
            until(|| !open(&first)).await;
            assert!(open(&second), "a stop in `{first}` is none in `{second}`");
            submit_to(&rig.gate, &second, InboundBody::Stop).await;
            until(|| !open(&second)).await;
        };
        let (here, there) = (main(), session("other"));
        let both = async {
            tokio::join!(rig.worker.run(&here, &live), rig.worker.run(&there, &live), stops)
        };
        let (one, two, ()) =
            tokio::time::timeout(Duration::from_secs(30), both).await.expect("a stop was not seen");
        assert_eq!((one.unwrap(), two.unwrap()), (Ran::Idle, Ran::Idle));
    }
}

#[tokio::test]
async fn the_stop_switch_ends_what_runs_and_lets_the_model_speak() {
    let gate = GateRig::new(&["never"], &ALLOW.replace("legacy", "never"));
    let script = Script::tool_use("never__echo", serde_json::json!({"text": "x"}));
    let rig = Rig::on(gate, [script, Script::text("after")]);
    rig.say("go").await;
    let record = rig.gate.home().join("never");
    let called = || std::fs::read_to_string(&record).unwrap_or_default().contains("call ");
    let pulled = async {
        when(&rig.gate, called, InboundBody::Compact).await;
        rig.gate.store.write(|tx| tx.set_panic(Some("owner"))).await.unwrap();
    };
    tokio::join!(rig.run(), pulled);
    assert_eq!(rig.replies(), ["after"]);
    assert!(rig.last_asked()[0].starts_with("result Interrupted:"), "{:?}", rig.last_asked());
    let servers = rig.gate.gate.hub().servers();
    assert!(
        matches!(servers[0].state, crate::hub::ServerState::Idle),
        "its server is ended: {servers:?}"
    );
}

/// The stop is done with before the message begins, and must not reach into its turn.
#[tokio::test]
async fn a_stop_when_nothing_runs_stops_nothing() {
    let rig = Rig::new(ALLOW, [echoes(&["one"]), Script::text("done")]);
    rig.submit(InboundBody::Stop).await;
    assert_eq!(rig.turn("go").await, Ran::Idle);
    assert_eq!(rig.replies(), ["done"]);
    assert_eq!(rig.gate.effects("legacy"), ["one"]);
    assert_eq!(rig.notices(), ["Nothing is running."]);
    assert_eq!(rig.model.requests().len(), 2, "nothing was asked twice");
}

/// Somebody of a group, who decides nothing.
async fn submit_by(gate: &GateRig, principal: &str, body: InboundBody) {
    let inbound = Inbound {
        session: main(),
        from: Address("console/1".into()),
        principal: principal.into(),
        origin: Origin::Forwarded,
        body,
    };
    gate.store.write(move |tx| tx.add_inbound(&inbound, 64)).await.unwrap();
}

const BOB: &str = "telegram:8";
const EVE: &str = "telegram:9";
const UNREAD: &str = "1 message before `/stop` was not read yet and ended with it. Send it again if \
                      you still want an answer.";

/// What the models of these tests were asked last.
fn asked_last(rig: &Rig) -> Vec<String> {
    rig.model.requests().last().unwrap().messages.iter().flat_map(super::rig::words).collect()
}

#[tokio::test]
async fn a_stop_ends_what_its_writer_has_asked_and_what_others_ask_is_answered() {
    let rig = Rig::new(ALLOW, [hang(), Script::text("Lima.")]);
    submit_by(&rig.gate, BOB, message("go")).await;
    let stops = async {
        until(|| rig.model.requests().len() == 1).await;
        submit_by(&rig.gate, EVE, message("the capital of Peru?")).await;
        submit_by(&rig.gate, BOB, message("and mine?")).await;
        submit_by(&rig.gate, BOB, InboundBody::Stop).await;
    };
    let (ran, ()) = tokio::join!(rig.run(), stops);
    assert_eq!(ran, Ran::Idle);
    assert_eq!(rig.replies(), ["Stopped.", "Lima."]);
    assert_eq!(rig.notices(), [UNREAD]);
    assert_eq!(rig.model.requests().len(), 2);
    assert_eq!(asked_last(&rig).last().unwrap(), "the capital of Peru?");
}

#[tokio::test]
async fn a_stop_of_a_call_that_runs_keeps_what_others_have_asked_meanwhile() {
    let gate = GateRig::new(&["never"], &ALLOW.replace("legacy", "never"));
    let script = Script::tool_use("never__echo", serde_json::json!({"text": "x"}));
    let rig = Rig::on(gate, [script, Script::text("Lima.")]);
    rig.say("go").await;
    let record = rig.gate.home().join("never");
    let called = || std::fs::read_to_string(&record).unwrap_or_default().contains("call ");
    let stops = async {
        until(called).await;
        submit_by(&rig.gate, EVE, message("the capital of Peru?")).await;
        rig.submit(InboundBody::Stop).await;
    };
    let (ran, ()) = tokio::join!(rig.run(), stops);
    assert_eq!((ran, rig.replies()), (Ran::Idle, vec!["Stopped.".to_owned(), "Lima.".to_owned()]));
    assert_eq!(asked_last(&rig).last().unwrap(), "the capital of Peru?");
}

/// What stands behind a question cannot join its turn, and begins behind the stop.
#[tokio::test]
async fn a_stop_of_a_turn_that_waits_ends_what_its_writer_has_asked_behind_the_question() {
    let rig = Rig::new("", [echoes(&["one"]), Script::text("Lima.")]);
    assert_eq!(rig.turn("go").await, Ran::Parked);
    submit_by(&rig.gate, EVE, message("the capital of Peru?")).await;
    rig.say("and mine?").await;
    rig.submit(InboundBody::Stop).await;
    rig.say("this comes behind it").await;
    assert_eq!(rig.run().await, Ran::Idle);
    assert_eq!(rig.replies(), ["Stopped.", "Stopped.", "Lima."]);
    assert_eq!(asked_last(&rig).last().unwrap(), "this comes behind it");
    assert_eq!(rig.notices(), [UNREAD]);
    assert!(!rig.gate.store.read(|tx| tx.stop_queued(&main())).unwrap());
    assert!(rig.gate.effects("legacy").is_empty());
}

/// claw was not running when they wrote.
#[tokio::test]
async fn a_stop_of_one_and_a_message_of_another_are_read_at_once() {
    let rig = Rig::new(ALLOW, [Script::text("Lima.")]);
    submit_by(&rig.gate, EVE, message("the capital of Peru?")).await;
    submit_by(&rig.gate, BOB, InboundBody::Stop).await;
    assert_eq!(rig.run().await, Ran::Idle);
    assert_eq!(
        (rig.notices(), rig.replies()),
        (vec!["Nothing is running.".to_owned()], vec!["Lima.".to_owned()])
    );
}

#[tokio::test]
async fn a_new_conversation_names_what_it_ends_unread() {
    let rig = Rig::new(ALLOW, [hang()]);
    rig.say("go").await;
    let clears = async {
        until(|| rig.model.requests().len() == 1).await;
        submit_by(&rig.gate, EVE, message("the capital of Peru?")).await;
        rig.submit(InboundBody::Clear).await;
    };
    let (ran, ()) = tokio::join!(rig.run(), clears);
    assert_eq!((ran, rig.model.requests().len()), (Ran::Idle, 1));
    assert_eq!(rig.notices()[0], UNREAD.replace("/stop", "/new"));
    assert!(rig.notices()[1].starts_with("A new conversation."), "{:?}", rig.notices());
}

#[tokio::test]
async fn a_session_has_one_holder() {
    let rig = Rig::new(ALLOW, [Script::text("x")]);
    let held = rig.gate.store.lock_session(&main()).unwrap().unwrap();
    rig.say("go").await;
    let (session, live) = (main(), rig.gate.live());
    let run = rig.worker.run(&session, &live);
    let let_go = async {
        tokio::time::sleep(Duration::from_millis(60)).await;
        assert!(rig.worker.left_over(&main()).unwrap());
        assert!(rig.model.requests().is_empty());
        drop(held);
    };
    let (ran, ()) = tokio::join!(async { run.await.unwrap() }, let_go);
    assert_eq!((ran, rig.replies()), (Ran::Idle, vec!["x".to_owned()]));
}

/// Two workers on one session, as two terminals: nothing is answered twice and nothing is lost.
#[tokio::test]
async fn two_processes_share_a_session() {
    let gate = Arc::new(GateRig::new(&["legacy"], ALLOW));
    let other = gate.again(ALLOW);
    let inner = Arc::new(Scripted::new((0..6).map(|n| Script::text(n.to_string()))));
    let hook =
        |_| -> futures::future::BoxFuture<'static, ()> { Box::pin(tokio::task::yield_now()) };
    let model =
        Arc::new(Hooked { inner: inner.clone(), hook: Box::new(hook), asked: AtomicUsize::new(0) });
    let (one, two) = (worker(&gate, model.clone(), BOUNDS), worker(&other, model, BOUNDS));
    let talk = |gate: GateRig, worker| async move {
        for n in 0..3 {
            submit(&gate, message(&n.to_string())).await;
            crate::session::Worker::run(&worker, &main(), &gate.live()).await.unwrap();
        }
    };
    tokio::join!(talk(gate.again(ALLOW), one), talk(gate.again(ALLOW), two));
    let said =
        log(&gate).iter().filter(|body| matches!(body, EventBody::UserMessage { .. })).count();
    let turns =
        log(&gate).iter().filter(|body| matches!(body, EventBody::TurnEnded { .. })).count();
    assert_eq!(said, 6);
    assert_eq!((replies(&gate).len(), inner.requests().len()), (turns, turns));
}
