//! HTTP stand-ins for model providers, on loopback, streaming, as strict as the real ones: a
//! history that a provider would refuse is refused with status 400 and recorded. Owns the server
//! and the faults. Only `asking` knows claw.
#![allow(dead_code, reason = "each test binary uses its own part of the stand-ins")]
#![expect(clippy::unwrap_used, reason = "a stand-in that cannot start fails its test")]

pub mod anthropic;
pub mod asking;
pub mod gemini;
pub mod listed;
pub mod listening;
pub mod ollama;
pub mod openai;
pub mod responses;
pub mod shapes;
pub mod strict;
pub mod threaded;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::Response;
use axum::routing::any;
use axum::serve::ListenerExt as _;
use futures::stream::{self, StreamExt as _};
use serde_json::Value;
use tokio::sync::Semaphore;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    Anthropic,
    OpenAi,
    /// OpenAI's other one. A stand-in for OpenAI has both.
    Responses,
    Gemini,
    Ollama,
}

pub const WIRES: [Wire; 5] =
    [Wire::Anthropic, Wire::OpenAi, Wire::Responses, Wire::Gemini, Wire::Ollama];

/// A tool call of the stand-in: `arguments` is raw text, so that it may be no JSON.
#[derive(Clone, Debug)]
pub struct Call {
    pub id: String,
    pub name: String,
    pub arguments: String,
}

impl Call {
    pub fn new(id: &str, name: &str, arguments: &str) -> Self {
        Self { id: id.into(), name: name.into(), arguments: arguments.into() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    Natural,
    MaxTokens,
    Refusal,
}

/// What the provider would say, whatever its wire.
#[derive(Clone, Debug)]
pub struct Turn {
    pub text: String,
    pub calls: Vec<Call>,
    pub stop: Stop,
}

impl Turn {
    pub fn text(text: &str) -> Self {
        Self { text: text.into(), calls: Vec::new(), stop: Stop::Natural }
    }

    pub fn calls(calls: &[Call]) -> Self {
        Self { text: String::new(), calls: calls.to_vec(), stop: Stop::Natural }
    }

    pub fn stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// The frames of the stream, each complete with its end.
    pub fn frames(&self, wire: Wire) -> Vec<String> {
        match wire {
            Wire::Anthropic => anthropic::frames(self),
            Wire::OpenAi => openai::frames(self),
            Wire::Responses => responses::frames(self),
            Wire::Gemini => gemini::frames(self),
            Wire::Ollama => ollama::frames(self),
        }
    }
}

/// How a stream ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Properly, as HTTP sees it: a cut that only the protocol above can notice.
    End,
    /// The connection breaks.
    Reset,
    /// Nothing comes any more.
    Silence,
}

/// The stand-in's answer to one request.
#[derive(Clone, Debug)]
pub enum Answer {
    Turn(Turn),
    /// Pieces of a body as they are put on the wire, with a pause before each.
    Raw {
        pieces: Vec<Vec<u8>>,
        pause: Duration,
        then: Then,
    },
    /// A turn whose frames wait for the test: each takes a permit of the gate.
    Gated(Turn, Arc<Semaphore>),
    Status {
        code: u16,
        headers: Vec<(&'static str, String)>,
        body: String,
    },
}

impl Answer {
    pub fn text(text: &str) -> Self {
        Self::Turn(Turn::text(text))
    }

    /// One turn with these calls: tools and their arguments.
    pub fn calls(calls: &[(&str, Value)]) -> Self {
        let call = |(n, (name, arguments)): (usize, &(&str, Value))| {
            Call::new(&format!("call-{n}"), name, &arguments.to_string())
        };
        Self::Turn(Turn::calls(&calls.iter().enumerate().map(call).collect::<Vec<_>>()))
    }

    pub fn raw(body: &str, then: Then) -> Self {
        Self::Raw { pieces: vec![body.as_bytes().to_vec()], pause: Duration::ZERO, then }
    }

    pub fn status(code: u16, body: &str) -> Self {
        Self::Status { code, headers: Vec::new(), body: body.into() }
    }

    pub fn limited(header: &'static str, value: &str) -> Self {
        Self::Status { code: 429, headers: vec![(header, value.into())], body: "{}".into() }
    }
}

#[derive(Clone, Debug)]
pub struct Recorded {
    pub path: String,
    pub headers: HeaderMap,
    pub body: Value,
    /// Why it was refused as ill-formed, if it was.
    pub fault: Option<String>,
}

struct Shared {
    wire: Wire,
    answers: Mutex<VecDeque<Answer>>,
    recorded: Mutex<Vec<Recorded>>,
    /// The models that are listed, and the only key that is taken; without it there is no list, and
    /// every key is.
    listed: Mutex<Option<listed::Listed>>,
}

/// A running stand-in; it ends when dropped.
pub struct StandIn {
    pub base_url: String,
    shared: Arc<Shared>,
    server: tokio::task::JoinHandle<()>,
}

impl StandIn {
    /// Answers requests with `answers` in their order, then with status 418.
    pub async fn start(wire: Wire, answers: impl IntoIterator<Item = Answer>) -> Self {
        let shared = Arc::new(Shared {
            wire,
            answers: Mutex::new(answers.into_iter().collect()),
            recorded: Mutex::default(),
            listed: Mutex::default(),
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}", listener.local_addr().unwrap());
        // Small frames must not wait for the other side's acknowledgement (RFC 896): that would be
        // 40 ms of nothing.
        let listener = listener.tap_io(|stream| stream.set_nodelay(true).unwrap());
        let app = Router::new().fallback(any(answer)).with_state(shared.clone());
        let server = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { base_url, shared, server }
    }

    /// From now on it lists these models, and takes no other key than this.
    pub fn lists(&self, key: &str, names: &[&str]) {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        *self.shared.listed.lock().unwrap() = Some(listed::Listed { key: key.to_owned(), names });
    }

    pub fn push(&self, answer: Answer) {
        self.shared.answers.lock().unwrap().push_back(answer);
    }

    pub fn recorded(&self) -> Vec<Recorded> {
        self.shared.recorded.lock().unwrap().clone()
    }

    /// Those behind the first `count`.
    pub fn recorded_behind(&self, count: usize) -> Vec<Recorded> {
        self.shared.recorded.lock().unwrap()[count..].to_vec()
    }

    /// Everything that was refused as ill-formed. An oracle: it must stay empty.
    pub fn faults(&self) -> Vec<String> {
        self.recorded().into_iter().filter_map(|one| one.fault).collect()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let path = uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    let listed = shared.listed.lock().unwrap().clone();
    let refused = listed.as_ref().and_then(|listed| listed.refuses(shared.wire, &headers));
    if method == Method::GET || refused.is_some() {
        shared.recorded.lock().unwrap().push(Recorded {
            path: path.clone(),
            headers,
            body,
            fault: None,
        });
        let found = || {
            listed
                .and_then(|listed| listed.at(shared.wire, &path))
                .unwrap_or((404, "{}".to_owned()))
        };
        let (code, body) = refused.unwrap_or_else(found);
        return plain(code, &[], body);
    }
    let wire = match shared.wire {
        Wire::OpenAi if path == "/v1/responses" => Wire::Responses,
        wire => wire,
    };
    let checked = match wire {
        Wire::Anthropic => anthropic::check(&path, &headers, &body),
        Wire::OpenAi => openai::check(&path, &headers, &body),
        Wire::Responses => responses::check(&path, &headers, &body),
        Wire::Gemini => gemini::check(&path, &headers, &body),
        Wire::Ollama => ollama::check(&path, &body),
    };
    let refused = match checked {
        Err(fault) => {
            let body = match strict::check(wire, &body) {
                Err(refusal) => refusal.body.to_string(),
                Ok(()) => format!(r#"{{"error":{{"message":{}}}}}"#, Value::String(fault.clone())),
            };
            Some((fault, body))
        }
        Ok(()) => None,
    };
    let fault = refused.as_ref().map(|(fault, _)| fault.clone());
    shared.recorded.lock().unwrap().push(Recorded { path, headers, body, fault });
    if let Some((_, body)) = refused {
        return plain(400, &[], body);
    }
    let next = shared.answers.lock().unwrap().pop_front();
    match next {
        Some(Answer::Status { code, headers, body }) => plain(code, &headers, body),
        Some(Answer::Turn(turn)) => {
            let pieces = turn.frames(wire).into_iter().map(String::into_bytes).collect();
            streamed(wire, pieces, Duration::ZERO, Then::End)
        }
        Some(Answer::Gated(turn, gate)) => gated(wire, &turn, gate),
        Some(Answer::Raw { pieces, pause, then }) => streamed(wire, pieces, pause, then),
        None => {
            plain(418, &[], r#"{"error":{"message":"the stand-in has no more answers"}}"#.into())
        }
    }
}

/// Each frame waits for the gate.
fn gated(wire: Wire, turn: &Turn, gate: Arc<Semaphore>) -> Response {
    let pieces = stream::iter(turn.frames(wire)).then(move |piece| {
        let gate = gate.clone();
        async move {
            gate.acquire_owned().await.unwrap().forget();
            Ok::<Bytes, std::io::Error>(Bytes::from(piece))
        }
    });
    let kind = content_type(wire);
    Response::builder().header("content-type", kind).body(Body::from_stream(pieces)).unwrap()
}

fn content_type(wire: Wire) -> &'static str {
    if wire == Wire::Ollama { "application/x-ndjson" } else { "text/event-stream" }
}

fn plain(code: u16, headers: &[(&'static str, String)], body: String) -> Response {
    let mut response = Response::builder().status(StatusCode::from_u16(code).unwrap());
    for (name, value) in headers {
        response = response.header(*name, value);
    }
    response.header("content-type", "application/json").body(Body::from(body)).unwrap()
}

fn streamed(wire: Wire, pieces: Vec<Vec<u8>>, pause: Duration, then: Then) -> Response {
    let kind = content_type(wire);
    let head = stream::iter(pieces).then(move |piece| async move {
        if pause.is_zero() {
            // Gives the connection a chance to send each piece by itself.
            tokio::task::yield_now().await;
        } else {
            tokio::time::sleep(pause).await;
        }
        Ok::<Bytes, std::io::Error>(Bytes::from(piece))
    });
    let tail = stream::once(async move {
        match then {
            Then::Silence => std::future::pending().await,
            // Without a pause the error may overtake what was written before it.
            Then::Reset => {
                tokio::time::sleep(Duration::from_millis(20)).await;
                Err(std::io::Error::other("reset"))
            }
            Then::End => Ok(Bytes::new()),
        }
    });
    let body = Body::from_stream(head.chain(tail));
    Response::builder().header("content-type", kind).body(body).unwrap()
}

pub fn require(holds: bool, what: impl Into<String>) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.into()) }
}

pub fn array<'a>(value: &'a Value, key: &str) -> Result<&'a Vec<Value>, String> {
    value.get(key).and_then(Value::as_array).ok_or(format!("`{key}` is missing or no array"))
}

pub fn text<'a>(value: &'a Value, key: &str) -> Result<&'a str, String> {
    value
        .get(key)
        .and_then(Value::as_str)
        .ok_or(format!("`{key}` is missing or no string in {value}"))
}

/// Cuts a text into two pieces in the middle of its characters.
pub fn halves(text: &str) -> (&str, &str) {
    let middle = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
    text.split_at(middle)
}
