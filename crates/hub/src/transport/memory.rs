//! A transport without a process: two ends in memory, for tests of what stands above transports.
//! It keeps the limits of a real one. Must not know what a message says.

use std::sync::{Arc, Mutex, OnceLock};

use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::{Escort, Limits, Receive, Received, SendError, Ticket, Transport};

/// What a pipe would hold: so much can wait for the server without being queued.
const PIPE_BYTES: usize = 64 * 1024;

/// Claw's end.
pub(crate) struct Memory {
    to_server: mpsc::UnboundedSender<Value>,
    limits: Limits,
    shared: Arc<Shared>,
}

pub(crate) struct MemoryReceiver {
    from_server: mpsc::UnboundedReceiver<Value>,
    limits: Limits,
}

/// The server's end. Dropping it ends the connection.
pub(crate) struct Peer {
    from_claw: mpsc::UnboundedReceiver<Value>,
    to_claw: mpsc::UnboundedSender<Value>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// What is in the pipe, and what waits before it.
    unread: Mutex<usize>,
    queued_bytes: watch::Sender<usize>,
    closed: CancellationToken,
    ended: CancellationToken,
    reason: OnceLock<&'static str>,
}

impl Shared {
    /// False if more would be queued than may be; then nothing changes.
    fn count(&self, change: impl Fn(usize) -> usize, queue_bytes_max: usize) -> bool {
        let mut unread = self.unread.lock().unwrap();
        let queued = change(*unread).saturating_sub(PIPE_BYTES);
        if queued > queue_bytes_max {
            return false;
        }
        *unread = change(*unread);
        self.queued_bytes.send_replace(queued);
        true
    }

    fn end(&self, reason: &'static str) {
        // The first reason is the true one.
        let _ = self.reason.set(reason);
        self.closed.cancel();
        self.ended.cancel();
    }
}

pub(crate) fn pair(limits: Limits) -> (Memory, MemoryReceiver, Peer) {
    let (to_server, from_claw) = mpsc::unbounded_channel();
    let (to_claw, from_server) = mpsc::unbounded_channel();
    let shared = Arc::<Shared>::default();
    let memory = Memory { to_server, limits, shared: shared.clone() };
    (memory, MemoryReceiver { from_server, limits }, Peer { from_claw, to_claw, shared })
}

impl Transport for Memory {
    fn send(&self, message: Value, escort: Escort) -> Result<(), SendError> {
        let length = message.to_string().len();
        Ticket::settle(escort.ticket.as_deref(), || {
            if self.shared.closed.is_cancelled() {
                return Err(SendError::Closed);
            }
            let bytes_max = self.limits.queue_bytes_max;
            if !self.shared.count(|unread| unread + length, bytes_max) {
                return Err(SendError::QueueFull { bytes_max });
            }
            self.to_server.send(message).map_err(|_| SendError::Closed)
        })
    }

    fn queued_bytes(&self) -> watch::Receiver<usize> {
        self.shared.queued_bytes.subscribe()
    }

    fn closed(&self) -> &CancellationToken {
        &self.shared.closed
    }

    fn request_end(&self) {
        self.shared.end("claw closed the connection");
    }

    fn ended(&self) -> &CancellationToken {
        &self.shared.ended
    }

    fn end_reason(&self) -> String {
        self.shared.reason.get().map_or("it is still connected", |reason| reason).to_owned()
    }
}

impl Receive for MemoryReceiver {
    async fn receive(&mut self) -> Received {
        match self.from_server.recv().await {
            None => Received::End,
            // A message in memory needs not be read to be known.
            Some(message) if message.to_string().len() > self.limits.message_bytes_max => {
                Received::TooLong { answers: message.get("id").and_then(Value::as_i64) }
            }
            Some(message) => Received::Message(message),
        }
    }
}

impl Peer {
    /// The next message of claw; `None` once claw has ended the connection.
    pub(crate) async fn receive(&mut self) -> Option<Value> {
        let message = tokio::select! {
            biased;
            message = self.from_claw.recv() => message,
            () = self.shared.closed.cancelled() => None,
        }?;
        self.shared.count(|unread| unread - message.to_string().len(), usize::MAX);
        Some(message)
    }

    pub(crate) fn send(&self, message: Value) {
        // Claw may be gone, and then nobody reads it.
        let _ = self.to_claw.send(message);
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.shared.end("the server closed the connection");
    }
}
