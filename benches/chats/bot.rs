//! A Bot API server that is light enough not to be what is measured: `getUpdates` confirms by its
//! offset and waits, what is sent is told to the driver. Owns the queue. `tests/botapi/` is the
//! strict one; this one refuses nothing. Must not know claw.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{Uri, header};
use axum::response::IntoResponse;
use axum::routing::any;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::stand_ins::Seen;

pub const ID: i64 = 4_711_000_001;
pub const TOKEN: &str = "4711000001:AAH-of-the-light-stand-in-for-Telegram";
/// Bot API, `getUpdates`, `limit`.
const UPDATES_MAX: usize = 100;

pub struct Bot {
    queue: Mutex<Queue>,
    came: Notify,
    tell: Mutex<Sender<Seen>>,
    actions: AtomicU64,
    messages: AtomicU64,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<(i64, Value)>,
    last: i64,
    polled: bool,
}

impl Bot {
    pub fn new(tell: Sender<Seen>) -> Self {
        Self {
            queue: Mutex::default(),
            came: Notify::new(),
            tell: Mutex::new(tell),
            actions: AtomicU64::new(0),
            messages: AtomicU64::new(0),
        }
    }

    /// Every person writes, each in the private chat whose id is theirs.
    pub fn say(&self, chats: impl IntoIterator<Item = i64>, text: &str) {
        let mut queue = self.queue.lock().unwrap();
        for chat in chats {
            queue.last += 1;
            let id = queue.last;
            let from =
                json!({"id": chat, "is_bot": false, "first_name": "Anna", "username": "anna"});
            let message = json!({"message_id": id, "date": now_s(), "text": text, "from": from,
                "chat": {"id": chat, "type": "private", "first_name": "Anna"}});
            queue.waiting.push_back((id, json!({"update_id": id, "message": message})));
        }
        drop(queue);
        self.came.notify_one();
    }

    /// The next `getUpdates` counts as the first.
    pub fn forget_polls(&self) {
        self.queue.lock().unwrap().polled = false;
    }

    /// How often "typing…" was sent.
    pub fn actions(&self) -> u64 {
        self.actions.load(Ordering::Relaxed)
    }

    async fn updates(&self, body: &Value) -> Value {
        let offset = body["offset"].as_i64().unwrap_or(0);
        let wait = Duration::from_secs(body["timeout"].as_u64().unwrap_or(0));
        let first = !std::mem::replace(&mut self.queue.lock().unwrap().polled, true);
        if first {
            self.told(Seen::Polled(Instant::now()));
        }
        let look = async {
            loop {
                let came = self.came.notified();
                let given = self.queue.lock().unwrap().take(offset);
                if !given.is_empty() {
                    return given;
                }
                came.await;
            }
        };
        Value::Array(tokio::time::timeout(wait, look).await.unwrap_or_default())
    }

    fn message(&self, body: &Value) -> Value {
        let chat = body["chat_id"].as_i64().unwrap_or(0);
        let text = body["text"].as_str().unwrap_or_default();
        self.told(Seen::Said { chat, text: text.to_owned(), at: Instant::now() });
        let new = || self.messages.fetch_add(1, Ordering::Relaxed) as i64 + 1_000_000;
        json!({"message_id": body["message_id"].as_i64().unwrap_or_else(new), "date": now_s(), "text": text, "from": me(),
            "chat": {"id": chat, "type": "private", "first_name": "Anna"}})
    }

    fn told(&self, seen: Seen) {
        // At the end of a part nobody listens any more.
        let _gone = self.tell.lock().unwrap().send(seen);
    }
}

impl Queue {
    fn take(&mut self, offset: i64) -> Vec<Value> {
        while self.waiting.pop_front_if(|(id, _)| *id < offset).is_some() {}
        self.waiting.iter().take(UPDATES_MAX).map(|(_, update)| update.clone()).collect()
    }
}

pub fn app(bot: Arc<Bot>) -> Router {
    Router::new().fallback(any(answer)).with_state(bot)
}

async fn answer(State(bot): State<Arc<Bot>>, uri: Uri, body: Bytes) -> impl IntoResponse {
    let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let method = uri.path().rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let result = match method.as_str() {
        "getme" => me(),
        "getupdates" => bot.updates(&body).await,
        "sendmessage" | "editmessagetext" => bot.message(&body),
        "sendchataction" => {
            bot.actions.fetch_add(1, Ordering::Relaxed);
            Value::Bool(true)
        }
        _ => Value::Bool(true),
    };
    (
        [(header::CONTENT_TYPE, "application/json")],
        json!({"ok": true, "result": result}).to_string(),
    )
}

fn me() -> Value {
    json!({"id": ID, "is_bot": true, "first_name": "claw", "username": "claw_bench_bot", "can_join_groups": true,
        "can_read_all_group_messages": false, "supports_inline_queries": false, "has_main_web_app": false,
        "can_connect_to_business": false})
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
