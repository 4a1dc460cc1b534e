//! The two stand-ins on one thread of this process, and what the driver hears from them. Must not
//! know claw.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use axum::serve::ListenerExt as _;
use tokio::sync::oneshot;

use crate::bot::Bot;
use crate::model::Model;

/// Everything that is waited for must come within this time, however busy the machine is.
const SOON: Duration = Duration::from_secs(120);

/// What a stand-in saw.
pub enum Seen {
    /// The first `getUpdates`.
    Polled(Instant),
    /// A message of the bot, whole, as a chat shows it now.
    Said { chat: i64, text: String, at: Instant },
}

/// A running pair; it ends when dropped.
pub struct StandIns {
    pub bot: Arc<Bot>,
    pub model: Arc<Model>,
    pub bot_url: String,
    pub model_url: String,
    seen: Receiver<Seen>,
    end: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl StandIns {
    pub fn start() -> Self {
        let (tell, seen) = channel();
        let (bot, model) = (Arc::new(Bot::new(tell)), Arc::new(Model::default()));
        let (end, ended) = oneshot::channel();
        let (started, addresses) = channel();
        let (served_bot, served_model) = (bot.clone(), model.clone());
        let thread = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                serve(crate::bot::app(served_bot), &started).await;
                serve(crate::model::app(served_model), &started).await;
                let _dropped = ended.await;
            });
        });
        let url = || format!("http://{}", addresses.recv().unwrap());
        let (bot_url, model_url) = (url(), url());
        Self { bot, model, bot_url, model_url, seen, end: Some(end), thread: Some(thread) }
    }

    /// When the first poll came.
    pub fn first_poll(&self) -> Instant {
        loop {
            if let Seen::Polled(at) = self.next() {
                return at;
            }
        }
    }

    /// The next message of the bot whose text ends with `end`, and when it came.
    pub fn said(&self, end: impl Fn(i64) -> String) -> (i64, Instant) {
        loop {
            if let Seen::Said { chat, text, at } = self.next()
                && text.ends_with(&end(chat))
            {
                return (chat, at);
            }
        }
    }

    /// Each message of the bot, and each change of one, until one ends with `end`: when each came.
    pub fn said_until(&self, end: &str) -> Vec<Instant> {
        let mut said = Vec::new();
        loop {
            if let Seen::Said { text, at, .. } = self.next() {
                said.push(at);
                if text.ends_with(end) {
                    return said;
                }
            }
        }
    }

    fn next(&self) -> Seen {
        match self.seen.recv_timeout(SOON) {
            Ok(seen) => seen,
            Err(RecvTimeoutError::Timeout) => {
                panic!("nothing came from claw for {} s", SOON.as_secs())
            }
            Err(RecvTimeoutError::Disconnected) => panic!("the stand-ins are gone"),
        }
    }
}

impl Drop for StandIns {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

async fn serve(app: axum::Router, started: &Sender<std::net::SocketAddr>) {
    // A thousand connections come at once; the default backlog would make some of them wait for a
    // second.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(8192).unwrap();
    started.send(listener.local_addr().unwrap()).unwrap();
    // Small frames must not wait for the other side's acknowledgement (RFC 896): that would be 40
    // ms of nothing.
    let listener = listener.tap_io(|stream| stream.set_nodelay(true).unwrap());
    tokio::spawn(axum::serve(listener, app).into_future());
}
