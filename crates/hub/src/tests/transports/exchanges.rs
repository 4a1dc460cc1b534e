//! Requests, answers and notifications after the handshake, over every transport.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::time::timeout;

use super::link::{
    Link, MESSAGE_BYTES_MAX, PATIENCE, Peer, QUEUE_BYTES_MAX, call, call_with, content,
};
use crate::catalog::LEADS_BACK;
use crate::connection::Connection;
use crate::era::Era;
use crate::tests::rig::{context, eventually, not_forwarded, text, unknown};
use crate::{AskSink, CallControl, CallEnd, HubNotice, ServerAsks};

/// The connection is as good as new.
async fn answers_still(connection: &Connection, peer: &mut Peer) {
    let (end, ()) = tokio::join!(call(connection, json!({})), peer.answer_call("still here"));
    assert_eq!(text(end), "still here");
}

pub(super) async fn ids_are_numbers_and_the_same_digits_as_text_are_no_answer(link: Link) {
    let (connection, mut peer) = link.connect(Era::Legacy).await;
    let script = async {
        let request = peer.request("tools/call").await;
        assert!(request["id"].is_i64(), "{request}");
        let mut wrong = request.clone();
        wrong["id"] = json!(request["id"].to_string());
        peer.answer(&wrong, content("for nobody")).await;
        peer.answer(&request, content("for the number")).await;
    };
    let (end, ()) = tokio::join!(call(&connection, json!({})), script);
    assert_eq!(text(end), "for the number");
    let log = link.log.lock().unwrap();
    assert!(log.iter().any(|line| line.contains("an answer to the id \"")), "{log:?}");
}

pub(super) async fn a_request_of_the_server_is_answered_under_its_own_id(link: Link) {
    let (_connection, mut peer) = link.connect(Era::Legacy).await;
    for id in [json!("a text"), json!(7), json!("7")] {
        peer.send(json!({"jsonrpc": "2.0", "id": id, "method": "ping"})).await;
        let answer = peer.receive().await.unwrap();
        assert_eq!((&answer["id"], &answer["result"]), (&id, &json!({})), "{answer}");
    }
}

pub(super) async fn an_answer_to_nobody_disturbs_nobody(link: Link) {
    let (connection, mut peer) = link.connect(Era::Modern).await;
    let script = async {
        let request = peer.request("tools/call").await;
        for id in [json!(123_456_789), json!(null), json!(1.5), json!(["x"])] {
            peer.answer(&json!({"id": id}), content("for nobody")).await;
        }
        peer.answer(&request, content("for somebody")).await;
        peer.answer(&request, content("once more")).await;
    };
    let (end, ()) = tokio::join!(call(&connection, json!({})), script);
    assert_eq!(text(end), "for somebody");
    answers_still(&connection, &mut peer).await;
}

pub(super) async fn a_batch_is_read_message_by_message(link: Link) {
    let (connection, mut peer) = link.connect(Era::Legacy).await;
    let script = async {
        let request = peer.request("tools/call").await;
        let ping = json!({"jsonrpc": "2.0", "id": "p", "method": "ping"});
        let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": content("second")});
        peer.send(json!([ping, answer])).await;
        assert_eq!(peer.receive().await.unwrap()["id"], "p");
    };
    let (end, ()) = tokio::join!(call(&connection, json!({})), script);
    assert_eq!(text(end), "second");
}

pub(super) async fn a_message_that_is_too_long_fails_its_call_at_once(link: Link) {
    let (connection, mut peer) = link.connect(Era::Legacy).await;
    let script = peer.answer_call_with(MESSAGE_BYTES_MAX);
    // The call's own limit is the patience of these tests.
    let (end, ()) = tokio::join!(timeout(PATIENCE / 2, call(&connection, json!({}))), script);
    let reason = unknown(end.unwrap());
    assert!(reason.contains(&format!("more than {MESSAGE_BYTES_MAX} bytes")), "{reason}");
    let log = link.log.lock().unwrap().clone();
    assert!(log.iter().any(|line| line.contains("longer than claw reads")), "{log:?}");
    answers_still(&connection, &mut peer).await;
}

impl Peer {
    async fn answer_call_with(&mut self, bytes: usize) {
        self.answer_call(&"x".repeat(bytes)).await;
    }
}

/// The server reads nothing, until the queue takes no more.
pub(super) async fn what_a_full_queue_refuses_never_reaches_the_server(link: Link) {
    let (connection, mut peer) = link.connect(Era::Legacy).await;
    let (context, refused) = (context(), AtomicUsize::new(0));
    let calls = futures::future::join_all((0..40).map(|n| {
        let arguments = json!({"n": n, "text": "x".repeat(50_000)});
        let (call, refused) = (call_with(&connection, arguments, context.clone()), &refused);
        async move {
            let end = call.await;
            refused.fetch_add(
                usize::from(matches!(end, CallEnd::NotForwarded { .. })),
                Ordering::SeqCst,
            );
            (n, end)
        }
    }));
    let cancel = async {
        eventually("the queue is full", || refused.load(Ordering::SeqCst) > 0).await;
        context.cancel.cancel();
    };
    let (ends, ()) = tokio::join!(calls, cancel);
    let (mut sent, mut kept) = (0, BTreeSet::new());
    for (n, end) in ends {
        match end {
            CallEnd::NotForwarded { reason } => {
                let full = format!("more than {QUEUE_BYTES_MAX} bytes would wait");
                assert!(reason.contains(&full) || reason.contains("stopped"), "{reason}");
                kept.insert(n);
            }
            CallEnd::Unknown { .. } => sent += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(sent > 0 && !kept.is_empty(), "{sent} of 40 were sent");
    let arrived = async {
        while let Some(message) = peer.receive().await {
            if let Some(n) = message["params"]["arguments"]["n"].as_i64() {
                assert!(!kept.contains(&n), "call {n} was not forwarded, and has arrived");
            }
        }
        drop(peer);
    };
    tokio::join!(connection.end(), arrived);
}

pub(super) async fn a_cancel_before_the_call_is_sent_keeps_it_from_the_server(link: Link) {
    let (connection, mut peer) = link.connect(Era::Legacy).await;
    let context = context();
    context.cancel.cancel();
    let end = call_with(&connection, json!({"text": "first"}), context).await;
    assert_eq!(not_forwarded(end), "it was stopped before it was sent");
    let script = async {
        let request = peer.request("tools/call").await;
        assert_eq!(request["params"]["arguments"], json!({"text": "second"}));
        peer.answer(&request, content("done")).await;
    };
    let (end, ()) = tokio::join!(call(&connection, json!({"text": "second"})), script);
    assert_eq!(text(end), "done");
}

pub(super) async fn a_cancel_of_a_sent_call_is_announced_and_its_late_answer_dropped(link: Link) {
    for era in [Era::Legacy, Era::Modern] {
        let (connection, mut peer) = link.connect(era).await;
        let context = context();
        let cancel = context.cancel.clone();
        let script = async {
            let request = peer.request("tools/call").await;
            cancel.cancel();
            let cancelled = peer.request("notifications/cancelled").await;
            assert_eq!(cancelled["params"]["requestId"], request["id"]);
            peer.answer(&request, content("too late")).await;
        };
        let (end, ()) = tokio::join!(call_with(&connection, json!({}), context), script);
        assert!(unknown(end).contains("stopped while it ran"));
        answers_still(&connection, &mut peer).await;
    }
}

pub(super) async fn a_call_after_the_end_is_not_forwarded(link: Link) {
    let (connection, peer) = link.connect(Era::Legacy).await;
    drop(peer);
    timeout(PATIENCE, connection.transport.ended().cancelled()).await.unwrap();
    assert!(connection.is_dead());
    let reason = not_forwarded(call(&connection, json!({})).await);
    let before = "the server ended before the call was sent: ";
    assert!(reason.contains(before) && link.says_why(&reason), "{reason}");
}

pub(super) async fn an_end_in_the_middle_of_a_call_is_unknown_and_says_why(link: Link) {
    let (connection, mut peer) = link.connect(Era::Legacy).await;
    let script = async {
        peer.request("tools/call").await;
        drop(peer);
    };
    let (end, ()) = tokio::join!(call(&connection, json!({})), script);
    let reason = unknown(end);
    let after = "ended before it answered: ";
    assert!(reason.contains(after) && link.says_why(&reason), "{reason}");
}

pub(super) async fn an_answer_just_before_the_end_counts(link: Link) {
    let (connection, mut peer) = link.connect(Era::Legacy).await;
    let script = async {
        peer.answer_call("my last").await;
        drop(peer);
    };
    let (end, ()) = tokio::join!(call(&connection, json!({})), script);
    assert_eq!(text(end), "my last");
}

pub(super) async fn an_end_that_claw_asks_for_ends_the_server(link: Link) {
    let (connection, mut peer) = link.connect(Era::Legacy).await;
    let script = async {
        assert_eq!(peer.receive().await, None);
        drop(peer);
    };
    tokio::join!(connection.end(), script);
    assert!(connection.is_dead() && connection.transport.ended().is_cancelled());
}

pub(super) async fn notifications_are_heard(link: Link) {
    let (connection, mut peer) = link.connect(Era::Legacy).await;
    let list = async |peer: &mut Peer, name: &str| {
        let request = peer.request("tools/list").await;
        peer.answer(&request, json!({"tools": [{"name": name}]})).await;
    };
    let (first, ()) = tokio::join!(connection.tools(), list(&mut peer, "before"));
    assert!(first.unwrap().tool("before").is_some());

    let mut context = context();
    let progress = Arc::new(Mutex::new(Vec::new()));
    let sink = progress.clone();
    context.progress = Arc::new(move |text| sink.lock().unwrap().push(text));
    let script = async {
        let request = peer.request("tools/call").await;
        let token = &request["params"]["_meta"]["progressToken"];
        for n in 1..=3 {
            let params = json!({"progressToken": token, "progress": n, "total": 3});
            peer.notify("notifications/progress", params).await;
        }
        let stranger = json!({"progressToken": "nobody's", "progress": 9});
        peer.notify("notifications/progress", stranger).await;
        peer.notify("notifications/message", json!({"level": "info", "data": "I log"})).await;
        // Only claw's own servers are believed.
        peer.notify("notifications/claw/background_jobs", json!({"running": 7})).await;
        for _ in 0..3 {
            peer.notify("notifications/tools/list_changed", json!({})).await;
        }
        peer.answer(&request, content("done")).await;
    };
    let (end, ()) = tokio::join!(call_with(&connection, json!({}), context), script);
    assert_eq!(text(end), "done");
    assert_eq!(*progress.lock().unwrap(), ["1/3", "2/3", "3/3"]);
    assert_eq!(*link.log.lock().unwrap(), ["I log"]);
    assert_eq!(connection.background_jobs(), 0);
    let changed = HubNotice::ToolsChanged { server: "scripted".into() };
    assert_eq!(*link.notices.lock().unwrap(), [changed], "three announcements, one notice");

    let (second, ()) = tokio::join!(connection.tools(), list(&mut peer, "after"));
    assert!(second.unwrap().tool("after").is_some());
    // Nothing was announced since, so nobody is asked.
    assert!(connection.tools().await.unwrap().tool("after").is_some());
    answers_still(&connection, &mut peer).await;
}

pub(super) async fn pages_are_listed_to_the_end_and_stay_raw(link: Link) {
    let (connection, mut peer) = link.connect(Era::Legacy).await;
    let tool = json!({"name": "odd", "x-unknown": {"deep": [1.0, 1e300, null]}, "inputSchema": 7});
    let pages: [Value; 3] = [
        json!({"tools": [tool], "nextCursor": "two"}),
        json!({"tools": [], "nextCursor": "three"}),
        json!({"tools": [{"name": "last"}], "x-more": true}),
    ];
    let script = async {
        for (page, cursor) in pages.into_iter().zip([json!(null), json!("two"), json!("three")]) {
            let request = peer.request("tools/list").await;
            assert_eq!(request["params"]["cursor"], cursor);
            peer.answer(&request, page).await;
        }
    };
    let (tools, ()) = tokio::join!(connection.tools(), script);
    let tools = tools.unwrap();
    let names: Vec<&str> = tools.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["odd", "last"]);
    assert_eq!(tools.tool("odd").unwrap().raw, tool);
    assert_eq!(tools.tool("odd").unwrap().input_schema, json!({"type": "object"}));
    assert_ne!(tools.tool("odd").unwrap().pin, tools.tool("last").unwrap().pin);
}

pub(super) async fn a_list_that_leads_back_to_a_page_ends_there_and_is_told_once(link: Link) {
    let (connection, mut peer) = link.connect(Era::Legacy).await;
    let page = json!({"tools": [{"name": "first"}, {"name": "second"}], "nextCursor": ""});
    let script = async {
        for cursor in [json!(null), json!("")] {
            let request = peer.request("tools/list").await;
            assert_eq!(request["params"]["cursor"], cursor);
            peer.answer(&request, page.clone()).await;
        }
    };
    let (tools, ()) = tokio::join!(connection.tools(), script);
    let tools = tools.unwrap();
    let names: Vec<&str> = tools.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["first", "second"]);
    let told = HubNotice::Odd { server: "scripted".into(), text: LEADS_BACK.into() };
    assert_eq!(*link.notices.lock().unwrap(), [told]);
    answers_still(&connection, &mut peer).await;
}

/// Somebody who answers what a call's server asks: `None` for a call for which nobody can.
fn asked_with(answer: Option<Value>, asks: &Arc<Mutex<Vec<ServerAsks>>>) -> CallControl {
    let asks = asks.clone();
    let ask: AskSink = Arc::new(move |asked| {
        asks.lock().unwrap().push(asked);
        let answer = answer.clone();
        Box::pin(async move { answer })
    });
    CallControl { ask: Some(ask), ..context() }
}

pub(super) async fn a_question_for_one_of_several_calls_goes_to_the_oldest_and_then_to_the_next(
    link: Link,
) {
    let (connection, mut peer) = link.connect(Era::Legacy).await;
    let (first, second) = (Arc::default(), Arc::default());
    let yes = json!({"action": "accept", "content": {}});
    let script = async {
        let one = peer.request("tools/call").await;
        let two = peer.request("tools/call").await;
        let ask = json!({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create",
            "params": {"message": "Sure?"}});
        peer.send(ask.clone()).await;
        let answer = peer.receive().await.unwrap();
        assert_eq!((&answer["id"], &answer["result"]), (&json!("q"), &yes), "{answer}");
        peer.answer(&one, content("one")).await;
        eventually("one of them runs", || connection.state.askers().len() == 1).await;
        peer.send(ask).await;
        assert_eq!(peer.receive().await.unwrap()["result"], yes);
        peer.answer(&two, content("two")).await;
    };
    let one = call_with(&connection, json!({}), asked_with(None, &first));
    let two = async {
        eventually("the other one is first", || connection.state.askers().len() == 1).await;
        call_with(&connection, json!({}), asked_with(Some(yes.clone()), &second)).await
    };
    let (one, two, ()) = tokio::join!(one, two, script);
    assert_eq!((text(one), text(two)), ("one".to_owned(), "two".to_owned()));
    let running = |asks: &Arc<Mutex<Vec<ServerAsks>>>| -> Vec<Vec<String>> {
        asks.lock().unwrap().iter().map(|asks| asks.running.clone()).collect()
    };
    let both = vec!["echo".to_owned(); 2];
    // Nobody could answer for the older one, and the question is told as what it is.
    assert_eq!(running(&first), std::slice::from_ref(&both));
    assert_eq!(running(&second), [both, Vec::new()]);
}
