//! A server's stderr: drained to its end, so that it never blocks the server (trap 10), passed on
//! line by line up to a limit, and its last lines kept for the reason of a failure. Must not know
//! processes.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt as _};

use crate::settings::LogSink;

const TAIL_BYTES_MAX: usize = 2048;
const LINE_BYTES_MAX: usize = 8 * 1024;

/// The last bytes that a server wrote to stderr.
#[derive(Clone, Debug, Default)]
pub(crate) struct StderrTail(Arc<Mutex<Vec<u8>>>);

impl StderrTail {
    fn push(&self, bytes: &[u8]) {
        let mut tail = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend_from_slice(bytes);
        let surplus = tail.len().saturating_sub(TAIL_BYTES_MAX);
        tail.drain(..surplus);
    }

    /// What is kept of it.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    /// The last `lines_max` lines that are not empty, joined by ` | `, behind the first one that
    /// speaks of an error: what stands last of a long trace seldom says what is wrong. Empty if
    /// there are none.
    pub(crate) fn last_lines(&self, lines_max: usize) -> String {
        let text = self.text();
        let lines: Vec<&str> =
            text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let (before, last) = lines.split_at(lines.len().saturating_sub(lines_max));
        let is_error = |line: &&&str| line.to_lowercase().contains("error");
        let first = before.iter().find(is_error).filter(|_| !last.iter().any(|l| is_error(&l)));
        first.into_iter().chain(last).copied().collect::<Vec<_>>().join(" | ")
    }
}

/// Reads `stderr` until it ends.
pub(crate) async fn drain(
    server: String,
    mut stderr: impl AsyncRead + Unpin,
    tail: StderrTail,
    log: LogSink,
    bytes_max: usize,
) {
    let mut chunk = vec![0; 8 * 1024];
    let mut line: Vec<u8> = Vec::new();
    let mut left = bytes_max;
    while let Ok(count @ 1..) = stderr.read(&mut chunk).await {
        let bytes = chunk.get(..count).unwrap_or_default();
        tail.push(bytes);
        if left == 0 {
            continue;
        }
        let bytes = bytes.get(..left.min(count)).unwrap_or_default();
        left -= bytes.len();
        for byte in bytes {
            if *byte != b'\n' {
                line.push(*byte);
            }
            if *byte == b'\n' || line.len() >= LINE_BYTES_MAX {
                emit(&server, &mut line, &log);
            }
        }
        if left == 0 {
            emit(&server, &mut line, &log);
            log(
                &server,
                &format!(
                    "[claw drops the rest of this server's stderr: it wrote more than {bytes_max} \
                     bytes]"
                ),
            );
        }
    }
    emit(&server, &mut line, &log);
}

fn emit(server: &str, line: &mut Vec<u8>, log: &LogSink) {
    let text = String::from_utf8_lossy(line).trim_end().to_owned();
    line.clear();
    if !text.is_empty() {
        log(server, &text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_names_the_error_stands_before_the_end_of_a_trace() {
        let tail = StderrTail::default();
        tail.push(b"loader:1228\n  throw err;\n\nError: Cannot find module '/x.js'\n  at a\n  at b\n}\nNode.js v22\n");
        assert_eq!(tail.last_lines(2), "Error: Cannot find module '/x.js' | } | Node.js v22");
        tail.push(b"Error: again\n");
        assert_eq!(tail.last_lines(2), "Node.js v22 | Error: again");
    }

    #[tokio::test]
    async fn lines_come_through_up_to_the_limit_and_the_tail_is_kept() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sink = seen.clone();
        let log: LogSink = Arc::new(move |_, line| sink.lock().unwrap().push(line.to_owned()));
        let tail = StderrTail::default();
        drain("s".into(), &b"one\ntwo\nthree\nlast words\n"[..], tail.clone(), log, 9).await;
        let seen = seen.lock().unwrap();
        assert_eq!(seen[..3], ["one", "two", "t"]);
        assert!(seen[3].contains("more than 9 bytes"), "{seen:?}");
        assert_eq!(seen.len(), 4);
        assert_eq!(tail.last_lines(2), "three | last words");
    }
}
