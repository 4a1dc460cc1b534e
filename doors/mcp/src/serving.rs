//! A process that serves clients: the door with its tasks, the connections, and its end. Must not
//! know over what a client comes, or what it calls.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use claw_kit::counted::counted_with;
use claw_server_kit::serving::Streams;
use futures::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_util::task::TaskTracker;

use super::caller::Caller;
use super::door::{Mcp, Serves};
use super::handler::Handler;
use super::rate::Rate;
use super::socket::{self, Hello, NUMBER_BYTES_MAX, Socket};
use super::watched::Watched;
use crate::door_context::Context;
use crate::doors::parts;
use crate::doors::shared::DoorState;

/// After a fault of the socket.
const RETRY: Duration = Duration::from_secs(1);

/// It lives until the process ends.
pub struct Serving {
    /// Shared with its tasks.
    pub door: Arc<Mcp>,
    /// When each client was taken in, within a minute; shared by all ways on which one comes.
    pub rate: Rate,
    /// One place for each connection.
    pub room: Arc<Semaphore>,
    /// The requests of a connection end with it.
    connections: TaskTracker,
    /// The tasks of the door, until it ends.
    parts: Mutex<JoinSet<()>>,
}

impl Serving {
    /// Begins to serve.
    pub fn start(context: Context, serves: Serves) -> Arc<Self> {
        let room = context.clients.settings().clients_max as usize;
        let shared = DoorState::new(context);
        let door = Arc::new(Mcp { shared, serves, watched: Watched::default() });
        // Nothing waits outside that this door would have to ask for.
        door.shared.catch_up();
        let mut parts = parts::start(&door);
        let clients = door.shared.context.clients.clone();
        claw_kit::task::spawn_in(&mut parts, async move { clients.keep().await });
        Arc::new(Self {
            door,
            rate: Rate::default(),
            room: Arc::new(Semaphore::new(room)),
            connections: TaskTracker::new(),
            parts: Mutex::new(parts),
        })
    }

    /// Answers a client on a stream, until one of them closes it.
    pub fn answer(
        self: &Arc<Self>,
        hello: Hello,
        place: Option<Arc<OwnedSemaphorePermit>>,
        stream: impl AsyncRead + AsyncWrite + Send + 'static,
    ) {
        let (reads, writes) = tokio::io::split(stream);
        let bytes_max = self.door.shared.context.clients.settings().body_bytes_max;
        let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
        let Hello { client, tools, front, .. } = hello;
        let serving = self.clone();
        let caller = Caller { serving, client, tools, front: Some(front), _place: place };
        let streams = Streams::new(reads, writes)
            .with_line_bytes_max(bytes_max.saturating_add(NUMBER_BYTES_MAX));
        self.connections.spawn(async move {
            let client = caller.client.clone();
            match streams.serve(Handler::new(caller)).await {
                Ok(Some(running)) => {
                    let ended = running.waiting().await;
                    tracing::debug!(%client, ?ended, "a client has gone");
                }
                // A client that looks and leaves without a word is no failure.
                Ok(None) => {}
                Err(error) => tracing::warn!(%client, %error, "a client does not speak MCP"),
            }
        });
    }

    /// Listens for fronts on the socket of a home, until the door closes.
    // Boxed, so that it is compiled here, and not once more in the program.
    pub fn listen<'a>(self: &'a Arc<Self>, path: &'a Path) -> BoxFuture<'a, ()> {
        Box::pin(self.accept_all(path))
    }

    async fn accept_all(self: &Arc<Self>, path: &Path) {
        let socket = match Socket::listen(path) {
            Ok(socket) => socket,
            Err(error) => {
                let path = path.display();
                tracing::error!(%error, %path, "clients are not served by this gateway");
                return;
            }
        };
        loop {
            let accepted = tokio::select! {
                accepted = socket.accept() => accepted,
                () = self.door.shared.closing.cancelled() => return,
            };
            match accepted {
                Ok(stream) => drop(claw_kit::task::spawn(self.clone().greets(stream))),
                Err(error) => {
                    tracing::error!(%error, "a client could not connect");
                    tokio::time::sleep(RETRY).await;
                }
            }
        }
    }

    async fn greets(self: Arc<Self>, stream: tokio::net::UnixStream) {
        let greeted = match socket::greet(stream).await {
            Ok(greeted) => greeted,
            Err(error) => {
                tracing::warn!(%error, "somebody at the socket is no front of claw");
                return;
            }
        };
        if let Err(why) = self.door.shared.context.clients.is_welcome(&greeted.hello.client) {
            return greeted.refuse(format!("{why}.")).await;
        }
        let Ok(place) = self.room.clone().try_acquire_owned() else {
            let most = self.door.shared.context.clients.settings().clients_max;
            let clients = counted_with(most, "client", "is", "are");
            let close = if most == 1 { "close it" } else { "close one of them" };
            let why = format!(
                "{clients} connected already (serve.clients_max in claw.toml); {close}, or raise \
                 the limit and start the gateway again"
            );
            return greeted.refuse(why).await;
        };
        let hello = greeted.hello.clone();
        match greeted.welcome().await {
            Ok(stream) => {
                self.answer(hello, Some(Arc::new(place)), stream);
            }
            Err(error) => tracing::debug!(%error, "a front has gone at once"),
        }
    }

    /// Takes nothing new, lets turns and calls in hand end, and leaves the rest to the next start.
    pub fn wind_down(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.close_in_order())
    }

    async fn close_in_order(&self) {
        let context = &self.door.shared.context;
        self.door.shared.wind_down(context.clients.settled()).await;
        self.parts.lock().await.shutdown().await;
    }
}
