//! The row of a model that thinks. Must not know where a row is shown.

use std::time::Instant;

use crate::wrap::width;

/// About so many bytes are one token; what a reply really took is in `/usage`.
const BYTES_PER_TOKEN: u64 = 4;

/// A model at work.
#[derive(Debug)]
pub struct Thinking {
    since: Instant,
    /// What has come of it, reasoning included.
    bytes: usize,
    /// What is shown of the time.
    seconds: u64,
}

impl Thinking {
    pub fn new(now: Instant) -> Self {
        Self { since: now, bytes: 0, seconds: 0 }
    }

    /// More has come of it.
    pub fn heard(&mut self, bytes: usize) {
        self.bytes += bytes;
    }

    /// Whether its row is another one now.
    pub fn tick(&mut self, now: Instant) -> bool {
        let seconds = now.duration_since(self.since).as_secs();
        std::mem::replace(&mut self.seconds, seconds) != seconds
    }

    /// The parts of its row that fit.
    pub fn row(&self, writes: bool, room: usize) -> String {
        let what = if writes { "writing" } else { "thinking" };
        let tokens = self.bytes as u64 / BYTES_PER_TOKEN;
        let mut row = format!("{what} … {} s · Ctrl-C stops it", self.seconds);
        let tokens = format!(" · ~{tokens} tokens");
        if width(&row) + width(&tokens) <= room {
            row.push_str(&tokens);
        }
        row
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_model_at_work_is_seen_to_be_and_its_row_fits() {
        let now = Instant::now();
        let mut thinking = Thinking::new(now);
        thinking.heard(5_000);
        assert!(!thinking.tick(now + Duration::from_millis(900)));
        assert!(thinking.tick(now + Duration::from_millis(12_300)));
        assert_eq!(thinking.row(false, 79), "thinking … 12 s · Ctrl-C stops it · ~1250 tokens");
        assert_eq!(thinking.row(true, 39), "writing … 12 s · Ctrl-C stops it");
    }
}
