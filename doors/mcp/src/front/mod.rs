//! The front: what a client has started with `claw serve`. It relays lines between the client and
//! what answers, and survives the end of the latter. Standard output belongs to MCP alone. Must not
//! know what is asked or answered.

pub mod backend;
mod lines;
mod relay;
pub mod stdio;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;

use backend::{Backend, Backends};
use lines::{Lines, Read, write};
use relay::{Line, Relay, Way};

/// Lines that wait for the client to read them; then no more are taken from what answers.
const QUEUED_MAX: usize = 16;

/// What happens next.
enum Next {
    Client(Read),
    Backend(Read),
    /// There is room again.
    Room,
    /// Somebody wants the process to end.
    End,
}

/// Relays until the client has gone or `ends` is done.
///
/// # Errors
/// At the start: nothing can answer. Later the client is told instead.
pub async fn run(
    backends: &Backends,
    (reads, writes): (impl AsyncRead + Unpin, impl AsyncWrite + Send + Unpin + 'static),
    ends: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let mut ends = std::pin::pin!(ends);
    let mut front = Front {
        backends,
        relay: Relay::default(),
        backend: Some(backends.connect(false).await?),
        to_client: writer(writes),
    };
    let mut client = Lines::new(reads, backends.line_bytes_max);
    loop {
        let next = tokio::select! {
            biased;
            () = &mut ends => Next::End,
            next = front.next(&mut client) => next,
        };
        match next {
            Next::Client(Read::Line(line)) => front.takes(line).await,
            Next::Client(Read::TooLong) => {
                front.tells(relay::too_long(backends.line_bytes_max)).await;
            }
            Next::Client(Read::End) | Next::End => break,
            Next::Backend(Read::Line(line)) => {
                if front.relay.backend_says(&line) == Way::Pass {
                    front.gives(line).await;
                }
            }
            Next::Backend(Read::TooLong) => {}
            Next::Backend(Read::End) => front.backend_ended().await,
            Next::Room => {}
        }
    }
    if let Some(backend) = front.backend.take() {
        backend.close().await;
    }
    Ok(())
}

/// Writes lines to the client, one after another.
fn writer(mut writes: impl AsyncWrite + Send + Unpin + 'static) -> mpsc::Sender<Line> {
    let (sink, mut queue) = mpsc::channel::<Line>(QUEUED_MAX);
    claw_kit::task::spawn(async move {
        while let Some(line) = queue.recv().await {
            // A client that does not read any more closes its other end, too.
            if write(&mut writes, &line).await.is_err() {
                return;
            }
        }
    });
    sink
}

struct Front<'b> {
    backends: &'b Backends,
    relay: Relay,
    /// `None` after one has ended and no other could be had.
    backend: Option<Backend>,
    to_client: mpsc::Sender<Line>,
}

impl Front<'_> {
    /// A line of either side, where the other one has room for it.
    async fn next(&mut self, client: &mut Lines<impl AsyncRead + Unpin>) -> Next {
        let Some(backend) = &mut self.backend else { return Next::Client(client.next().await) };
        let (client_has_room, backend_has_room) =
            (self.to_client.capacity() > 0, backend.sink.capacity() > 0);
        tokio::select! {
            read = client.next(), if backend_has_room => Next::Client(read),
            read = backend.lines.next(), if client_has_room => Next::Backend(read),
            _ = self.to_client.reserve(), if !client_has_room => Next::Room,
            reserved = backend.sink.reserve(), if !backend_has_room => match reserved {
                Ok(_) => Next::Room,
                // Nothing is written to it any more.
                Err(_) => Next::Backend(Read::End),
            },
        }
    }

    /// A line of the client's.
    async fn takes(&mut self, line: Line) {
        let line = match self.relay.client_says(&line) {
            Way::Drop => return,
            Way::Answer(text) => return self.tells(text).await,
            Way::Pass => line,
            Way::PassAs(numbered) => numbered,
        };
        match &self.backend {
            // If nothing is written any more, its end is read next, and the line sent again.
            Some(backend) => drop(backend.sink.send(line).await),
            None => self.connects_again(false).await,
        }
    }

    async fn backend_ended(&mut self) {
        let Some(ended) = self.backend.take() else { return };
        let was_gateway = ended.is_gateway;
        tracing::warn!(was_gateway, "what answered has ended; another one is looked for");
        ended.close().await;
        self.connects_again(was_gateway).await;
    }

    /// Another backend, which hears what is open; if none can be had, the client is told.
    async fn connects_again(&mut self, was_gateway: bool) {
        match self.backends.connect(was_gateway).await {
            Ok(backend) => {
                let (sent, told) = self.relay.begins_anew();
                for text in told {
                    self.tells(text).await;
                }
                for line in sent {
                    // If this one has ended, too, that is read next.
                    let _gone = backend.sink.send(line).await;
                }
                self.backend = Some(backend);
            }
            Err(error) => {
                let why = format!("{error:#}");
                tracing::error!(why, "nothing can answer");
                for text in self.relay.gives_up(&why) {
                    self.tells(text).await;
                }
            }
        }
    }

    async fn tells(&self, text: String) {
        self.gives(text.into_bytes()).await;
    }

    async fn gives(&self, line: Line) {
        // A client that does not read any more is seen at its other end.
        let _gone = self.to_client.send(line).await;
    }
}
