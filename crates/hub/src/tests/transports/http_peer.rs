//! A scripted server over HTTP: what claw posts is read as messages, what the script sends goes as
//! events on the stream of the request that it belongs to. Dropping it ends the server with all of
//! its connections.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use futures::stream;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

const SESSION: &str = "the-session";
/// For what was sent already.
const LAST_WORDS: Duration = Duration::from_millis(300);

pub(crate) struct HttpPeer {
    pub(crate) url: String,
    incoming: mpsc::UnboundedReceiver<Option<Value>>,
    streams: Arc<Streams>,
    stop: CancellationToken,
    thread: Option<std::thread::JoinHandle<()>>,
}

#[derive(Default)]
struct Streams {
    /// By the ids of the requests that they answer.
    asked: Mutex<BTreeMap<String, mpsc::UnboundedSender<String>>>,
    has_session: AtomicBool,
    /// The stream that claw asked for.
    unasked: Mutex<Option<mpsc::UnboundedSender<String>>>,
}

#[derive(Clone)]
struct Seen {
    incoming: mpsc::UnboundedSender<Option<Value>>,
    streams: Arc<Streams>,
}

impl HttpPeer {
    pub(crate) fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let (tell, incoming) = mpsc::unbounded_channel();
        let streams = Arc::<Streams>::default();
        let seen = Seen { incoming: tell, streams: streams.clone() };
        let routes = axum::routing::post(post).get(get).delete(delete);
        let router = Router::new().route("/mcp", routes).with_state(seen);
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        // A thread and a runtime of its own, so that an end takes every connection with it.
        let thread = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                let last_words = stopped.clone();
                let serve = axum::serve(listener, router)
                    .with_graceful_shutdown(async move { last_words.cancelled().await });
                let serve = tokio::spawn(async move { serve.await.unwrap() });
                stopped.cancelled().await;
                let _ = tokio::time::timeout(LAST_WORDS, serve).await;
            });
        });
        Self { url, incoming, streams, stop, thread: Some(thread) }
    }

    pub(crate) async fn receive(&mut self) -> Option<Value> {
        self.incoming.recv().await.flatten()
    }

    /// On the stream of the request that it answers, else on one that is open, else on the one that
    /// claw asked for.
    pub(crate) async fn send(&self, message: Value) {
        let event = format!("data: {message}\n\n");
        let is_answer = message.get("method").is_none();
        let id = message.get("id").map(Value::to_string).unwrap_or_default();
        loop {
            {
                let mut asked = self.streams.asked.lock().unwrap();
                if is_answer && let Some(stream) = asked.remove(&id) {
                    let _ = stream.send(event);
                    return;
                }
                if let Some(stream) = asked.values().last() {
                    let _ = stream.send(event);
                    return;
                }
            }
            // Nobody listens to a server without a session.
            if !self.streams.has_session.load(Ordering::SeqCst) {
                return;
            }
            if let Some(stream) = &*self.streams.unasked.lock().unwrap() {
                let _ = stream.send(event);
                return;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

impl Drop for HttpPeer {
    fn drop(&mut self) {
        // What was said last still goes out.
        self.streams.asked.lock().unwrap().clear();
        self.streams.unasked.lock().unwrap().take();
        self.stop.cancel();
        // A handler that has failed an assertion fails the test as well.
        let joined = self.thread.take().unwrap().join();
        assert!(std::thread::panicking() || joined.is_ok());
    }
}

/// Told when claw hangs up before the answer, which is how a modern client cancels.
struct Abandoned {
    id: Value,
    is_modern: bool,
    seen: Seen,
}

impl Drop for Abandoned {
    fn drop(&mut self) {
        let unanswered = self.seen.streams.asked.lock().unwrap().remove(&self.id.to_string());
        if unanswered.is_some() && self.is_modern {
            let params = json!({"requestId": self.id});
            let cancelled = json!({"method": "notifications/cancelled", "params": params});
            let _ = self.seen.incoming.send(Some(cancelled));
        }
    }
}

async fn post(State(seen): State<Seen>, headers: HeaderMap, body: Bytes) -> Response {
    let message: Value = serde_json::from_slice(&body).unwrap();
    let method = message["method"].as_str().map(str::to_owned);
    let is_request = method.is_some() && message.get("id").is_some();
    let id = message["id"].clone();
    let is_modern = headers.contains_key("mcp-method");
    check(&headers, &message);
    let (tell, events) = mpsc::unbounded_channel();
    if is_request {
        seen.streams.asked.lock().unwrap().insert(id.to_string(), tell);
    }
    let _ = seen.incoming.send(Some(message));
    if !is_request {
        return StatusCode::ACCEPTED.into_response();
    }
    let streams = seen.streams.clone();
    let guard = Abandoned { id, is_modern, seen };
    let mut response = of_events(events, Some(guard));
    if method.as_deref() == Some("initialize") {
        streams.has_session.store(true, Ordering::SeqCst);
        response.headers_mut().insert("mcp-session-id", SESSION.parse().unwrap());
    }
    response
}

/// What both revisions of the transport ask of every request.
fn check(headers: &HeaderMap, message: &Value) {
    let header = |name: &str| headers.get(name).map(|value| value.to_str().unwrap());
    assert_eq!(header("accept"), Some("application/json, text/event-stream"));
    assert_eq!(header("content-type"), Some("application/json"));
    let modern = message.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion");
    match (modern, message["method"].as_str()) {
        (Some(version), method) => {
            assert_eq!(header("mcp-protocol-version"), version.as_str());
            assert_eq!(header("mcp-method"), method);
            assert_eq!(header("mcp-session-id"), None);
            if method == Some("tools/call") {
                assert_eq!(header("mcp-name"), message["params"]["name"].as_str());
            }
        }
        (None, Some("initialize")) => assert_eq!(header("mcp-session-id"), None),
        (None, _) => {
            assert_eq!(header("mcp-session-id"), Some(SESSION), "{message}");
            // An answer of claw's may come before that of the server.
            let version = header("mcp-protocol-version");
            assert!(version.is_none_or(|version| version == crate::era::LEGACY_PROTOCOL));
        }
    }
}

async fn get(State(seen): State<Seen>, headers: HeaderMap) -> Response {
    assert_eq!(headers["mcp-session-id"], SESSION);
    let (tell, events) = mpsc::unbounded_channel();
    *seen.streams.unasked.lock().unwrap() = Some(tell);
    of_events(events, None)
}

async fn delete(State(seen): State<Seen>, headers: HeaderMap) -> StatusCode {
    assert_eq!(headers["mcp-session-id"], SESSION);
    let _ = seen.incoming.send(None);
    StatusCode::NO_CONTENT
}

fn of_events(events: mpsc::UnboundedReceiver<String>, guard: Option<Abandoned>) -> Response {
    let events = stream::unfold((events, guard), |(mut events, guard)| async move {
        let event = events.recv().await?;
        Some((Ok::<_, Infallible>(event), (events, guard)))
    });
    ([("content-type", "text/event-stream")], Body::from_stream(events)).into_response()
}
