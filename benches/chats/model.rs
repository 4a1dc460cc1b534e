//! A model over HTTP (OpenAI's chat completions, streamed) that takes the time it is told to, and answers a message with its
//! last word. Must not know claw.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::any;
use tokio::sync::Notify;

use crate::wires::{Turn, Wire};

/// How long an answer takes.
#[derive(Clone, Copy, Debug, Default)]
pub enum Takes {
    #[default]
    Nothing,
    OneSecond,
    /// As many requests have to be here at the same time; all are answered a second later.
    UntilAll(usize),
}

#[derive(Default)]
pub struct Model {
    takes: Mutex<Takes>,
    now: AtomicUsize,
    most: AtomicUsize,
    bytes: AtomicU64,
    all_here: Notify,
}

impl Model {
    /// From now on.
    pub fn takes(&self, takes: Takes) {
        *self.takes.lock().unwrap() = takes;
        self.most.store(0, Ordering::Relaxed);
    }

    /// How many requests are being answered.
    pub fn in_flight(&self) -> usize {
        self.now.load(Ordering::Relaxed)
    }

    /// The most at the same time since `takes` was called.
    pub fn most_in_flight(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }

    /// The size of the newest request.
    pub fn request_bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    async fn think(&self) {
        let now = self.now.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(now, Ordering::Relaxed);
        let takes = *self.takes.lock().unwrap();
        match takes {
            Takes::Nothing => {}
            Takes::OneSecond => tokio::time::sleep(Duration::from_secs(1)).await,
            Takes::UntilAll(all) => {
                let here = self.all_here.notified();
                if now == all {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    self.all_here.notify_waiters();
                } else {
                    here.await;
                }
            }
        }
        self.now.fetch_sub(1, Ordering::Relaxed);
    }
}

pub fn app(model: Arc<Model>) -> Router {
    Router::new().fallback(any(answer)).layer(DefaultBodyLimit::disable()).with_state(model)
}

async fn answer(State(model): State<Arc<Model>>, body: Bytes) -> impl IntoResponse {
    model.bytes.store(body.len() as u64, Ordering::Relaxed);
    let text = format!("That is all there is to say of {}", last_word(&body));
    // The request is let go, as a model's server would: its memory is not what is measured.
    drop(body);
    model.think().await;
    ([(header::CONTENT_TYPE, "text/event-stream")], Turn::text(&text).frames(Wire::OpenAi).concat())
}

/// The last word of the last message: every message of this benchmark ends with a number. Found without parsing the whole
/// request, which may be long.
fn last_word(body: &[u8]) -> String {
    const BEFORE: &[u8] = b"number ";
    let at = body.windows(BEFORE.len()).rposition(|window| window == BEFORE).map_or(0, |at| at + BEFORE.len());
    let digits = body[at..].iter().take_while(|byte| byte.is_ascii_digit());
    digits.map(|byte| char::from(*byte)).collect()
}
