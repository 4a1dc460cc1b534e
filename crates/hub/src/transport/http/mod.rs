//! The transport over Streamable HTTP: each message is a request of its own, and what the server
//! says comes as JSON or as events (MCP 2025-03-26 to 2025-11-25 with sessions, 2026-07-28
//! without). Owns what is under way, the order of messages, and the end. Must not know what a
//! message says, but for what HTTP itself repeats of it.
//!
//! `rmcp`'s own client for this types every message, repeats requests by itself after a session has
//! ended, and cannot say whether a call was sent.

pub(crate) mod address;
mod body;
pub(crate) mod client;
mod events;
mod exchange;
mod listening;
pub(crate) mod mirror;
mod session;
mod stream;
pub(crate) mod words;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use reqwest::Client;
use reqwest::header::HeaderMap;
use serde_json::Value;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::address::Destination;
use self::body::Queued;
pub(crate) use self::client::is_claws;
use self::exchange::Post;
use self::session::Session;
use super::{Escort, Limits, Receive, Received, SendError, Transport};
use crate::login::Bearer;
use crate::manifest::HttpLaunch;

/// For what is under way to notice the end.
const TASKS_TIMEOUT: Duration = Duration::from_secs(1);

const INITIALIZED: &str = "notifications/initialized";
const CANCELLED: &str = "notifications/cancelled";

/// How long each step may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// To a connection.
    pub(crate) connect: Duration,
    /// A notification, an answer of claw's, the end of a session.
    pub(crate) control: Duration,
    /// A request with its answer, but for calls and subscriptions.
    pub(crate) request: Duration,
    /// A call with its answer. Its caller gives up earlier, and says so.
    pub(crate) call: Duration,
    /// Before the first try to take up a stream again; doubled with each that fails.
    pub(crate) again: Duration,
    /// A session that was silent for so long may have been forgotten.
    pub(crate) idle: Duration,
}

impl Times {
    pub(crate) fn new(request: Duration) -> Self {
        Self {
            connect: Duration::from_secs(10),
            control: Duration::from_secs(10),
            request,
            call: Duration::from_secs(25 * 3600),
            again: Duration::from_secs(1),
            idle: Duration::from_secs(30),
        }
    }
}

/// Dropping it ends the session.
pub(crate) struct Http(Arc<Shared>);

/// The reading half, owned by who reads.
pub(crate) struct HttpReceiver {
    /// The other end is with [`Shared`].
    inbox: mpsc::Receiver<Received>,
    /// A clone of that of [`Shared`].
    closing: CancellationToken,
}

/// Held by the transport and by what is under way, which ends with `closing`. What is not said to
/// change stays what it was when the transport was made.
struct Shared {
    /// For everything else; its idle connections go with it.
    client: Client,
    /// For `tools/call` alone.
    calls: Client,
    /// Where it may go, and whom a name may lead to.
    destination: Destination,
    /// The entry's own headers.
    headers: HeaderMap,
    /// The login to the server, where the entry has no token of its own.
    bearer: Option<Arc<Bearer>>,
    limits: Limits,
    times: Times,
    /// What the server has given out for this connection. Never held across an await.
    session: Mutex<Session>,
    /// Requests without an answer, by their ids. Never held across an await.
    under_way: Mutex<HashMap<i64, UnderWay>>,
    /// One for each request that may wait for its answer; given back with the answer.
    slots: Semaphore,
    /// Cancelled when what has to be first has arrived; later messages wait for it.
    barrier: Mutex<Option<CancellationToken>>,
    /// Bytes of messages that were taken and not sent yet.
    waiting: Arc<AtomicUsize>,
    /// Bytes of answers that are not whole yet.
    held: Arc<AtomicUsize>,
    /// Of one message: what reads a stream waits until the last one was taken.
    inbox: mpsc::Sender<Received>,
    /// Each message has a connection of its own, so that none waits behind a server's back.
    unread: watch::Sender<usize>,
    /// The stream for what the server says by itself is open.
    hears: AtomicBool,
    /// How many such streams there were.
    streams: AtomicU64,
    /// Everything that is under way. Waited for at the end.
    tasks: TaskTracker,
    /// Cancelled once: nothing new is begun, and what is under way ends.
    closing: CancellationToken,
    /// Cancelled once, when the server was told of the end.
    ended: CancellationToken,
    /// Why it was closed. The first one stays.
    reason: OnceLock<String>,
}

/// A request without an answer.
#[derive(Clone)]
struct UnderWay {
    abort: CancellationToken,
    /// Cancelled when its bytes were taken.
    taken: CancellationToken,
}

impl Http {
    /// Connects to nothing yet. Needs a Tokio runtime.
    ///
    /// # Errors
    /// What is wrong with the entry, in words for its owner.
    pub(crate) fn new(
        launch: &HttpLaunch,
        limits: Limits,
        times: Times,
        lookup: address::Lookup,
        bearer: Option<Arc<Bearer>>,
    ) -> Result<(Self, HttpReceiver), String> {
        let destination = Destination::new(&launch.url, &launch.private_hosts)?;
        let headers = client::headers(&launch.headers)?;
        let calls = client::client(&destination, &times, lookup.clone(), true)?;
        let client = client::client(&destination, &times, lookup, false)?;
        let (inbox, messages) = mpsc::channel(1);
        let shared = Arc::new(Shared {
            client,
            calls,
            session: Mutex::new(Session::new(destination.url.clone())),
            destination,
            headers,
            bearer,
            limits,
            times,
            under_way: Mutex::default(),
            slots: Semaphore::new(limits.requests_max),
            barrier: Mutex::default(),
            waiting: Arc::default(),
            held: Arc::default(),
            inbox,
            unread: watch::Sender::new(0),
            hears: AtomicBool::new(false),
            streams: AtomicU64::new(0),
            tasks: TaskTracker::new(),
            closing: CancellationToken::new(),
            ended: CancellationToken::new(),
            reason: OnceLock::new(),
        });
        claw_kit::task::spawn(see_to_the_end(shared.clone()));
        let closing = shared.closing.clone();
        Ok((Self(shared), HttpReceiver { inbox: messages, closing }))
    }
}

impl Transport for Http {
    fn send(&self, message: Value, escort: Escort) -> Result<(), SendError> {
        let bytes = Bytes::from(serde_json::to_vec(&message)?);
        if self.0.closing.is_cancelled() {
            return Err(SendError::Closed);
        }
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
        let queued = Queued::enter(&self.0.waiting, bytes.len(), self.0.limits.queue_bytes_max)?;
        let headers = self.0.session().headers(&message, &escort.mirrored)?;
        let post = Post {
            headers,
            bytes,
            method,
            ticket: escort.ticket,
            queued: Some(queued),
            login: None,
        };
        let id = message.get("id").and_then(Value::as_i64);
        match id.filter(|_| !post.method.is_empty()) {
            Some(id) => self.ask(id, post),
            None if post.method == CANCELLED => {
                let cancelled = message.pointer("/params/requestId").and_then(Value::as_i64);
                self.cancel(cancelled, post);
            }
            None => self.tell(post),
        }
        Ok(())
    }

    fn queued_bytes(&self) -> watch::Receiver<usize> {
        self.0.unread.subscribe()
    }

    fn hearing(&self) -> Option<u64> {
        let is_open = self.0.hears.load(Ordering::SeqCst);
        is_open.then(|| self.0.streams.load(Ordering::SeqCst))
    }

    fn is_doubtful(&self) -> bool {
        self.0.session().is_doubtful(self.0.times.idle)
    }

    fn ended_in_peace(&self) -> bool {
        self.0.session().is_forgotten()
    }

    fn closed(&self) -> &CancellationToken {
        &self.0.closing
    }

    fn request_end(&self) {
        self.0.end("claw closed the connection".to_owned());
    }

    fn ended(&self) -> &CancellationToken {
        &self.0.ended
    }

    fn end_reason(&self) -> String {
        self.0.reason.get().cloned().unwrap_or_else(|| "it is still connected".to_owned())
    }
}

impl Http {
    /// The server has answered something.
    pub(crate) fn was_reached(&self) -> bool {
        self.0.session().was_reached()
    }

    fn ask(&self, id: i64, mut post: Post) {
        let shared = self.0.clone();
        let barrier = shared.barrier();
        let under_way =
            UnderWay { abort: CancellationToken::new(), taken: CancellationToken::new() };
        shared.under_way().insert(id, under_way.clone());
        self.0.tasks.spawn(async move {
            let abort = under_way.abort.clone();
            let ask = async {
                wait_for(barrier).await;
                shared.ask(id, &mut post, &under_way.taken).await
            };
            tokio::select! {
                biased;
                () = abort.cancelled() => {}
                () = shared.closing.cancelled() => {}
                failure = ask => return shared.asked(id, &post.method, failure).await,
            }
            shared.under_way().remove(&id);
        });
    }

    /// A notification, or an answer of claw's.
    fn tell(&self, mut post: Post) {
        let shared = self.0.clone();
        let is_first = post.method == INITIALIZED;
        let before = shared.barrier();
        let done = CancellationToken::new();
        if is_first {
            *shared.barrier.lock().unwrap_or_else(PoisonError::into_inner) = Some(done.clone());
        }
        self.0.tasks.spawn(async move {
            let tell = async {
                wait_for(before).await;
                shared.tell(&mut post).await
            };
            let told = tokio::select! {
                biased;
                () = shared.closing.cancelled() => return,
                told = tell => told,
            };
            done.cancel();
            match told {
                Ok(()) if is_first => listening::begin(&shared),
                Err(failure) if is_first => shared.end(failure.in_words()),
                _ => {}
            }
        });
    }

    /// With a session, the server is told; without one, the end of its stream says it.
    fn cancel(&self, id: Option<i64>, mut post: Post) {
        let Some(under_way) = id.and_then(|id| self.0.under_way().get(&id).cloned()) else {
            return;
        };
        if !self.0.session().has_handshake() {
            under_way.abort.cancel();
            return;
        }
        let shared = self.0.clone();
        self.0.tasks.spawn(async move {
            let tell = async {
                // Not before what it cancels.
                under_way.taken.cancelled().await;
                shared.tell(&mut post).await
            };
            tokio::select! {
                biased;
                () = shared.closing.cancelled() => {}
                _ = timeout(shared.times.control, tell) => {}
            }
            under_way.abort.cancel();
        });
    }
}

async fn wait_for(barrier: Option<CancellationToken>) {
    if let Some(barrier) = barrier {
        barrier.cancelled().await;
    }
}

impl Shared {
    fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn under_way(&self) -> MutexGuard<'_, HashMap<i64, UnderWay>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn barrier(&self) -> Option<CancellationToken> {
        self.barrier.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whoever reads is slower than the server, or gone; then nobody needs it.
    async fn deliver(&self, received: Received) {
        let _ = self.inbox.send(received).await;
    }

    /// Ends the connection. The first reason is the true one.
    fn end(&self, reason: String) {
        let _ = self.reason.set(reason);
        self.closing.cancel();
    }
}

/// Tells the server that its session is over, once nothing is under way.
async fn see_to_the_end(shared: Arc<Shared>) {
    shared.closing.cancelled().await;
    shared.tasks.close();
    let _ = timeout(TASKS_TIMEOUT, shared.tasks.wait()).await;
    let _ = timeout(shared.times.control, shared.delete()).await;
    shared.ended.cancel();
}

impl Drop for Http {
    fn drop(&mut self) {
        self.request_end();
    }
}

impl Receive for HttpReceiver {
    async fn receive(&mut self) -> Received {
        tokio::select! {
            biased;
            received = self.inbox.recv() => received.unwrap_or(Received::End),
            () = self.closing.cancelled() => Received::End,
        }
    }
}
