//! Standard input and output as lines, in threads of their own: an editor that reads slowly holds
//! up its own conversation alone, and a thread that waits goes with the process. Owns when a row of
//! the outbox counts as shown; must not know what a line says.

use std::io::{self, BufRead as _, Read as _, Write as _};

use futures::{Sink, Stream};
use serde::Deserialize;
use tokio::sync::{mpsc, oneshot};

/// The longest line that is read, in bytes. A message of the protocol is one line.
const LINE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Lines that wait to be taken.
const LINES_QUEUED_MAX: usize = 16;
/// What a message carries in its `_meta` whose row of the outbox is shown with it.
pub const ROW: &str = "claw/row";

/// Where the rows go whose lines have left.
pub type ShownRows = mpsc::UnboundedSender<i64>;

/// The lines of standard input, to its end.
pub fn incoming() -> io::Result<impl Stream<Item = io::Result<String>> + Send + 'static> {
    let (send, lines) = mpsc::channel(LINES_QUEUED_MAX);
    let read = move || read_lines(io::stdin().lock(), &send);
    std::thread::Builder::new().name("acp-input".into()).spawn(read)?;
    Ok(futures::stream::unfold(lines, |mut lines| async move {
        let line = lines.recv().await?;
        Some((line, lines))
    }))
}

fn read_lines(mut from: impl io::BufRead, lines: &mpsc::Sender<io::Result<String>>) {
    loop {
        let mut bytes = Vec::new();
        let line = match from.by_ref().take(LINE_BYTES_MAX + 1).read_until(b'\n', &mut bytes) {
            Ok(0) => return,
            Ok(_) if bytes.len() as u64 > LINE_BYTES_MAX => Err(io::Error::other(format!(
                "the editor has sent a line of more than {LINE_BYTES_MAX} bytes"
            ))),
            // What is no UTF-8 is no JSON, which is then said.
            Ok(_) => {
                let text = String::from_utf8_lossy(&bytes);
                Ok(text.trim_end_matches(['\n', '\r']).to_owned())
            }
            Err(error) => Err(error),
        };
        let last = line.is_err();
        if lines.blocking_send(line).is_err() || last {
            return;
        }
    }
}

/// A line, and where it is said that it has left.
type Leaving = (String, oneshot::Sender<io::Result<()>>);

/// Standard output. Nothing else in this process writes to it.
pub fn outgoing(
    shown: ShownRows,
) -> io::Result<impl Sink<String, Error = io::Error> + Send + 'static> {
    let (send, lines) = mpsc::channel::<Leaving>(1);
    std::thread::Builder::new().name("acp-output".into()).spawn(move || write_lines(lines))?;
    Ok(leaving(send, shown))
}

/// Hands each line on, and its row when it has left.
fn leaving(
    send: mpsc::Sender<Leaving>,
    shown: ShownRows,
) -> impl Sink<String, Error = io::Error> + Send + 'static {
    futures::sink::unfold(send, move |send, line: String| {
        let shown = shown.clone();
        async move {
            let row = row_of(&line);
            let (done, left) = oneshot::channel();
            let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
            send.send((line, done)).await.map_err(|_| gone())?;
            left.await.map_err(|_| gone())??;
            if let Some(row) = row {
                // Whoever marks rows ends behind the last line.
                let _ = shown.send(row);
            }
            Ok(send)
        }
    })
}

fn write_lines(mut lines: mpsc::Receiver<Leaving>) {
    let mut out = io::stdout().lock();
    while let Some((mut line, done)) = lines.blocking_recv() {
        line.push('\n');
        let written = out.write_all(line.as_bytes()).and_then(|()| out.flush());
        // Whoever has gone asks no more.
        let _ = done.send(written);
    }
}

#[derive(Deserialize)]
struct Marked {
    params: Params,
}

#[derive(Deserialize)]
struct Params {
    #[serde(rename = "_meta")]
    meta: Meta,
}

#[derive(Deserialize)]
struct Meta {
    #[serde(rename = "claw/row")]
    row: i64,
}

/// The row that is shown with a line. Only the message's own mark counts, not one in what it
/// quotes.
fn row_of(line: &str) -> Option<i64> {
    if !line.contains(ROW) {
        return None;
    }
    serde_json::from_str::<Marked>(line).ok().map(|marked| marked.params.meta.row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_the_messages_own_and_nothing_that_it_quotes() {
        assert_eq!(row_of(r#"{"method":"m","params":{"a":1,"_meta":{"claw/row":7}}}"#), Some(7));
        for quoted in [
            r#"{"params":{"text":"\"claw/row\":7"}}"#,
            r#"{"params":{"update":{"_meta":{"claw/row":7}}}}"#,
            r#"{"_meta":{"claw/row":7}}"#,
        ] {
            assert_eq!(row_of(quoted), None, "{quoted}");
        }
    }

    #[tokio::test]
    async fn a_row_counts_as_shown_when_its_line_has_left_and_not_before() {
        use futures::SinkExt as _;
        let (send, mut lines) = mpsc::channel::<Leaving>(1);
        let (shown, mut rows) = mpsc::unbounded_channel();
        let mut out = Box::pin(leaving(send, shown));
        let line = |row: i64| format!(r#"{{"params":{{"_meta":{{"claw/row":{row}}}}}}}"#);
        let written = tokio::spawn(async move {
            out.send(line(1)).await.unwrap();
            out.send(line(2)).await.unwrap_err()
        });
        let (_, left) = lines.recv().await.unwrap();
        assert!(rows.try_recv().is_err(), "it is marked while its line is written");
        left.send(Ok(())).unwrap();
        assert_eq!(rows.recv().await, Some(1));
        let (_, left) = lines.recv().await.unwrap();
        left.send(Err(io::ErrorKind::BrokenPipe.into())).unwrap();
        assert_eq!(written.await.unwrap().kind(), io::ErrorKind::BrokenPipe);
        assert_eq!(rows.recv().await, None, "what did not leave is marked");
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_ends_the_input_with_a_sentence() {
        let (send, mut lines) = mpsc::channel(4);
        let long = "x".repeat(LINE_BYTES_MAX as usize + 2);
        let text = format!("a\r\n{long}\nb\n");
        tokio::task::spawn_blocking(move || read_lines(text.as_bytes(), &send)).await.unwrap();
        assert_eq!(lines.recv().await.unwrap().unwrap(), "a");
        let said = lines.recv().await.unwrap().unwrap_err().to_string();
        assert!(said.contains("16777216 bytes"), "{said}");
        assert!(lines.recv().await.is_none());
    }
}
