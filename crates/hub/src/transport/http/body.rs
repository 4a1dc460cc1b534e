//! The body of a request: one message, which settles its ticket at the moment at which it is taken,
//! before its first byte can leave. Must not know what the message says.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio_util::sync::CancellationToken;

use crate::transport::{SendError, Ticket};

/// A message on its way. As long as this is not polled, nothing of the message has left: the head
/// of a request alone starts nothing.
pub(super) struct OneMessage {
    pub(super) bytes: Option<Bytes>,
    pub(super) ticket: Option<Arc<Ticket>>,
    /// Cancelled when the message is taken.
    pub(super) taken: CancellationToken,
    pub(super) queued: Option<Queued>,
}

impl Body for OneMessage {
    type Data = Bytes;
    type Error = SendError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, SendError>>> {
        let Some(bytes) = self.bytes.take() else { return Poll::Ready(None) };
        let settled = Ticket::settle(self.ticket.as_deref(), || Ok(()));
        self.queued = None;
        if settled.is_ok() {
            self.taken.cancel();
        }
        Poll::Ready(Some(settled.map(|()| Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}

/// Counts the bytes of a message that waits to be sent.
pub(super) struct Queued {
    total: Arc<AtomicUsize>,
    bytes: usize,
}

impl Queued {
    /// # Errors
    /// More would wait than may.
    pub(super) fn enter(
        total: &Arc<AtomicUsize>,
        bytes: usize,
        bytes_max: usize,
    ) -> Result<Self, SendError> {
        let fits = |waiting: usize| (waiting + bytes <= bytes_max).then_some(waiting + bytes);
        match total.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fits) {
            Ok(_) => Ok(Self { total: total.clone(), bytes }),
            Err(_) => Err(SendError::QueueFull { bytes_max }),
        }
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        self.total.fetch_sub(self.bytes, Ordering::SeqCst);
    }
}

/// What one answer holds in memory before it is whole. All answers of a connection together hold at
/// most twice the longest message.
pub(super) struct Held {
    total: Arc<AtomicUsize>,
    mine: usize,
    bytes_max: usize,
}

impl Held {
    pub(super) fn new(total: Arc<AtomicUsize>, bytes_max: usize) -> Self {
        Self { total, mine: 0, bytes_max }
    }

    /// False if that is more than may be held.
    pub(super) fn set(&mut self, bytes: usize) -> bool {
        self.total.fetch_sub(self.mine, Ordering::SeqCst);
        let all = self.total.fetch_add(bytes, Ordering::SeqCst) + bytes;
        self.mine = bytes;
        bytes <= self.bytes_max && all <= self.bytes_max.saturating_mul(2)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.total.fetch_sub(self.mine, Ordering::SeqCst);
    }
}
