//! Sessions that end, streams that break, servers that are started again: what is repeated, and
//! what never is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};

use super::server::{HttpServer, TOKEN, event, status, stream_of};
use crate::tests::rig::{context, eventually, not_forwarded, text, unknown};
use crate::{CallEnd, HubSettings, ServerState};

fn answer(id: &Value, text: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": text}]}})
}

/// Sessions count as idle at once.
fn at_once(settings: &mut HubSettings) {
    settings.times.idle = Duration::ZERO;
}

#[tokio::test]
async fn a_server_that_was_started_again_is_reached_and_no_call_comes_twice() {
    let server = HttpServer::usual();
    let rig = server.rig_with(server.url(), at_once);
    for n in 0..3 {
        let said = rig.call("x", "echo", json!({"text": format!("before {n}")})).await;
        assert_eq!(text(said), format!("before {n}"));
    }
    // The session of before is unknown now.
    let server = server.restart();
    for n in 0..3 {
        let said = rig.call("x", "echo", json!({"text": format!("after {n}")})).await;
        assert_eq!(text(said), format!("after {n}"));
    }
    let effects = server.effects();
    let expected = ["before 0", "before 1", "before 2", "after 0", "after 1", "after 2"];
    assert_eq!(effects, expected);
}

#[tokio::test]
async fn a_forgotten_session_is_found_out_by_a_ping_and_not_by_a_call() {
    for refusal in [404, 400] {
        let forget = Arc::new(AtomicBool::new(false));
        let forgets = forget.clone();
        let server = HttpServer::start(move |seen| {
            let is_old = seen.session() == Some("session-1") && forgets.load(Ordering::SeqCst);
            is_old.then(|| status(refusal))
        });
        let rig = server.rig_with(server.url(), at_once);
        assert_eq!(text(rig.call("x", "echo", json!({"text": "one"})).await), "one");
        forget.store(true, Ordering::SeqCst);
        assert_eq!(text(rig.call("x", "echo", json!({"text": "two"})).await), "two");
        assert_eq!(server.count("tools/call"), 2, "the second one went into the new session");
        assert_eq!(server.count("initialize"), 2);
        assert_eq!(*rig.notices.lock().unwrap(), [], "it may forget; nobody needs to hear of it");
        let calls: Vec<_> =
            server.seen().into_iter().filter(|seen| seen.is("tools/call")).collect();
        assert_eq!(calls[1].session(), Some("session-2"));
    }
}

#[tokio::test]
async fn a_call_that_meets_a_forgotten_session_is_refused_once_and_the_next_one_works() {
    let server = HttpServer::start(|seen| {
        (seen.is("tools/call") && seen.session() == Some("session-1")).then(|| status(404))
    });
    let rig = server.rig();
    match rig.call("x", "echo", json!({"text": "lost"})).await {
        CallEnd::Ended(output, _) if output.is_error => {
            assert!(output.text.contains("does not know claw's session"), "{}", output.text);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!((server.count("tools/call"), server.effects().len()), (1, 0));
    assert_eq!(text(rig.call("x", "echo", json!({"text": "again"})).await), "again");
    assert_eq!(server.effects(), ["again"]);
}

#[tokio::test]
async fn what_cannot_be_reached_was_not_sent_and_is_left_alone_for_a_while() {
    let server = HttpServer::usual();
    let rig = server.rig();
    let permit = rig.permit("x", "echo", json!({"text": "one"})).await;
    let _nobody = server.end();
    let reason = not_forwarded(rig.hub.call(permit, context()).await);
    assert!(reason.contains("cannot be reached"), "{reason}");
    eventually("it is down", || matches!(rig.state("x"), ServerState::Failed { .. })).await;
    assert!(rig.hub.tools("x").await.is_err());
    let error = rig.hub.tools("x").await.unwrap_err().to_string();
    assert!(error.contains("left alone"), "{error}");
}

#[tokio::test]
async fn a_connection_that_breaks_in_a_call_leaves_it_unknown_and_repeats_nothing() {
    for pieces in [vec![], vec![": I work on it\n\n".to_owned()]] {
        let server = HttpServer::start(move |seen| {
            let pieces = futures::stream::iter(pieces.clone());
            seen.is("tools/call").then(|| stream_of("text/event-stream", pieces))
        });
        let rig = server.rig();
        let reason = unknown(rig.call("x", "echo", json!({"text": "one"})).await);
        assert!(reason.contains("it closed the connection"), "{reason}");
        assert_eq!(server.count("tools/call"), 1);
        // The session lives, and with it what the server keeps for it.
        rig.hub.tools("x").await.unwrap();
        assert_eq!(server.count("initialize"), 1);
    }
}

#[tokio::test]
async fn a_stream_that_broke_is_taken_up_behind_its_last_event() {
    let gets = Arc::new(AtomicUsize::new(0));
    let (count, asked) = (gets.clone(), Arc::new(std::sync::Mutex::new(Value::Null)));
    let server = HttpServer::start(move |seen| {
        if seen.is("tools/call") {
            *asked.lock().unwrap() = seen.message["id"].clone();
            let first = "id: e-1\nretry: 1\ndata:\n\n".to_owned();
            return Some(stream_of("text/event-stream", futures::stream::iter([first])));
        }
        let last = seen.headers.get("last-event-id")?.to_str().unwrap().to_owned();
        assert_eq!(seen.headers["authorization"], format!("Bearer {TOKEN}"));
        assert_eq!((seen.session(), &seen.verb), (Some("session-1"), &Method::GET));
        let id = asked.lock().unwrap().clone();
        match count.fetch_add(1, Ordering::SeqCst) {
            // It breaks once more, further on.
            0 => {
                assert_eq!(last, "e-1");
                let event = event("e-2", &json!({"jsonrpc": "2.0", "method": "notifications/x"}));
                Some(stream_of("text/event-stream", futures::stream::iter([event])))
            }
            1 => Some(status(503)),
            _ => {
                assert_eq!(last, "e-2");
                let event = event("e-3", &answer(&id, "late and whole"));
                Some(stream_of("text/event-stream", futures::stream::iter([event])))
            }
        }
    });
    let rig = server.rig();
    assert_eq!(text(rig.call("x", "echo", json!({})).await), "late and whole");
    assert_eq!((server.count("tools/call"), gets.load(Ordering::SeqCst)), (1, 3));
}

#[tokio::test]
async fn a_stream_that_cannot_be_taken_up_ends_in_the_unknown() {
    let server = HttpServer::start(move |seen| {
        if seen.is("tools/call") {
            let first = "id: e-1\nretry: 1\ndata:\n\n".to_owned();
            return Some(stream_of("text/event-stream", futures::stream::iter([first])));
        }
        seen.headers.contains_key("last-event-id").then(|| status(503))
    });
    let rig = server.rig();
    let reason = unknown(rig.call("x", "echo", json!({})).await);
    assert!(reason.contains("HTTP 503"), "{reason}");
    assert_eq!(server.count("tools/call"), 1);
    let seen = server.seen();
    let tries = seen.iter().filter(|seen| seen.headers.contains_key("last-event-id")).count();
    assert_eq!(tries, 5);
}

#[tokio::test]
async fn an_end_tells_the_server_that_its_session_is_over() {
    let server = HttpServer::usual();
    let rig = server.rig();
    rig.hub.tools("x").await.unwrap();
    rig.hub.shutdown().await;
    // It is not waited for as long as a busy server may take.
    let is_last = || server.seen().last().is_some_and(|seen| seen.verb == Method::DELETE);
    eventually("the server hears of it", is_last).await;
    let last = server.seen().pop().unwrap();
    assert_eq!((last.verb.clone(), last.session()), (Method::DELETE, Some("session-1")));
    assert_eq!(last.headers["authorization"], format!("Bearer {TOKEN}"));
}
