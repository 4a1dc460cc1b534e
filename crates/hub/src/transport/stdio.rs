//! The transport over stdin and stdout of a child process: one line of JSON a message (MCP
//! 2025-11-25 and 2026-07-28, "stdio"). Must not know what a message says.

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::line_queue::LineQueue;
use super::lines::{Line, LineReader};
use super::{Escort, Limits, Receive, Received, SendError, Ticket, Transport};
use crate::process::child::ChildHandle;
use crate::process::spawn::Spawned;

/// Of a line that is no JSON, in characters.
const NO_JSON_CHARS_MAX: usize = 200;

/// Dropping it ends the process, with all that it started.
pub(crate) struct Stdio {
    line_queue: LineQueue,
    process: ChildHandle,
}

/// Reads the process' stdout.
pub(crate) struct StdioReceiver {
    lines: LineReader<Box<dyn AsyncRead + Send + Unpin>>,
}

impl Stdio {
    /// Needs a Tokio runtime: a task of its own writes to stdin, and another one sees it closed.
    pub(crate) fn new(spawned: Spawned, limits: Limits) -> (Self, StdioReceiver) {
        let line_queue = LineQueue::start(spawned.stdin, limits.queue_bytes_max);
        if let Some(mut hangup) = spawned.hangup {
            let closed = line_queue.closed().clone();
            claw_kit::task::spawn(async move {
                let _ = closed.run_until_cancelled(hangup.read_u8()).await;
                closed.cancel();
            });
        }
        let receiver = StdioReceiver::new(spawned.stdout, limits.message_bytes_max);
        (Self { line_queue, process: spawned.process }, receiver)
    }

    pub(crate) fn process(&self) -> &ChildHandle {
        &self.process
    }

    /// Closes stdin alone: the process may still end by itself.
    pub(crate) fn close_stdin(&self) {
        self.line_queue.close();
    }
}

impl Transport for Stdio {
    fn send(&self, message: Value, escort: Escort) -> Result<(), SendError> {
        let line = serde_json::to_vec(&message)?;
        Ticket::settle(escort.ticket.as_deref(), || self.line_queue.push(line))
    }

    fn queued_bytes(&self) -> watch::Receiver<usize> {
        self.line_queue.queued_bytes()
    }

    fn closed(&self) -> &CancellationToken {
        self.line_queue.closed()
    }

    fn request_end(&self) {
        self.line_queue.close();
        self.process.request_end();
    }

    fn ended(&self) -> &CancellationToken {
        self.process.dead()
    }

    fn end_reason(&self) -> String {
        self.process.exit_reason()
    }
}

impl StdioReceiver {
    pub(crate) fn new(stdout: Box<dyn AsyncRead + Send + Unpin>, message_bytes_max: usize) -> Self {
        Self { lines: LineReader::new(stdout, message_bytes_max) }
    }
}

impl Receive for StdioReceiver {
    async fn receive(&mut self) -> Received {
        loop {
            match self.lines.next().await {
                Line::End => return Received::End,
                // What cannot be read has no id.
                Line::TooLong => return Received::TooLong { answers: None },
                Line::Whole => match self.lines.json() {
                    None => {}
                    Some(Ok(message)) => return Received::Message(message),
                    Some(Err(_)) => {
                        let text = String::from_utf8_lossy(self.lines.line());
                        return Received::NoJson(text.chars().take(NO_JSON_CHARS_MAX).collect());
                    }
                },
            }
        }
    }
}
