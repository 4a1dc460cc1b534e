//! A pass over the lines of a file. Owns what fits into a reply and how far the file is looked at;
//! must not know the tool.

use std::io::{self, BufRead};

use crate::args::Limits;
use crate::cancel::Cancel;
use crate::error::{Result, ToolError};
use crate::place::Place;
use crate::tools::length;

/// A pass over a file that keeps the lines of a range as far as they fit.
pub struct Lines {
    pub first: u64,
    last: u64,
    reply_bytes_max: usize,
    pub scan_bytes_max: u64,
    pub kept: Vec<u8>,
    pub kept_first: u64,
    pub kept_last: u64,
    /// Lines seen so far.
    pub number: u64,
    pub next: Option<u64>,
    pub line_cut: bool,
    pub reached_end: bool,
}

impl Lines {
    pub fn new(first: u64, last: u64, limits: &Limits) -> Self {
        Self {
            first,
            last,
            reply_bytes_max: length(limits.read_reply_bytes_max),
            scan_bytes_max: limits.read_scan_bytes_max,
            kept: Vec::new(),
            kept_first: 0,
            kept_last: 0,
            number: 0,
            next: None,
            line_cut: false,
            reached_end: false,
        }
    }

    pub fn read(
        &mut self,
        reader: &mut impl BufRead,
        cancel: &Cancel,
        place: &Place,
    ) -> Result<()> {
        let mut scanned = 0u64;
        while scanned < self.scan_bytes_max {
            if self.number.is_multiple_of(1024) {
                cancel.check()?;
            }
            let wanted = (self.first..=self.last).contains(&(self.number + 1))
                && self.next.is_none()
                && !self.line_cut;
            let before = self.kept.len();
            let room = if wanted { self.reply_bytes_max - before } else { 0 };
            let (bytes, fitted) =
                next_line(reader, &mut self.kept, room, self.scan_bytes_max, cancel)
                    .map_err(|error| ToolError::io("read", &place.shown, &error))?;
            if bytes == 0 {
                self.reached_end = true;
                cancel.check()?;
                return Ok(());
            }
            scanned += bytes;
            self.number += 1;
            if wanted {
                self.keep(before, fitted);
            } else if self.line_cut && self.next.is_none() && self.number <= self.last {
                self.next = Some(self.number);
            }
        }
        Ok(())
    }

    /// The line is at the end of `kept` from `before` on, whole if it fitted.
    fn keep(&mut self, before: usize, fitted: bool) {
        if !fitted && before > 0 {
            self.kept.truncate(before);
            self.next = Some(self.number);
            return;
        }
        if self.kept_first == 0 {
            self.kept_first = self.number;
        }
        self.kept_last = self.number;
        self.line_cut = !fitted;
    }
}

/// Reads one line, its end included, and keeps up to `room` bytes of it. Gives its length, 0 at the
/// end of the file, and whether all of it was kept. A line of more than `bytes_max` is left in the
/// middle.
fn next_line(
    reader: &mut impl BufRead,
    kept: &mut Vec<u8>,
    room: usize,
    bytes_max: u64,
    cancel: &Cancel,
) -> io::Result<(u64, bool)> {
    let mut length = 0u64;
    let mut left = room;
    loop {
        let buffer = match reader.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(buffer.len(), |at| at + 1);
        let copied = taken.min(left);
        kept.extend_from_slice(&buffer[..copied]);
        left -= copied;
        reader.consume(taken);
        length += taken as u64;
        if end.is_some() || taken == 0 || length >= bytes_max || cancel.check().is_err() {
            return Ok((length, length <= room as u64));
        }
    }
}
