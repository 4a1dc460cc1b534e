//! Lines of JSON-RPC from a stream and to one, bounded. Must not know what a line says.

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};

use super::relay::Line;

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub enum Read {
    Line(Line),
    /// One was longer than it may be, and is passed over to its end.
    TooLong,
    /// Nothing more comes.
    End,
}

/// Reads lines. A read that is dropped loses nothing of them.
pub struct Lines<R> {
    from: BufReader<R>,
    line: Line,
    bytes_max: usize,
    /// The rest of a line that is too long is on its way.
    skips: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub fn new(from: R, bytes_max: usize) -> Self {
        Self { from: BufReader::new(from), line: Line::new(), bytes_max, skips: false }
    }

    /// The next line. A stream that breaks has ended.
    pub async fn next(&mut self) -> Read {
        loop {
            let Ok(there) = self.from.fill_buf().await else { return Read::End };
            if there.is_empty() {
                return Read::End;
            }
            let end = there.iter().position(|byte| *byte == b'\n');
            let piece = &there[..end.unwrap_or(there.len())];
            if !self.skips && self.line.len() + piece.len() > self.bytes_max {
                (self.skips, self.line) = (true, Line::new());
            }
            if !self.skips {
                self.line.extend_from_slice(piece);
            }
            let used = end.map_or(there.len(), |at| at + 1);
            self.from.consume(used);
            if end.is_none() {
                continue;
            }
            if std::mem::take(&mut self.skips) {
                return Read::TooLong;
            }
            let line = std::mem::take(&mut self.line);
            if !line.iter().all(u8::is_ascii_whitespace) {
                return Read::Line(line);
            }
        }
    }
}

/// Writes a line.
///
/// # Errors
/// What the system says.
pub async fn write(to: &mut (impl AsyncWrite + Unpin), line: &[u8]) -> std::io::Result<()> {
    to.write_all(line).await?;
    to.write_all(b"\n").await?;
    to.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_come_whole_and_one_that_is_too_long_is_named_and_passed_over() {
        let text = format!("one\n\n{}\ntwo\r\nrest", "x".repeat(20_000));
        let mut lines = Lines::new(text.as_bytes(), 100);
        assert_eq!(lines.next().await, Read::Line(b"one".to_vec()));
        assert_eq!(lines.next().await, Read::TooLong);
        assert_eq!(lines.next().await, Read::Line(b"two\r".to_vec()));
        assert_eq!(lines.next().await, Read::End, "half a line is none");
    }
}
