//! A model over HTTP (OpenAI's chat completions, streamed) that takes the time it is told to, and
//! answers a message with its last word. Must not know claw.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use futures::Stream;
use serde_json::json;
use tokio::sync::Notify;

use crate::wires::{Turn, Wire};

/// Between two words of a slow answer.
pub const WORD_EVERY: Duration = Duration::from_millis(100);

/// How long an answer takes.
#[derive(Clone, Copy, Debug, Default)]
pub enum Takes {
    #[default]
    Nothing,
    OneSecond,
    /// This many words, one each tenth of a second, and then the end.
    Slowly(u32),
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
            Takes::Nothing | Takes::Slowly(_) => {}
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

async fn answer(State(model): State<Arc<Model>>, body: Bytes) -> Response {
    model.bytes.store(body.len() as u64, Ordering::Relaxed);
    let text = format!("That is all there is to say of {}", last_word(&body));
    // The request is let go, as a model's server would: its memory is not what is measured.
    drop(body);
    model.think().await;
    let takes = *model.takes.lock().unwrap();
    let body = match takes {
        Takes::Slowly(words) => Body::from_stream(slowly(words, text)),
        _ => Body::from(Turn::text(&text).frames(Wire::OpenAi).concat()),
    };
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

/// So many words, each with a pause before it, and then what an answer always says.
fn slowly(words: u32, text: String) -> impl Stream<Item = Result<String, Infallible>> {
    futures::stream::unfold(0, move |word| {
        let text = text.clone();
        async move {
            if word > words {
                return None;
            }
            if word == words {
                return Some((Ok(Turn::text(&text).frames(Wire::OpenAi).concat()), word + 1));
            }
            tokio::time::sleep(WORD_EVERY).await;
            let delta = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "stand-in",
                "choices": [{"index": 0, "delta": {"content": format!("word{word} ")}, "finish_reason": null}]});
            Some((Ok(format!("data: {delta}\n\n")), word + 1))
        }
    })
}

/// The last word of the last message: every message of this benchmark ends with a number. Found
/// without parsing the whole request, which may be long.
fn last_word(body: &[u8]) -> String {
    const BEFORE: &[u8] = b"number ";
    let at = body
        .windows(BEFORE.len())
        .rposition(|window| window == BEFORE)
        .map_or(0, |at| at + BEFORE.len());
    let digits = body[at..].iter().take_while(|byte| byte.is_ascii_digit());
    digits.map(|byte| char::from(*byte)).collect()
}
