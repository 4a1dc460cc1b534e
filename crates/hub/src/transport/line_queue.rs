//! What waits to be read by a server: a bounded queue before its stdin, emptied by a task of its
//! own, so that a server which stops reading (trap 3) blocks nobody. Must not know what a line
//! says.

use std::sync::Arc;

use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::SendError;

/// The writing end. Clones share the queue, which belongs to one connection.
#[derive(Clone, Debug)]
pub(super) struct LineQueue {
    /// To the writing task; what is in there when that ends is dropped.
    lines: mpsc::UnboundedSender<Vec<u8>>,
    /// Shared with the task, which takes off what it has written.
    queued_bytes: Arc<watch::Sender<usize>>,
    /// The same from the start to the end.
    queue_bytes_max: usize,
    /// Cancelled once, by [`LineQueue::close`] or by the task when writing fails.
    closed: CancellationToken,
}

impl LineQueue {
    /// Starts the writing task. It ends, and `write` is dropped, on [`LineQueue::close`] or when
    /// writing fails.
    pub(super) fn start(
        write: impl AsyncWrite + Send + Unpin + 'static,
        queue_bytes_max: usize,
    ) -> Self {
        let (lines, queue) = mpsc::unbounded_channel();
        let queued_bytes = Arc::new(watch::Sender::new(0));
        let closed = CancellationToken::new();
        claw_kit::task::spawn(empty(write, queue, queued_bytes.clone(), closed.clone()));
        Self { lines, queued_bytes, queue_bytes_max, closed }
    }

    /// Puts one message, without its newline, into the queue. Returns at once.
    ///
    /// # Errors
    /// The queue is closed or full; then nothing of the message reaches the server.
    pub(super) fn push(&self, mut line: Vec<u8>) -> Result<(), SendError> {
        if self.closed.is_cancelled() {
            return Err(SendError::Closed);
        }
        line.push(b'\n');
        let length = line.len();
        let fits = self.queued_bytes.send_if_modified(|queued| {
            let fits = *queued + length <= self.queue_bytes_max;
            *queued += if fits { length } else { 0 };
            fits
        });
        if !fits {
            return Err(SendError::QueueFull { bytes_max: self.queue_bytes_max });
        }
        self.lines.send(line).map_err(|_| SendError::Closed)
    }

    /// The bytes that were queued and that the server has not read yet.
    pub(super) fn queued_bytes(&self) -> watch::Receiver<usize> {
        self.queued_bytes.subscribe()
    }

    /// Closes the server's stdin, also in the middle of a line.
    pub(super) fn close(&self) {
        self.closed.cancel();
    }

    /// Fires when stdin is closed, by us or because the server closed its end.
    pub(super) fn closed(&self) -> &CancellationToken {
        &self.closed
    }
}

async fn empty(
    mut write: impl AsyncWrite + Unpin,
    mut queue: mpsc::UnboundedReceiver<Vec<u8>>,
    queued_bytes: Arc<watch::Sender<usize>>,
    closed: CancellationToken,
) {
    let write_all = async {
        while let Some(line) = queue.recv().await {
            if write.write_all(&line).await.is_err() || write.flush().await.is_err() {
                return;
            }
            queued_bytes.send_modify(|queued| *queued -= line.len());
        }
    };
    closed.run_until_cancelled(write_all).await;
    closed.cancel();
}
