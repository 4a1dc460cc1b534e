//! How messages travel between claw and a server: a duplex of JSON messages, bounded both ways,
//! that knows whether a message was sent and why the connection ended. Must not know what a message
//! says.
//!
//! A child's stdio is one transport, Streamable HTTP another, an in-memory pair for tests a third.

pub(crate) mod http;
mod line_queue;
mod lines;
#[cfg(test)]
pub(crate) mod memory;
mod stdio;
mod ticket;

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub(crate) use http::Http;
#[cfg(test)]
pub(crate) use http::HttpReceiver;
pub(crate) use stdio::Stdio;
pub(crate) use ticket::Ticket;
#[cfg(test)]
pub(crate) use {
    lines::{Line, LineReader},
    stdio::StdioReceiver,
};

/// The sending half of a connection, and its life. All who send share one; the connection's owner
/// asks for its end.
pub(crate) trait Transport: Send + Sync + 'static {
    /// Takes one message and returns at once. The server receives messages in the order of these
    /// calls, as far as the transport has an order. It settles the ticket, see [`Ticket::settle`].
    ///
    /// # Errors
    /// Nothing of the message reaches the server.
    fn send(&self, message: Value, escort: Escort) -> Result<(), SendError>;

    /// The bytes that were taken and that the server has not read yet, as far as the transport can
    /// know.
    fn queued_bytes(&self) -> watch::Receiver<usize>;

    /// Whether what the server says without being asked arrives, and by the how many-th stream:
    /// what was said between two of them may be lost.
    fn hearing(&self) -> Option<u64> {
        Some(0)
    }

    /// What is sent now may meet a server that no longer knows this connection. Whoever has
    /// something to lose asks it first.
    fn is_doubtful(&self) -> bool {
        false
    }

    /// Fires when nothing can be sent any more, because we closed or because the server did.
    fn closed(&self) -> &CancellationToken;

    /// The end was no fault of the server's and nothing to tell a person: it has forgotten an idle
    /// session, as it may.
    fn ended_in_peace(&self) -> bool {
        false
    }

    /// Ends the connection, also in the middle of a message. Returns at once; see
    /// [`Transport::ended`]. Bounded by the transport's own limits.
    fn request_end(&self);

    /// Fires once the connection has ended and nothing of it is left on this machine.
    fn ended(&self) -> &CancellationToken;

    /// Why it ended, for a human, as the end of a sentence: `it exited with status 1`.
    fn end_reason(&self) -> String;
}

/// The receiving half. One task reads it.
pub(crate) trait Receive: Send + 'static {
    /// The next step of reading. Safe to cancel: what has been read stays for the next call. After
    /// [`Received::End`] it is not called again.
    fn receive(&mut self) -> impl Future<Output = Received> + Send;
}

/// One step of reading.
#[derive(Debug, PartialEq)]
pub(crate) enum Received {
    /// JSON, of whatever shape.
    Message(Value),
    /// Text that is no JSON; its first characters.
    NoJson(String),
    /// A message longer than the limit. It was dropped without being held in memory.
    TooLong {
        /// The request that it answers, where the transport knows that without reading it.
        answers: Option<i64>,
    },
    /// A request that the server has refused without a message of its own.
    Refused {
        answers: i64,
        /// For a human, as the end of a sentence: `it needs a login`.
        reason: String,
    },
    /// A request that gets no answer, though the connection lasts. Its ticket says whether the
    /// server may have got it.
    Failed {
        answers: i64,
        /// For a human, as the end of a sentence: `it closed the connection`.
        reason: String,
    },
    End,
}

/// What goes with a message and is no part of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Escort {
    pub(crate) ticket: Option<Arc<Ticket>>,
    /// Arguments that the server wants beside the message, where the transport has such a place:
    /// name and value.
    pub(crate) mirrored: Vec<(String, String)>,
}

/// Why a message was not sent. Nothing of it reaches the server.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SendError {
    #[error("more than {bytes_max} bytes would wait for the server to read them")]
    QueueFull { bytes_max: usize },
    #[error("the server no longer reads")]
    Closed,
    #[error("its name or an argument does not fit into the HTTP header that it needs")]
    NoHeader,
    #[error("the call was given up")]
    GivenUp,
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// What a transport holds at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The longest message that a server may send, in bytes.
    pub(crate) message_bytes_max: usize,
    /// The most bytes that wait for a server to read them.
    pub(crate) queue_bytes_max: usize,
    /// Requests that wait for their answers at the same time, where each has a connection of its
    /// own. More wait for their turn.
    pub(crate) requests_max: usize,
}
