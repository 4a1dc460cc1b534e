//! Connections that can be broken from inside of a call, as a failing network would. Owns sockets.
//! Must not know HTTP.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

use super::Shared;

/// One connection as a call sees it.
#[derive(Clone, Debug, Default)]
pub struct Line(Arc<AtomicBool>);

impl Line {
    /// Nothing is read from or written to this connection any more: the client sees it closed
    /// without an answer.
    pub fn cut(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn check(&self) -> io::Result<()> {
        if self.0.load(Ordering::SeqCst) {
            Err(io::ErrorKind::ConnectionReset.into())
        } else {
            Ok(())
        }
    }
}

/// The door for connections, which are counted while they are open.
pub struct Lines {
    pub listener: TcpListener,
    pub shared: Arc<Shared>,
}

impl Listener for Lines {
    type Io = Wire;
    type Addr = Line;

    async fn accept(&mut self) -> (Wire, Line) {
        loop {
            if let Ok((stream, _)) = self.listener.accept().await {
                // Small answers must not wait for the other side's acknowledgement.
                let _gone = stream.set_nodelay(true);
                let line = Line::default();
                self.shared.change(|world| world.connections += 1);
                return (Wire { stream, line: line.clone(), shared: self.shared.clone() }, line);
            }
            // Out of file descriptors, most likely: others will end.
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    fn local_addr(&self) -> io::Result<Line> {
        Ok(Line::default())
    }
}

impl Connected<IncomingStream<'_, Lines>> for Line {
    fn connect_info(stream: IncomingStream<'_, Lines>) -> Self {
        stream.remote_addr().clone()
    }
}

pub struct Wire {
    stream: TcpStream,
    line: Line,
    shared: Arc<Shared>,
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.shared.change(|world| world.connections -= 1);
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.line.check()?;
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.line.check()?;
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.line.check()?;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
