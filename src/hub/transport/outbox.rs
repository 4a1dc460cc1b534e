//! What waits to be read by a server: a bounded queue before its stdin, emptied by a task of its
//! own, so that a server which stops reading (trap 3) blocks nobody. Must not know what a line
//! says.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// The writing end. Clones share the queue.
#[derive(Clone, Debug)]
pub(in crate::hub) struct Outbox {
    lines: mpsc::UnboundedSender<Vec<u8>>,
    queued_bytes: Arc<AtomicUsize>,
    queue_bytes_max: usize,
    closed: CancellationToken,
}

impl Outbox {
    /// Starts the writing task. It ends, and `write` is dropped, on [`Outbox::close`] or when
    /// writing fails.
    pub(in crate::hub) fn start(
        write: impl AsyncWrite + Send + Unpin + 'static,
        queue_bytes_max: usize,
    ) -> Self {
        let (lines, queue) = mpsc::unbounded_channel();
        let queued_bytes = Arc::new(AtomicUsize::new(0));
        let closed = CancellationToken::new();
        tokio::spawn(empty(write, queue, queued_bytes.clone(), closed.clone()));
        Self { lines, queued_bytes, queue_bytes_max, closed }
    }

    /// Puts one message, without its newline, into the queue. Returns at once.
    ///
    /// # Errors
    /// The queue is closed or full; then nothing of the message reaches the server.
    pub(in crate::hub) fn push(&self, mut line: Vec<u8>) -> io::Result<()> {
        if self.closed.is_cancelled() {
            return Err(io::Error::new(io::ErrorKind::BrokenPipe, "the server no longer reads"));
        }
        line.push(b'\n');
        let length = line.len();
        let before = self.queued_bytes.fetch_add(length, Ordering::SeqCst);
        if before + length > self.queue_bytes_max {
            self.queued_bytes.fetch_sub(length, Ordering::SeqCst);
            let text = format!(
                "more than {} bytes would wait for the server to read them",
                self.queue_bytes_max
            );
            return Err(io::Error::new(io::ErrorKind::StorageFull, text));
        }
        self.lines
            .send(line)
            .map_err(|_| io::Error::new(io::ErrorKind::BrokenPipe, "the server no longer reads"))
    }

    /// Whether something was queued that the server has not read yet.
    pub(in crate::hub) fn is_stuck(&self) -> bool {
        self.queued_bytes.load(Ordering::SeqCst) > 0
    }

    /// Closes the server's stdin, also in the middle of a line.
    pub(in crate::hub) fn close(&self) {
        self.closed.cancel();
    }

    /// Fires when stdin is closed, by us or because the server closed its end.
    pub(in crate::hub) fn closed(&self) -> &CancellationToken {
        &self.closed
    }
}

async fn empty(
    mut write: impl AsyncWrite + Unpin,
    mut queue: mpsc::UnboundedReceiver<Vec<u8>>,
    queued_bytes: Arc<AtomicUsize>,
    closed: CancellationToken,
) {
    let write_all = async {
        while let Some(line) = queue.recv().await {
            if write.write_all(&line).await.is_err() || write.flush().await.is_err() {
                return;
            }
            queued_bytes.fetch_sub(line.len(), Ordering::SeqCst);
        }
    };
    closed.run_until_cancelled(write_all).await;
    closed.cancel();
}
