//! What answers behind the front: a gateway's socket if one is there, otherwise an agent in this
//! process. Owns which of them, and how long it is tried. Must not know what is said.

use std::path::PathBuf;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::lines::{Lines, write};
use super::relay::Line;
use crate::socket::{self, Hello};

/// How long a gateway that was there is waited for before this process answers itself: a service
/// manager starts it again.
const GATEWAY_BACK: Duration = Duration::from_secs(3);
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// Lines that wait to be written to a backend; then no more are taken from the client.
const QUEUED_MAX: usize = 16;

/// An agent in this process that answers on a stream.
pub struct Here {
    pub stream: DuplexStream,
    /// Ends it: calls in hand have a moment, what was committed stays.
    pub close: BoxFuture<'static, ()>,
}

/// Opens an agent in this process.
pub type OpenHere = Box<dyn Fn() -> BoxFuture<'static, anyhow::Result<Here>> + Send + Sync>;

/// Where backends come from. It lives as long as the front.
pub struct Backends {
    /// Of the gateway.
    pub socket: PathBuf,
    pub hello: Hello,
    pub here: OpenHere,
    pub line_bytes_max: usize,
}

/// A connection to what answers.
pub struct Backend {
    pub lines: Lines<Box<dyn AsyncRead + Send + Unpin>>,
    pub sink: mpsc::Sender<Line>,
    pub is_gateway: bool,
    close: Option<BoxFuture<'static, ()>>,
}

impl Backends {
    /// Connects with what answers now. After a gateway that has gone, waits for it a moment.
    ///
    /// # Errors
    /// The gateway refuses this client, or the agent cannot be opened.
    pub async fn connect(&self, was_gateway: bool) -> anyhow::Result<Backend> {
        let until = Instant::now() + if was_gateway { GATEWAY_BACK } else { Duration::ZERO };
        loop {
            if let Some(stream) = socket::connect(&self.socket, &self.hello).await? {
                return Ok(self.over(stream, None));
            }
            if Instant::now() >= until {
                break;
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        let here = (self.here)().await?;
        Ok(self.over(here.stream, Some(here.close)))
    }

    fn over(
        &self,
        stream: impl AsyncRead + AsyncWrite + Send + 'static,
        close: Option<BoxFuture<'static, ()>>,
    ) -> Backend {
        let (reads, mut writes) = tokio::io::split(stream);
        let (sink, mut queue) = mpsc::channel::<Line>(QUEUED_MAX);
        claw_kit::task::spawn(async move {
            while let Some(line) = queue.recv().await {
                // The end of a backend is seen where it is read.
                if write(&mut writes, &line).await.is_err() {
                    return;
                }
            }
            let _gone = tokio::io::AsyncWriteExt::shutdown(&mut writes).await;
        });
        let reads: Box<dyn AsyncRead + Send + Unpin> = Box::new(reads);
        // What the agent answers has no bound but its own: results were cut before.
        let lines = Lines::new(reads, usize::MAX);
        Backend { lines, sink, is_gateway: close.is_none(), close }
    }
}

impl Backend {
    /// Lets it go, and waits until an agent of this process has ended.
    pub async fn close(self) {
        drop((self.sink, self.lines));
        if let Some(close) = self.close {
            close.await;
        }
    }
}
