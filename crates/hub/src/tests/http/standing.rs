//! The stream for what a server says by itself: taken up behind its last event, when the server
//! says and not without end; and what may have changed while nobody listened is listed anew.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::http::Method;
use axum::response::Response;
use futures::{StreamExt as _, stream};
use serde_json::json;
use tokio::sync::{Semaphore, oneshot};

use super::server::{HttpServer, Seen, event, status, stream_of, then_silence};
use crate::connection::Connection;
use crate::era::LEGACY_PROTOCOL;
use crate::tests::rig::{Rig, eventually, text};

const EVENTS: &str = "text/event-stream";
/// As long as claw ever waits before it asks again, and as a test waits for anything.
const NEVER: Duration = Duration::from_secs(24 * 3600);
/// A list is older than what is believed of a server that would not announce a change.
const STALE: Duration = Duration::from_secs(61);

/// Its tools may change, it says, and that it would tell.
fn announces(seen: &Seen) -> Option<Response> {
    seen.is("initialize").then(|| {
        let capabilities = json!({"tools": {"listChanged": true}, "logging": {}});
        let mut response = seen.result(json!({"protocolVersion": LEGACY_PROTOCOL,
            "capabilities": capabilities, "serverInfo": {"name": "s", "version": "1"}}));
        response.headers_mut().insert("mcp-session-id", "session-1".parse().unwrap());
        response
    })
}

/// A line for the server's log, by which a test knows that the stream was read up to here.
fn says(id: &str, text: &str) -> String {
    let params = json!({"level": "info", "data": text});
    event(id, &json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params}))
}

fn changed(id: &str) -> String {
    event(id, &json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))
}

async fn hears(rig: &Rig, text: &str) {
    eventually(text, || rig.log.lock().unwrap().iter().any(|line| line == text)).await;
}

async fn listed(rig: &Rig, server: &HttpServer) -> usize {
    rig.hub.tools("x").await.unwrap();
    server.count("tools/list")
}

/// The time of the hub alone goes on.
async fn goes_by(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

#[tokio::test]
async fn it_is_taken_up_behind_its_last_event_as_soon_as_the_server_says() {
    let gets = Arc::new(AtomicUsize::new(0));
    let count = gets.clone();
    let server = HttpServer::start(move |seen| {
        if seen.verb != Method::GET {
            return announces(seen);
        }
        let pieces = match count.fetch_add(1, Ordering::SeqCst) {
            0 => vec![format!("retry: 1\n{}", says("e-1", "first"))],
            1 => return Some(status(503)),
            2 => vec![says("e-2", "second")],
            _ => {
                let pieces = vec![changed("e-3"), says("e-4", "third")];
                return Some(stream_of(EVENTS, then_silence(pieces)));
            }
        };
        Some(stream_of(EVENTS, stream::iter(pieces)))
    });
    // Nothing but the server's own word has claw ask again.
    let rig = server.rig_with(server.url(), |settings| settings.times.again = NEVER);
    assert_eq!(listed(&rig, &server).await, 1);
    hears(&rig, "third").await;
    let all = server.seen().into_iter().filter(|seen| seen.verb == Method::GET);
    let asked: Vec<(Option<String>, Option<String>)> = all
        .map(|seen| {
            let last = seen.headers.get("last-event-id");
            let last = last.map(|id| id.to_str().unwrap().to_owned());
            (last, seen.session().map(str::to_owned))
        })
        .collect();
    let behind = |id: Option<&str>| (id.map(str::to_owned), Some("session-1".to_owned()));
    assert_eq!(asked, [None, Some("e-1"), Some("e-1"), Some("e-2")].map(behind));
    // What it has told behind the gap counts like anything else that it tells.
    assert_eq!(listed(&rig, &server).await, 2);
}

#[tokio::test]
async fn tools_are_listed_anew_behind_a_gap_though_no_change_was_heard_of() {
    let (cut, until) = oneshot::channel::<()>();
    let until = Mutex::new(Some(until));
    let server = HttpServer::start(move |seen| {
        if seen.verb != Method::GET {
            return announces(seen);
        }
        let Some(until) = until.lock().unwrap().take() else {
            return Some(stream_of(EVENTS, then_silence(vec![says("2", "back again")])));
        };
        let first = vec![format!("retry: 1\n{}", says("1", "here I am"))];
        let end = stream::once(until).filter_map(|_| std::future::ready(None));
        Some(stream_of(EVENTS, stream::iter(first).chain(end)))
    });
    let rig = server.rig();
    rig.hub.tools("x").await.unwrap();
    hears(&rig, "here I am").await;
    goes_by(STALE).await;
    let before = listed(&rig, &server).await;
    // While it is heard, its silence is believed, however long it lasts.
    for _ in 0..2 {
        goes_by(STALE).await;
        assert_eq!(listed(&rig, &server).await, before);
    }
    cut.send(()).unwrap();
    hears(&rig, "back again").await;
    goes_by(STALE).await;
    assert_eq!(listed(&rig, &server).await, before + 1, "nobody knows what was missed");
    goes_by(STALE).await;
    assert_eq!(listed(&rig, &server).await, before + 1);
    assert_eq!(server.count("initialize"), 1, "the session is the same");
}

/// The connection of now.
fn up(rig: &Rig) -> Option<Arc<Connection>> {
    rig.hub.get("x")?.slot.try_lock().ok()?.up.clone()
}

/// A stream without an event, until it is cut by a permit of its own.
fn silent_until(cut: Arc<Semaphore>) -> Response {
    let silence = stream::once(async move {
        if let Ok(permit) = cut.acquire().await {
            permit.forget();
        }
    });
    stream_of(EVENTS, silence.filter_map(|()| std::future::ready(None)))
}

/// The next call asks first whether the server knows the session.
fn is_doubtful(rig: &Rig) -> bool {
    up(rig).is_some_and(|up| up.transport.is_doubtful())
}

#[tokio::test]
async fn a_stream_that_brings_nothing_any_more_is_given_up_and_its_session_is_not() {
    for refusal in [501, 503] {
        let (gets, cut) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
        let (count, until) = (gets.clone(), cut.clone());
        let server = HttpServer::start(move |seen| {
            if seen.verb != Method::GET {
                return announces(seen);
            }
            let first = count.fetch_add(1, Ordering::SeqCst) == 0;
            Some(if first { silent_until(until.clone()) } else { status(refusal) })
        });
        let rig = server.rig_with(server.url(), |settings| {
            settings.times.again = Duration::from_millis(1);
            settings.times.idle = NEVER;
        });
        rig.hub.tools("x").await.unwrap();
        cut.add_permits(1);
        eventually("it is given up", || is_doubtful(&rig)).await;
        assert_eq!(gets.load(Ordering::SeqCst), 6, "once, and five tries");
        assert_eq!(text(rig.call("x", "echo", json!({"text": "still here"})).await), "still here");
        let counts = ["initialize", "ping", "tools/call"].map(|method| server.count(method));
        assert_eq!(counts, [1; 3], "it was asked, and it knew");
        assert!(server.seen().iter().all(|seen| seen.verb != Method::DELETE));
        assert_eq!(*rig.notices.lock().unwrap(), []);
    }
}

#[tokio::test]
async fn a_stream_that_is_cut_before_anything_is_said_is_taken_up_without_end() {
    let cut = Arc::new(Semaphore::new(0));
    let until = cut.clone();
    let server = HttpServer::start(move |seen| {
        if seen.verb != Method::GET {
            return announces(seen);
        }
        Some(silent_until(until.clone()))
    });
    let rig = server.rig();
    rig.hub.tools("x").await.unwrap();
    // What stands between gives it half a minute each time.
    for number in 1..9 {
        let is_open = || up(&rig).is_some_and(|up| up.transport.hearing() == Some(number));
        eventually("it is open", is_open).await;
        goes_by(Duration::from_secs(30)).await;
        cut.add_permits(1);
    }
    eventually("it is open", || up(&rig).is_some_and(|up| up.transport.hearing() == Some(9))).await;
    assert_eq!(server.count("initialize"), 1);
}

/// Many servers have no address for a stream, so a 404 says little; a ping says it.
#[tokio::test]
async fn a_session_that_a_stream_does_not_find_is_asked_about_before_the_next_call() {
    for forgets in [false, true] {
        let server = HttpServer::start(move |seen| {
            let is_stream = seen.verb == Method::GET && seen.session() == Some("session-1");
            let is_known = !(forgets && seen.is("ping") && seen.session() == Some("session-1"));
            (is_stream || !is_known).then(|| status(404))
        });
        let rig = server.rig_with(server.url(), |settings| settings.times.idle = NEVER);
        let connection = rig.hub.get("x").unwrap().connection().await.unwrap();
        eventually("it is in doubt", || connection.transport.is_doubtful()).await;
        assert!(!connection.is_dead());
        assert_eq!(text(rig.call("x", "echo", json!({"text": "once"})).await), "once");
        let counts = ["initialize", "ping", "tools/call"].map(|method| server.count(method));
        assert_eq!(counts, [if forgets { 2 } else { 1 }, 1, 1], "forgets: {forgets}");
        assert_eq!(server.effects(), ["once"]);
        assert_eq!(*rig.notices.lock().unwrap(), []);
    }
}

#[tokio::test]
async fn a_server_without_such_a_stream_is_asked_for_it_once_and_listed_again_before_use() {
    let server = HttpServer::start(announces);
    // The time that goes by must not end a request for the stream that is still under way, which
    // would be made again.
    let rig = server.rig_with(server.url(), |settings| {
        settings.times.connect = NEVER;
        settings.times.control = NEVER;
    });
    for n in 1..4 {
        assert_eq!(listed(&rig, &server).await, n, "what is a minute old is not believed");
        goes_by(STALE).await;
    }
    let gets = server.seen().iter().filter(|seen| seen.verb == Method::GET).count();
    assert_eq!(gets, 1);
}
