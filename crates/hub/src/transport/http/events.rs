//! Server-sent events from a stranger, with an upper limit on memory: `sse-stream` reads them, line
//! by line, so that one line which it does not understand costs nothing but itself. Must not know
//! what an event says.

use std::fmt;
use std::pin::Pin;

use bytes::Bytes;
use futures::{Stream, StreamExt as _, stream};
use sse_stream::{Error, Sse, SseStream};

use super::body::Held;

/// One step of reading.
#[derive(Debug)]
pub(super) enum EventStep {
    Event(Sse),
    /// A line that is none of an event stream; it was left out.
    Odd(String),
    /// The event passed the limit. The stream is of no use any more.
    TooLong,
    /// The connection broke.
    Broken(String),
    End,
}

pub(super) struct Events(Pin<Box<dyn Stream<Item = Result<Sse, Error>> + Send>>);

#[derive(Debug)]
enum Fault {
    TooLong,
    Broken(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLong => "too long",
            Self::Broken(why) => why,
        })
    }
}

impl std::error::Error for Fault {}

impl Events {
    pub(super) fn new<E: std::error::Error + Send + 'static>(
        bytes: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
        held: Held,
    ) -> Self {
        let lines = Lines {
            bytes: bytes.boxed(),
            pending: Bytes::new(),
            event: 0,
            line: Line::default(),
            held,
        };
        let lines = stream::unfold(lines, |mut lines| async move {
            let next = lines.next().await?;
            Some((next, lines))
        });
        Self(Box::pin(SseStream::from_bytes_stream(lines.boxed())))
    }

    pub(super) async fn next(&mut self) -> EventStep {
        match self.0.next().await {
            None => EventStep::End,
            Some(Ok(event)) => EventStep::Event(event),
            Some(Err(Error::Body(error))) => match error.downcast::<Fault>().map(|fault| *fault) {
                Ok(Fault::TooLong) => EventStep::TooLong,
                Ok(Fault::Broken(why)) => EventStep::Broken(why),
                Err(other) => EventStep::Broken(other.to_string()),
            },
            Some(Err(odd)) => EventStep::Odd(odd.to_string()),
        }
    }
}

/// Hands out at most a line at a time, and counts what the reader behind it has to keep.
struct Lines<S> {
    bytes: S,
    pending: Bytes,
    /// Of the event that is not whole yet, without its comments.
    event: usize,
    line: Line,
    held: Held,
}

/// The line that is not whole yet.
#[derive(Default)]
struct Line {
    bytes: usize,
    is_comment: bool,
}

impl<S, E> Lines<S>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
    E: std::error::Error + 'static,
{
    async fn next(&mut self) -> Option<Result<Bytes, Fault>> {
        while self.pending.is_empty() {
            match self.bytes.next().await? {
                Ok(bytes) => self.pending = bytes,
                Err(error) => return Some(Err(Fault::Broken(super::words::root_cause(&error)))),
            }
        }
        let newline = self.pending.iter().position(|byte| *byte == b'\n');
        let part = self.pending.split_to(newline.map_or(self.pending.len(), |at| at + 1));
        Some(self.count(&part, newline.is_some()).map(|()| part))
    }

    fn count(&mut self, part: &[u8], is_whole: bool) -> Result<(), Fault> {
        // Only what the reader takes for a line's end: a blank is a line that ends no event.
        let content = part.strip_suffix(b"\n").unwrap_or(part);
        let content = content.strip_suffix(b"\r").unwrap_or(content).len();
        if self.line.bytes == 0 {
            self.line.is_comment = part.first() == Some(&b':');
        }
        self.line.bytes += if is_whole { content } else { part.len() };
        if !self.held.set(self.event + self.line.bytes) {
            return Err(Fault::TooLong);
        }
        if is_whole {
            let line = std::mem::take(&mut self.line);
            self.event = match line.bytes {
                0 => 0,
                _ if line.is_comment => self.event,
                bytes => self.event + bytes,
            };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    async fn read(chunks: &[&str], bytes_max: usize) -> Vec<String> {
        let total = Arc::new(AtomicUsize::new(0));
        let chunks: Vec<io::Result<Bytes>> =
            chunks.iter().map(|chunk| Ok(Bytes::copy_from_slice(chunk.as_bytes()))).collect();
        let held = Held::new(total.clone(), bytes_max);
        let mut events = Events::new(stream::iter(chunks), held);
        let mut seen = Vec::new();
        loop {
            match events.next().await {
                EventStep::Event(event) => seen.push(event.data.unwrap_or_default()),
                EventStep::Odd(why) => seen.push(format!("odd: {why}")),
                EventStep::TooLong => seen.push("too long".to_owned()),
                EventStep::Broken(why) => seen.push(format!("broken: {why}")),
                EventStep::End => break,
            }
            if seen.last().is_some_and(|last| last == "too long") {
                break;
            }
        }
        drop(events);
        assert_eq!(total.load(Ordering::SeqCst), 0, "what was held is given back");
        seen
    }

    #[tokio::test]
    async fn events_come_whole_however_they_are_cut() {
        let text = "id: 1\ndata: a\r\n\r\n: ping\n\ndata: b\ndata: c\n\n";
        assert_eq!(read(&[text], 100).await, ["a", "b\nc"]);
        let bytes: Vec<String> = text.chars().map(String::from).collect();
        let bytes: Vec<&str> = bytes.iter().map(String::as_str).collect();
        assert_eq!(read(&bytes, 100).await, ["a", "b\nc"]);
    }

    #[tokio::test]
    async fn a_line_of_no_event_stream_costs_nothing_but_itself() {
        let seen =
            read(&["data: a\nwhat is this\nfoo: bar\nretry: soon\n\ndata: b\n\n"], 100).await;
        assert_eq!(seen.len(), 5, "{seen:?}");
        assert_eq!((&*seen[3], &*seen[4]), ("a", "b"));
    }

    #[tokio::test]
    async fn an_event_is_bounded_and_comments_for_ever_are_not_one() {
        let long = "x".repeat(60);
        assert_eq!(read(&[&format!("data: {long}\n\n")], 100).await.len(), 1);
        let twice = format!("data: {long}\ndata: {long}\n\n");
        assert_eq!(read(&[&twice], 100).await, ["too long"]);
        let blanks: Vec<&str> = std::iter::repeat_n("data: xxxxxxxxxx\n \n", 50).collect();
        assert_eq!(read(&blanks, 100).await.last().unwrap(), "too long");
        let endless: Vec<&str> = std::iter::repeat_n("xxxxxxxxxx", 50).collect();
        assert_eq!(read(&endless, 100).await, ["too long"]);
        let pings: Vec<&str> = std::iter::repeat_n(": ping ping ping\n", 50).collect();
        assert_eq!(read(&pings, 100).await, [""; 0]);
        let events: Vec<&str> = std::iter::repeat_n("data: twenty bytes in each\n\n", 50).collect();
        assert_eq!(read(&events, 100).await.len(), 50);
    }
}
