//! A server over HTTP with a session, as JSON: the tool `echo` has an effect, which is counted. A
//! test answers what it wants to answer otherwise.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use claw_test_kit::{KeptPort, stop_listening};
use futures::{Stream, StreamExt as _, stream};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::HubSettings;
use crate::era::LEGACY_PROTOCOL;
use crate::tests::rig::Rig;
use crate::transport::http::Times;

/// What must not leave for anybody else.
pub(super) const TOKEN: &str = "tok-5f2a77c1d0e94b";

/// One request as it came.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) verb: Method,
    pub(super) path: String,
    pub(super) headers: HeaderMap,
    pub(super) message: Value,
}

impl Seen {
    pub(super) fn is(&self, method: &str) -> bool {
        self.message["method"] == method
    }

    pub(super) fn session(&self) -> Option<&str> {
        self.headers.get("mcp-session-id").map(|id| id.to_str().unwrap())
    }

    pub(super) fn result(&self, result: Value) -> Response {
        let answer = json!({"jsonrpc": "2.0", "id": self.message["id"], "result": result});
        ([("content-type", "application/json")], answer.to_string()).into_response()
    }
}

/// `None` for the usual answer.
type Answer = Arc<dyn Fn(&Seen) -> Option<Response> + Send + Sync>;

#[derive(Clone)]
struct Behind {
    port: Arc<KeptPort>,
    answer: Answer,
    seen: Arc<Mutex<Vec<Seen>>>,
    sessions: Arc<AtomicUsize>,
    effects: Arc<Mutex<Vec<String>>>,
}

/// Dropping it ends the server with all of its connections.
pub(super) struct HttpServer {
    behind: Behind,
    stop: CancellationToken,
    listener: std::net::TcpListener,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl HttpServer {
    pub(super) fn usual() -> Self {
        Self::start(|_| None)
    }

    pub(super) fn start(
        answer: impl Fn(&Seen) -> Option<Response> + Send + Sync + 'static,
    ) -> Self {
        let behind = Behind {
            port: Arc::new(KeptPort::new()),
            answer: Arc::new(answer),
            seen: Arc::default(),
            sessions: Arc::default(),
            effects: Arc::default(),
        };
        Self::before(behind)
    }

    /// Ends it and starts it again at the same place, with other sessions. Effects count on.
    pub(super) fn restart(self) -> Self {
        let behind = self.behind.clone();
        drop(self);
        Self::before(behind)
    }

    /// Ends it. Nobody is at its place as long as that is held.
    pub(super) fn end(self) -> Arc<KeptPort> {
        self.behind.port.clone()
    }

    fn before(behind: Behind) -> Self {
        let listener = std::net::TcpListener::bind(behind.port.address).unwrap();
        listener.set_nonblocking(true).unwrap();
        let held = listener.try_clone().unwrap();
        let router = Router::new().fallback(handle).with_state(behind.clone());
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                let serve = async { axum::serve(listener, router).await.unwrap() };
                stopped.run_until_cancelled(serve).await;
            });
        });
        Self { behind, stop, listener: held, thread: Some(thread) }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.behind.port.address
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/mcp", self.address())
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        self.behind.seen.lock().unwrap().clone()
    }

    /// How many requests of this method came.
    pub(super) fn count(&self, method: &str) -> usize {
        self.seen().iter().filter(|seen| seen.is(method)).count()
    }

    pub(super) fn effects(&self) -> Vec<String> {
        self.behind.effects.lock().unwrap().clone()
    }

    /// A hub with this server as `x`, which has a token.
    pub(super) fn rig(&self) -> Rig {
        self.rig_with(self.url(), |_| {})
    }

    pub(super) fn rig_with(&self, url: String, change: impl FnOnce(&mut HubSettings)) -> Rig {
        let headers = json!({"Authorization": format!("Bearer {TOKEN}")});
        rig(json!({"url": url, "headers": headers}), change)
    }
}

/// A hub with one server, `x`.
pub(super) fn rig(entry: Value, change: impl FnOnce(&mut HubSettings)) -> Rig {
    Rig::from_servers(json!({"x": entry}), TempDir::new().unwrap(), |settings| {
        settings.times =
            Times { again: Duration::from_millis(5), ..Times::new(Duration::from_secs(60)) };
        change(settings);
    })
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.stop.cancel();
        stop_listening(&self.listener);
        self.thread.take().unwrap().join().unwrap();
    }
}

async fn handle(
    State(behind): State<Behind>,
    verb: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let message = serde_json::from_slice(&body).unwrap_or_default();
    let seen = Seen { verb, path: uri.path().to_owned(), headers, message };
    behind.seen.lock().unwrap().push(seen.clone());
    (behind.answer)(&seen).unwrap_or_else(|| usual(&behind, &seen))
}

fn usual(behind: &Behind, seen: &Seen) -> Response {
    if seen.verb != Method::POST {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    match seen.message["method"].as_str() {
        Some("initialize") => {
            let number = behind.sessions.fetch_add(1, Ordering::SeqCst) + 1;
            let mut response = seen.result(json!({"protocolVersion": LEGACY_PROTOCOL,
                "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}));
            let id = format!("session-{number}").parse().unwrap();
            response.headers_mut().insert("mcp-session-id", id);
            response
        }
        Some("tools/list") => seen.result(json!({"tools": [{"name": "echo"}]})),
        Some("tools/call") => {
            let text = seen.message["params"]["arguments"]["text"].as_str().unwrap_or_default();
            behind.effects.lock().unwrap().push(text.to_owned());
            seen.result(json!({"content": [{"type": "text", "text": text}]}))
        }
        Some("ping") => seen.result(json!({})),
        Some("server/discover") => StatusCode::NOT_FOUND.into_response(),
        _ => StatusCode::ACCEPTED.into_response(),
    }
}

pub(super) fn status(status: u16) -> Response {
    StatusCode::from_u16(status).unwrap().into_response()
}

/// An answer with this content type whose body is this stream.
pub(super) fn stream_of(
    kind: &'static str,
    pieces: impl Stream<Item = String> + Send + 'static,
) -> Response {
    let pieces = pieces.map(Ok::<_, Infallible>);
    ([("content-type", kind)], Body::from_stream(pieces)).into_response()
}

/// Pieces, and then nothing more, while the connection stays open.
pub(super) fn then_silence(pieces: Vec<String>) -> impl Stream<Item = String> + Send {
    stream::iter(pieces).chain(stream::pending())
}

pub(super) fn event(id: &str, message: &Value) -> String {
    format!("id: {id}\ndata: {message}\n\n")
}
