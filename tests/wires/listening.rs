//! A stand-in for a server that turns speech into text (`POST /v1/audio/transcriptions`, a form as
//! OpenAI wants it). Owns what it heard. Must not know claw.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Multipart, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use serde_json::json;
use tokio::sync::oneshot;

/// One request that was well formed.
#[derive(Clone, Debug, Default)]
pub struct Heard {
    pub authorization: String,
    pub model: String,
    pub file_name: String,
    pub bytes: Vec<u8>,
}

#[derive(Default)]
struct Shared {
    answers: Mutex<VecDeque<String>>,
    heard: Mutex<Vec<Heard>>,
}

/// A running stand-in on a thread of its own; it ends when dropped.
pub struct Ears {
    pub url: String,
    shared: Arc<Shared>,
    _end: oneshot::Sender<()>,
}

impl Ears {
    /// Answers with these texts in their order, an empty one being no answer at all, then with
    /// status 500.
    pub fn start(answers: &[&str]) -> Self {
        let shared = Arc::new(Shared::default());
        shared.answers.lock().unwrap().extend(answers.iter().map(|answer| (*answer).to_owned()));
        let (send, started) = std::sync::mpsc::channel();
        let (end, ended) = oneshot::channel::<()>();
        let app = Router::new()
            .route("/v1/audio/transcriptions", post(transcribe))
            .with_state(shared.clone());
        std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
                send.send(listener.local_addr().unwrap()).unwrap_or_default();
                let server = tokio::spawn(axum::serve(listener, app).into_future());
                let _dropped = ended.await;
                server.abort();
            });
        });
        let url = format!("http://{}/v1/audio/transcriptions", started.recv().unwrap());
        Self { url, shared, _end: end }
    }

    pub fn heard(&self) -> Vec<Heard> {
        self.shared.heard.lock().unwrap().clone()
    }
}

async fn transcribe(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    mut form: Multipart,
) -> (StatusCode, String) {
    let authorization =
        headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut heard = Heard { authorization: authorization.to_owned(), ..Heard::default() };
    while let Some(field) = form.next_field().await.unwrap() {
        match field.name().unwrap_or_default() {
            "model" => heard.model = field.text().await.unwrap(),
            "file" => {
                heard.file_name = field.file_name().unwrap_or_default().to_owned();
                heard.bytes = field.bytes().await.unwrap().to_vec();
            }
            _ => {}
        }
    }
    if heard.model.is_empty() || heard.file_name.is_empty() {
        return (
            StatusCode::BAD_REQUEST,
            json!({"error": {"message": "model and file are required"}}).to_string(),
        );
    }
    shared.heard.lock().unwrap().push(heard);
    let answer = shared.answers.lock().unwrap().pop_front();
    match answer {
        Some(text) if text.is_empty() => std::future::pending().await,
        Some(text) => (StatusCode::OK, json!({"text": text}).to_string()),
        None => (StatusCode::INTERNAL_SERVER_ERROR, "out of words".to_owned()),
    }
}
