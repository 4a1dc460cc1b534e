//! Tells when stdin closes. The MCP library waits for calls in flight before it ends, so it would
//! learn of it too late: the jobs have to die at once. Must not know MCP.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

/// Passes everything through, and cancels `closed` at the end of the stream or at an error.
pub struct EofSignal<R> {
    inner: R,
    closed: CancellationToken,
}

impl<R> EofSignal<R> {
    pub fn new(inner: R, closed: CancellationToken) -> Self {
        Self { inner, closed }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for EofSignal<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let result = ready!(Pin::new(&mut self.inner).poll_read(cx, buf));
        let at_end = buf.filled().len() == before && buf.capacity() > before;
        if result.is_err() || at_end {
            self.closed.cancel();
        }
        Poll::Ready(result)
    }
}
