//! A server over HTTP on a thread of its own, for tests of the whole program: what came, and the
//! least of MCP as an answer. Must not know what is tested.
#![allow(dead_code, reason = "each test uses its own part of this module")]
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use claw_test_kit::stop_listening;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::program::SOON;

/// One request as it came.
#[derive(Clone, Debug)]
pub struct Seen {
    pub verb: Method,
    pub path: String,
    pub query: String,
    pub headers: HeaderMap,
    pub body: String,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub fn message(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

type Answer = Arc<dyn Fn(Seen) -> BoxFuture<'static, Response> + Send + Sync>;

/// Once it is dropped, nobody is at its address any more: a connection that was still taken there
/// would be reset.
pub struct HttpRig {
    pub address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    listener: TcpListener,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl HttpRig {
    /// `answer` is made for the address at which it is served.
    pub fn start<F>(answer: impl FnOnce(SocketAddr) -> F) -> Self
    where
        F: Fn(&Seen) -> Response + Send + Sync + 'static,
    {
        Self::start_at(SocketAddr::from(([127, 0, 0, 1], 0)), answer)
    }

    /// At an address that is kept for it.
    pub fn start_at<F>(address: SocketAddr, answer: impl FnOnce(SocketAddr) -> F) -> Self
    where
        F: Fn(&Seen) -> Response + Send + Sync + 'static,
    {
        Self::serve(address, |address| {
            let answer = answer(address);
            let answer: Answer = Arc::new(move |seen| {
                let response = answer(&seen);
                Box::pin(async move { response })
            });
            answer
        })
    }

    /// One whose answers may wait for something.
    pub fn that_waits<R>(answer: impl Fn(Seen) -> R + Send + Sync + 'static) -> Self
    where
        R: Future<Output = Response> + Send + 'static,
    {
        let answer: Answer = Arc::new(move |seen| Box::pin(answer(seen)));
        Self::serve(SocketAddr::from(([127, 0, 0, 1], 0)), |_| answer)
    }

    fn serve(address: SocketAddr, answer: impl FnOnce(SocketAddr) -> Answer) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        listener.set_nonblocking(true).unwrap();
        let held = listener.try_clone().unwrap();
        let address = listener.local_addr().unwrap();
        let (seen, answer) = (Arc::<Mutex<Vec<Seen>>>::default(), answer(address));
        let router = Router::new().fallback(handle).with_state((answer, Arc::clone(&seen)));
        let (end, ended) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                tokio::select! {
                    served = axum::serve(listener, router) => served.unwrap(),
                    _ = ended => {}
                }
            });
        });
        Self { address, seen, listener: held, end: Some(end), thread: Some(thread) }
    }

    /// One that has a tool, `echo`, and no session.
    pub fn usual() -> Self {
        Self::start(|_| mcp)
    }

    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for HttpRig {
    fn drop(&mut self) {
        drop(self.end.take());
        stop_listening(&self.listener);
        // A panic of an answer ends its connection alone, never this thread.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

async fn handle(
    State((answer, all)): State<(Answer, Arc<Mutex<Vec<Seen>>>)>,
    verb: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let body = String::from_utf8_lossy(&body).into_owned();
    let (path, query) = (uri.path().to_owned(), uri.query().unwrap_or_default().to_owned());
    let seen = Seen { verb, path, query, headers, body };
    all.lock().unwrap().push(seen.clone());
    answer(seen).await
}

/// The least of MCP.
pub fn mcp(seen: &Seen) -> Response {
    let message = seen.message();
    let result = match message["method"].as_str() {
        Some("initialize") => json!({"protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}),
        Some("tools/list") => {
            json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]})
        }
        Some("tools/call") => json!({"content": [{"type": "text", "text": "an echo"}]}),
        Some("ping") => json!({}),
        Some("server/discover") => return StatusCode::NOT_FOUND.into_response(),
        Some(_) => return StatusCode::ACCEPTED.into_response(),
        None => return StatusCode::METHOD_NOT_ALLOWED.into_response(),
    };
    as_json(200, &json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
}

pub fn as_json(status: u16, body: &Value) -> Response {
    let status = StatusCode::from_u16(status).unwrap();
    (status, [("content-type", "application/json")], body.to_string()).into_response()
}

/// What a browser gets at an address: the status, the address to which it is sent on, the page.
pub fn browse(address: &str) -> (u16, Option<String>, String) {
    let (host, target) = address.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(SOON)).unwrap();
    let request = format!("GET /{target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, page) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let location = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("location").then(|| value.to_owned())
    });
    (status, location, page.to_owned())
}
