//! Keeps the output of one job: all of a short one, the head and the tail of a long one, which then
//! goes whole into a file. Owns the sizes; must not know where the bytes come from, or how the file
//! is kept.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::kept::{self, KeptOutput, Shelf};
use crate::network::HostAccount;
use crate::shell_end::ShellEnd;

/// Room for the words around the output in a result's text.
const WORDS_BYTES: usize = 1024;

pub struct Capture {
    /// Bytes of output that a result may show.
    shown_max: usize,
    /// Everything, until it grows over `shown_max`; then the head.
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    file: KeptOutput,
}

/// What a result tells about the output.
#[derive(Debug, PartialEq, Eq)]
pub struct Captured {
    pub text: String,
    pub bytes: u64,
    pub truncated: bool,
    /// An absolute path.
    pub file: Option<String>,
    /// Sentences about what is not as it seems.
    pub notes: Vec<String>,
    /// What became of the hosts that the command has named.
    pub network: Option<Vec<HostAccount>>,
    /// How the shell was left.
    pub shell: ShellEnd,
    /// What of what others obey was set aside or put back, for the owner.
    pub set_aside: Option<String>,
}

impl Capture {
    /// `text_bytes_max` is the size of the whole text of a result; `file_bytes_max` that of the
    /// file.
    pub fn new(shelf: Arc<Shelf>, text_bytes_max: usize, file_bytes_max: u64) -> Self {
        let shown_max = text_bytes_max.saturating_sub(WORDS_BYTES);
        let (head, tail) = (Vec::new(), VecDeque::new());
        Self {
            shown_max,
            head,
            tail,
            total: 0,
            file: KeptOutput::new(shelf, kept::RUN, file_bytes_max),
        }
    }

    pub fn push(&mut self, chunk: &[u8]) {
        let was_short = self.total <= self.shown_max as u64;
        self.total += chunk.len() as u64;
        if self.total <= self.shown_max as u64 {
            self.head.extend_from_slice(chunk);
            return;
        }
        if was_short {
            self.open_file();
            let rest = self.head.split_off(self.head.len().min(self.shown_max / 2));
            let missing = (self.shown_max / 2).saturating_sub(self.head.len()).min(chunk.len());
            self.head.extend_from_slice(&chunk[..missing]);
            self.tail.extend(rest);
            self.keep_tail(&chunk[missing..]);
        } else {
            self.keep_tail(chunk);
        }
        self.file.write(chunk);
    }

    fn keep_tail(&mut self, chunk: &[u8]) {
        self.tail.extend(chunk);
        let surplus = self.tail.len().saturating_sub(self.shown_max / 2);
        self.tail.drain(..surplus);
    }

    /// Makes the file and writes all that there was so far, which is `head`.
    fn open_file(&mut self) {
        self.file.open();
        self.file.write(&self.head);
    }

    pub fn finish(mut self) -> Captured {
        let truncated = self.total > self.shown_max as u64;
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        // A character that was cut in two at the seam is not the command's fault.
        let head_end = if truncated { whole_characters(&self.head) } else { self.head.len() };
        let tail_start = tail.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
        let lossy = std::str::from_utf8(&self.head[..head_end]).is_err()
            || std::str::from_utf8(&tail[tail_start..]).is_err();
        if lossy && !truncated {
            self.open_file();
        }
        let mut notes = Vec::new();
        let file = self.file.path(&mut notes);
        if lossy {
            let kept = file
                .as_ref()
                .map_or(String::new(), |file| format!("; {file} has them as they were"));
            notes.push(format!("Bytes that are not UTF-8 are shown as \u{fffd}{kept}."));
        }
        // A replacement character is longer than the byte that it stands for, so both parts are cut
        // again.
        let mut text =
            cut_end(&String::from_utf8_lossy(&self.head[..head_end]), self.part_max(truncated))
                .to_owned();
        if truncated {
            let tail = String::from_utf8_lossy(&tail[tail_start..]);
            let tail = cut_start(&tail, self.part_max(true));
            let left_out =
                self.total.saturating_sub((head_end + self.tail.len() - tail_start) as u64);
            let place = kept::place(file.as_deref());
            text = format!(
                "{text}\n[... {left_out} of {} bytes left out here; {place} ...]\n{tail}",
                self.total
            );
        }
        let (bytes, shell) = (self.total, ShellEnd::default());
        let (network, set_aside) = (None, None);
        Captured { text, bytes, truncated, file, notes, network, shell, set_aside }
    }

    fn part_max(&self, truncated: bool) -> usize {
        if truncated { self.shown_max / 2 } else { self.shown_max }
    }
}

/// The length of `bytes` without a character that is cut off at the end.
pub fn whole_characters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Ok(_) => bytes.len(),
        // Broken in the middle: look at the last three bytes alone.
        Err(_) => {
            let start = bytes.len().saturating_sub(3);
            let lead = (start..bytes.len()).rev().find(|index| bytes[*index] & 0xc0 != 0x80);
            lead.filter(|index| bytes[*index] >= 0xc0).unwrap_or(bytes.len())
        }
    }
}

fn cut_end(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

fn cut_start(text: &str, bytes_max: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes_max))..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(chunks: &[&[u8]], file_bytes_max: u64) -> (tempfile::TempDir, Captured) {
        let dir = tempfile::tempdir().unwrap();
        let mut capture = Capture::new(
            Arc::new(Shelf::new(dir.path().to_owned(), 1 << 20)),
            2048,
            file_bytes_max,
        );
        for chunk in chunks {
            capture.push(chunk);
        }
        (dir, capture.finish())
    }

    #[test]
    fn a_short_output_is_kept_as_it_is_and_makes_no_file() {
        let (dir, captured) = captured(&[b"a", b"b\n"], 9999);
        assert_eq!(captured.text, "ab\n");
        assert!(
            !captured.truncated
                && captured.file.is_none()
                && dir.path().read_dir().unwrap().next().is_none()
        );
    }

    #[test]
    fn head_and_tail_of_a_long_one_are_shown_and_the_file_has_all() {
        for step in [1, 7, 500, 1024, 1025, 4000] {
            let whole: Vec<u8> = (0..4000).map(|i| b'a' + (i % 26) as u8).collect();
            let chunks: Vec<&[u8]> = whole.chunks(step).collect();
            let (_dir, captured) = captured(&chunks, 9999);
            let text = String::from_utf8(whole.clone()).unwrap();
            assert!(captured.text.starts_with(&text[..512]), "step {step}");
            assert!(captured.text.ends_with(&text[4000 - 512..]), "step {step}");
            assert!(
                captured
                    .text
                    .contains("[... 2976 of 4000 bytes left out here; the whole is kept, "),
                "step {step}"
            );
            assert!(captured.truncated && captured.bytes == 4000 && captured.text.len() <= 2048);
            assert_eq!(std::fs::read(captured.file.unwrap()).unwrap(), whole, "step {step}");
        }
    }

    #[test]
    fn a_file_beyond_its_size_ends_there_and_says_so() {
        let (_dir, captured) = captured(&[&[b'x'; 3000], &[b'y'; 3000]], 3500);
        let file = std::fs::read(captured.file.unwrap()).unwrap();
        assert_eq!(file.len(), 3500);
        assert!(captured.notes[0].contains("only the first 3500 bytes"), "{:?}", captured.notes);
    }

    #[test]
    fn bytes_that_are_no_text_are_said_to_be_so_and_kept() {
        let (_dir, captured) = captured(&[b"ok \xff\xfe"], 9999);
        assert_eq!(captured.text, "ok \u{fffd}\u{fffd}");
        assert!(captured.notes[0].contains("not UTF-8"));
        assert_eq!(std::fs::read(captured.file.unwrap()).unwrap(), b"ok \xff\xfe");
        let (_dir, noise) = super::tests::captured(&[&[0xff; 5000]], 9999);
        assert!(noise.text.len() <= 2048, "{}", noise.text.len());
    }

    #[test]
    fn the_seam_cuts_no_character() {
        for shift in 0..4 {
            let whole = format!("{}{}", "x".repeat(shift), "ä€😀".repeat(400));
            let (_dir, captured) = captured(&[whole.as_bytes()], 9999);
            assert!(
                captured.truncated && captured.notes.is_empty(),
                "shift {shift}: {:?}",
                captured.notes
            );
            assert!(!captured.text.contains('\u{fffd}'), "shift {shift}");
        }
    }
}
