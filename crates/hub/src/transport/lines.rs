//! Lines from a stranger: newline-delimited frames with an upper limit on memory. Must not know
//! what a line says.

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// Kept for the next line; a larger buffer is given back after the line that needed it.
const KEPT_BYTES_MAX: usize = 256 * 1024;
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
const READ_BYTES: usize = 32 * 1024;

/// One step of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A whole line is in [`LineReader::line`].
    Whole,
    /// The line passed the limit; the rest of it is skipped.
    TooLong,
    /// The end of the stream, or an error of it. A last line without a newline is no message.
    End,
}

pub(crate) struct LineReader<R> {
    read: BufReader<R>,
    line: Vec<u8>,
    /// `line` has been handed out and is cleared at the next step.
    taken: bool,
    skipping: bool,
    bytes_max: usize,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(crate) fn new(read: R, bytes_max: usize) -> Self {
        let read = BufReader::with_capacity(READ_BYTES, read);
        Self { read, line: Vec::new(), taken: false, skipping: false, bytes_max }
    }

    /// The line of the last [`Line::Whole`], without its end.
    pub(crate) fn line(&self) -> &[u8] {
        self.line.strip_suffix(b"\r").unwrap_or(&self.line)
    }

    /// The line as JSON; `None` for an empty one. A byte order mark in front is allowed (RFC 8259
    /// section 8.1).
    pub(crate) fn json(&self) -> Option<serde_json::Result<Value>> {
        let line = self.line();
        let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line).trim_ascii();
        (!line.is_empty()).then(|| serde_json::from_slice(line))
    }

    /// Reads on. Safe to cancel: what has been read stays for the next call.
    pub(crate) async fn next(&mut self) -> Line {
        if std::mem::take(&mut self.taken) {
            self.line.clear();
            self.line.shrink_to(KEPT_BYTES_MAX);
        }
        loop {
            let Ok(available) = self.read.fill_buf().await else { return Line::End };
            if available.is_empty() {
                return Line::End;
            }
            // There is no await from here to `consume`, so nothing is lost or read twice.
            let newline = available.iter().position(|byte| *byte == b'\n');
            let part = available.get(..newline.unwrap_or(available.len())).unwrap_or(available);
            let consumed = part.len() + usize::from(newline.is_some());
            let too_long = !self.skipping && self.line.len() + part.len() > self.bytes_max;
            if too_long {
                self.line = Vec::new();
            } else if !self.skipping {
                self.line.extend_from_slice(part);
            }
            self.read.consume(consumed);
            let was_skipping = self.skipping;
            self.skipping = (self.skipping || too_long) && newline.is_none();
            if too_long {
                return Line::TooLong;
            }
            if newline.is_some() && !was_skipping {
                self.taken = true;
                return Line::Whole;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read_all(input: &'static [u8], bytes_max: usize) -> Vec<Result<String, Line>> {
        let mut reader = LineReader::new(input, bytes_max);
        let mut seen = Vec::new();
        loop {
            match reader.next().await {
                Line::Whole => seen.push(Ok(String::from_utf8_lossy(reader.line()).into_owned())),
                Line::End => return seen,
                other => seen.push(Err(other)),
            }
        }
    }

    #[tokio::test]
    async fn a_line_past_the_limit_is_skipped_and_the_next_one_is_read() {
        let seen = read_all(b"one\r\n12345678901\n\n1234567890\nunended", 10).await;
        let expected =
            [Ok("one".into()), Err(Line::TooLong), Ok(String::new()), Ok("1234567890".into())];
        assert_eq!(seen, expected);
    }

    #[tokio::test]
    async fn memory_stays_bounded_without_any_newline() {
        let endless = tokio::io::repeat(b'x');
        let mut reader =
            LineReader::new(tokio::io::AsyncReadExt::take(endless, 3_000_000), 1_000_000);
        assert_eq!(reader.next().await, Line::TooLong);
        assert_eq!(reader.next().await, Line::End);
        assert!(reader.line.capacity() < 1_000_000);
    }
}
