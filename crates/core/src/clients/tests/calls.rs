//! A call of a client from its request to its end: driven once, whoever waits, and given out once.

use std::pin::pin;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::json;

use super::rig::{Rig, SOON, name};
use crate::clients::ClientCallState;
use crate::domain::{Answer, CallId, Outcome, unseen};
use crate::gate::tests::rig::{ALLOW, Rig as GateRig};

/// A client may do it without a question.
fn allows_clients() -> String {
    format!("{ALLOW}origin = \"mcp_client\"\n")
}

/// A call of a client that never ends, without a question.
const NEVER_ASKS: &str = "[[rule]]\nserver = \"never\"\norigin = \"mcp_client\"\n\
    decision = \"allow\"\nwhy = \"tests\"\n";

#[tokio::test]
async fn a_yes_runs_the_call_at_once_and_its_end_waits_for_the_same_request_once() {
    let rig = Rig::new("");
    let question = rig.waits("laptop", "x").await;
    assert!(question.says.contains("legacy/echo"), "{question:?}");
    // The client has gone away; nobody asks for the call.
    rig.allows(&question).await;
    rig.did(&["x"]).await;
    let call = rig.begin("laptop", "x").await;
    let (outcome, _) = rig.end(&call).await;
    assert!(matches!(outcome, Outcome::Ended { ref output } if output.text == "x"), "{outcome:?}");
    drop(call);
    // The next equal request is a new call, with a question of its own.
    let again = rig.waits("laptop", "x").await;
    assert_ne!(again.id, question.id);
    assert_eq!(rig.effects(), ["x"]);
    rig.gate.verify();
}

#[tokio::test]
async fn an_end_that_came_before_it_was_asked_for_is_called_kept() {
    let rig = Rig::new("");
    let question = rig.waits("laptop", "x").await;
    rig.answers(&question, &Answer::Deny { word: None }).await;
    let id = CallId::Client { principal: "mcp:laptop".into(), number: 1 };
    rig.ended().await;
    let call = rig.begin("laptop", "x").await;
    assert_eq!(call.id(), id);
    let (outcome, kept) = rig.end(&call).await;
    assert!(matches!(outcome, Outcome::Denied { .. }) && kept, "{outcome:?}");
    assert!(rig.effects().is_empty());
}

#[tokio::test]
async fn who_waits_has_the_end_as_soon_as_it_is_there_and_may_go_on_waiting() {
    let rig = Rig::new("");
    let call = rig.begin("laptop", "x").await;
    let question = rig.asked_about(&call).await;
    let (ended, ()) = tokio::join!(rig.end(&call), rig.allows(&question));
    assert!(matches!(ended, (Outcome::Ended { .. }, false)), "{ended:?}");
}

#[tokio::test]
async fn two_equal_requests_at_once_are_two_calls() {
    let rig = Rig::new(&allows_clients());
    let (one, two) = tokio::join!(rig.gets("laptop", "x"), rig.gets("laptop", "x"));
    assert_eq!((one.as_str(), two.as_str()), ("x", "x"));
    assert_eq!(rig.effects(), ["x", "x"]);
    let rig = Rig::new("");
    let (one, two) = (rig.begin("laptop", "x").await, rig.begin("laptop", "x").await);
    assert_ne!(one.id(), two.id());
    // Only one that nobody waits for is taken up.
    let left = one.id();
    drop(one);
    rig.gate.store.write(|_| Ok(())).await.unwrap();
    let third = rig.begin("laptop", "x").await;
    assert_eq!(third.id(), left);
}

#[tokio::test]
async fn arguments_in_another_order_are_the_same_and_others_are_not() {
    let rig = Rig::new("");
    let client = name("laptop");
    let begin = async |arguments| {
        let call = rig.clients.begin_call(&client, "legacy__echo", arguments, unseen()).await;
        let call = call.unwrap();
        rig.asked_about(&call).await;
        call.id()
    };
    let first = begin(json!({"text": "x", "more": {"a": 1, "b": 2}})).await;
    assert_eq!(begin(json!({"more": {"b": 2, "a": 1}, "text": "x"})).await, first);
    assert_ne!(begin(json!({"text": "x", "more": {"a": 1, "b": 3}})).await, first);
}

#[tokio::test]
async fn another_process_goes_on_with_what_one_has_left_behind() {
    let rig = Rig::new("");
    let question = rig.waits("laptop", "x").await;
    let other = rig.again();
    // While the first one lives, nobody takes its calls.
    other.clients.shared.take_over().await.unwrap();
    let id = CallId::Client { principal: "mcp:laptop".into(), number: 1 };
    assert!(other.clients.shared.driving.progress(&id).is_none());
    rig.ends().await;
    other.clients.shared.take_over().await.unwrap();
    assert!(other.clients.shared.driving.progress(&id).is_some());
    // No client asks for it; the yes runs it all the same.
    other.allows(&question).await;
    other.did(&["x"]).await;
    assert_eq!(other.gets("laptop", "x").await, "x");
    assert_eq!(other.effects(), ["x"]);
    other.gate.verify();
}

#[tokio::test]
async fn a_request_to_another_process_waits_for_the_one_that_drives_the_call() {
    let rig = Rig::new("");
    let question = rig.waits("laptop", "x").await;
    let other = rig.again();
    let call = other.begin("laptop", "x").await;
    assert!(other.clients.shared.driving.progress(&call.id()).is_none(), "two drive it");
    let (ended, ()) = tokio::join!(other.end(&call), rig.allows(&question));
    assert!(matches!(ended.0, Outcome::Ended { .. }), "{ended:?}");
    assert_eq!(rig.effects(), ["x"]);
}

#[tokio::test]
async fn a_request_that_is_sent_again_is_known_by_its_mark_whoever_seems_to_live() {
    let rig = Rig::new("");
    let other = rig.again();
    let begin = async |rig: &Rig, mark| {
        let arguments = json!({"text": "x"});
        let (client, sent) = (name("laptop"), (unseen(), Some(mark)));
        rig.clients.begin_marked(&client, "legacy__echo", arguments, sent).await.unwrap()
    };
    let first = begin(&rig, "one").await;
    // Its process lives, and its request waits there.
    let again = begin(&other, "one").await;
    assert_eq!(again.id(), first.id());
    let question = rig.asked_about(&again).await;
    rig.allows(&question).await;
    rig.did(&["x"]).await;
    // The end is for the request that came last.
    let gone = rig.clients.end_of(&first, SOON).await.unwrap_err().to_string();
    assert!(gone.contains("another request"), "{gone}");
    assert!(matches!(other.end(&again).await.0, Outcome::Ended { .. }));
    // In one process a client that gives two requests one number makes two calls.
    let (one, two) = (begin(&other, "two").await, begin(&other, "two").await);
    assert_ne!(one.id(), two.id());
}

#[tokio::test]
async fn an_answer_that_was_lost_at_an_end_in_order_is_for_the_request_that_is_sent_again() {
    let rig = Rig::new(&allows_clients());
    let begin = async |rig: &Rig, mark| {
        let arguments = json!({"text": "x"});
        let (client, sent) = (name("laptop"), (unseen(), Some(mark)));
        rig.clients.begin_marked(&client, "legacy__echo", arguments, sent).await.unwrap()
    };
    let call = begin(&rig, "one").await;
    rig.end(&call).await;
    let id = call.id();
    drop(call);
    let other = Rig::on(rig.gate.again(&allows_clients()));
    rig.ends().await;
    assert_ne!(begin(&other, "two").await.id(), id, "another request");
    let again = begin(&other, "one").await;
    assert_eq!(again.id(), id);
    assert!(other.end(&again).await.1, "it was done again");
}

#[tokio::test]
async fn what_was_given_out_by_a_process_that_was_killed_is_given_again_and_not_done_again() {
    let rig = Rig::new(&allows_clients());
    let call = rig.begin("laptop", "x").await;
    rig.end(&call).await;
    let id = call.id();
    // Killed in this moment: its lock is free, and nothing was tidied up.
    let other = rig.again();
    let lock = std::fs::read_dir(rig.gate.home().join("locks")).unwrap().next().unwrap().unwrap();
    std::fs::remove_file(lock.path()).unwrap();
    let cut = other.begin("laptop", "x").await;
    assert_eq!(cut.id(), id);
    // This request is cut before it has the end.
    drop(cut);
    other.gate.store.write(|_| Ok(())).await.unwrap();
    let again = other.begin("laptop", "x").await;
    assert_eq!(again.id(), id, "it is done again");
    let (outcome, kept) = other.end(&again).await;
    assert!(kept && matches!(outcome, Outcome::Ended { .. }), "{outcome:?}");
    assert_eq!(other.effects(), ["x"]);
    // This one lives, so its next request is a new one.
    assert_ne!(other.begin("laptop", "x").await.id(), id);
}

#[tokio::test]
async fn what_was_given_out_before_an_end_in_order_is_done_with() {
    let rig = Rig::new(&allows_clients());
    let call = rig.begin("laptop", "x").await;
    rig.end(&call).await;
    let id = call.id();
    drop(call);
    let other = Rig::on(rig.gate.again(&allows_clients()));
    rig.ends().await;
    let again = other.begin("laptop", "x").await;
    assert_ne!(again.id(), id);
    other.end(&again).await;
    assert_eq!(other.effects(), ["x", "x"]);
}

#[tokio::test]
async fn a_client_that_gives_up_cuts_what_runs_and_keeps_the_question() {
    let rig = Rig::new("");
    let call = rig.begin("laptop", "x").await;
    let question = rig.asked_about(&call).await;
    rig.clients.cancel(&call);
    drop(call);
    assert!(rig.gate.gate.calls().question(&question.id).unwrap().is_some(), "it is closed");
    let rig = Rig::on(GateRig::new(&["never"], NEVER_ASKS));
    let tool = "never__echo";
    let call = rig
        .clients
        .begin_call(&name("laptop"), tool, json!({"text": "x"}), unseen())
        .await
        .unwrap();
    rig.sees("never", "call \"echo\"").await;
    rig.clients.cancel(&call);
    let (outcome, _) = rig.end(&call).await;
    assert!(matches!(outcome, Outcome::Unknown { .. }), "{outcome:?}");
}

/// The client asks again while it is written down that it has not got the end, or after that.
#[tokio::test]
async fn a_client_that_gives_up_in_the_moment_of_the_end_gets_it_by_the_same_request() {
    let rig = Rig::new(&allows_clients());
    let (client, store) = (name("laptop"), rig.gate.store.clone());
    for (text, is_at_once) in [("x", true), ("y", false)] {
        let call = rig.begin("laptop", text).await;
        rig.ended().await;
        let (writes, held) = mpsc::channel::<()>();
        store.write_soon(move |_| Ok(held.recv().is_ok()));
        {
            let mut ends = pin!(rig.clients.end_of(&call, SOON));
            while rig.clients.shared.driving.progress(&call.id()).is_some() {
                tokio::task::yield_now().await;
            }
            assert!(futures::poll!(&mut ends).is_pending());
            writes.send(()).unwrap();
            store.write(|_| Ok(())).await.unwrap();
            let number = call.number;
            let row = store.read(|tx| tx.client_call(&client, number)).unwrap().unwrap();
            assert!(row.handed_ms.is_some(), "it was not on its way");
        }
        let (writes, held) = mpsc::channel::<()>();
        store.write_soon(move |_| Ok(held.recv().is_ok()));
        let id = call.id();
        drop(call);
        let again = if is_at_once {
            let (again, sent) = tokio::join!(rig.begin("laptop", text), async { writes.send(()) });
            sent.unwrap();
            again
        } else {
            writes.send(()).unwrap();
            store.write(|_| Ok(())).await.unwrap();
            rig.begin("laptop", text).await
        };
        assert_eq!(again.id(), id, "{text}");
        let (outcome, kept) = rig.end(&again).await;
        assert!(matches!(outcome, Outcome::Ended { .. }) && kept, "{outcome:?}");
    }
    assert_eq!(rig.effects(), ["x", "y"]);
    assert_eq!(rig.gets("laptop", "x").await, "x");
    assert_eq!(rig.effects(), ["x", "y", "x"], "what was given out is done again");
}

#[tokio::test]
async fn the_stop_switch_ends_what_runs_of_a_client() {
    let rig = Rig::on(GateRig::new(&["never"], NEVER_ASKS));
    let arguments = json!({"text": "x"});
    let call = rig.clients.begin_call(&name("laptop"), "never__echo", arguments, unseen()).await;
    let call = call.unwrap();
    let running = rig.clients.end_of(&call, Duration::from_millis(20)).await.unwrap();
    assert_eq!(running, ClientCallState::Running);
    rig.gate.store.write(|tx| tx.set_panic(Some("tests"))).await.unwrap();
    let (outcome, _) = rig.end(&call).await;
    assert!(!matches!(outcome, Outcome::Ended { .. }), "{outcome:?}");
}

#[tokio::test]
async fn a_tool_that_is_not_there_is_refused_with_the_one_that_was_meant() {
    let rig = Rig::new("");
    rig.waits("laptop", "x").await;
    let call = rig.clients.begin_call(&name("laptop"), "legacy__ecko", json!({}), unseen()).await;
    let words = call.err().unwrap().to_string();
    assert!(words.contains("did you mean `legacy__echo`?"), "{words}");
    let tools = rig.clients.tools().await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert!(names.is_sorted() && names.contains(&"legacy__echo"), "{names:?}");
    let echo = tools.iter().find(|tool| tool.tool == "echo").unwrap();
    assert_eq!(echo.definition["x-unknown"], 1, "word for word: {}", echo.definition);
}

#[tokio::test]
async fn what_a_call_has_changed_can_be_undone() {
    let rig = Rig::on(GateRig::new(&["never"], NEVER_ASKS));
    let workspace = rig.gate.home().join("w");
    std::fs::create_dir(&workspace).unwrap();
    let arguments = json!({"text": "x"});
    let call = rig.clients.begin_call(&name("laptop"), "never__echo", arguments, unseen()).await;
    let call = call.unwrap();
    rig.sees("never", "call \"echo\"").await;
    std::fs::write(workspace.join("a.txt"), "by the call").unwrap();
    rig.clients.cancel(&call);
    rig.end(&call).await;
    let turns = rig.gate.gate.snapshots().turns().await.unwrap();
    let names: Vec<_> = turns.iter().map(|turn| turn.turn.to_string()).collect();
    assert_eq!((names, turns[0].changed), (vec!["mcp.laptop._calls:1".to_owned()], Some(1)));
    let which = crate::undo::Which::Turn(turns[0].turn.clone());
    rig.gate.gate.snapshots().undo(which, crate::gate::tests::rig::OWNER).await.unwrap();
    assert!(!workspace.join("a.txt").exists());
}
