//! Keeps the output of one job: all of a short one, the head and the tail of a long one, which then goes whole into a
//! file of the workspace. Owns the sizes and the file; must not know where the bytes come from.
//!
//! The files are written by the boxed server, so a link that a job plants in their way leads nowhere that the job could
//! not reach by itself.

use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

use cap_std::fs::{Dir, File, OpenOptions};

/// Where whole outputs go, relative to the workspace.
const OUTPUT_DIR: &str = ".claw/output";
/// Older files are removed when a new one is made.
const OUTPUT_FILES_MAX: usize = 100;
/// Room for the words around the output in a result's text.
const WORDS_BYTES: usize = 1024;

static SEQUENCE: AtomicU32 = AtomicU32::new(0);

pub struct Capture {
    workspace: PathBuf,
    /// Bytes of output that a result may show.
    shown_max: usize,
    file_bytes_max: u64,
    /// Everything, until it grows over `shown_max`; then the head.
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    file: FileState,
}

enum FileState {
    None,
    Open { name: String, file: File, bytes: u64, full: bool },
    Failed(String),
}

/// What a result tells about the output.
#[derive(Debug, PartialEq, Eq)]
pub struct Captured {
    pub text: String,
    pub bytes: u64,
    pub truncated: bool,
    /// Relative to the workspace.
    pub file: Option<String>,
    /// Sentences about what is not as it seems.
    pub notes: Vec<String>,
}

impl Capture {
    /// `text_bytes_max` is the size of the whole text of a result; `file_bytes_max` that of the file.
    pub fn new(workspace: PathBuf, text_bytes_max: usize, file_bytes_max: u64) -> Self {
        let shown_max = text_bytes_max.saturating_sub(WORDS_BYTES);
        let (head, tail) = (Vec::new(), VecDeque::new());
        Self { workspace, shown_max, file_bytes_max, head, tail, total: 0, file: FileState::None }
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
        self.write(chunk);
    }

    fn keep_tail(&mut self, chunk: &[u8]) {
        self.tail.extend(chunk);
        let surplus = self.tail.len().saturating_sub(self.shown_max / 2);
        self.tail.drain(..surplus);
    }

    /// Makes the file and writes all that there was so far, which is `head`.
    fn open_file(&mut self) {
        self.file = match create(&self.workspace) {
            Ok((name, file)) => FileState::Open { name, file, bytes: 0, full: false },
            Err(error) => FileState::Failed(error.to_string()),
        };
        let so_far = std::mem::take(&mut self.head);
        self.write(&so_far);
        self.head = so_far;
    }

    /// Writes to the page cache of a local file; a worker thread would cost more than the write.
    fn write(&mut self, chunk: &[u8]) {
        let FileState::Open { name, file, bytes, full } = &mut self.file else { return };
        let room = usize::try_from(self.file_bytes_max - *bytes).unwrap_or(usize::MAX);
        let part = &chunk[..chunk.len().min(room)];
        *full |= part.len() < chunk.len();
        match file.write_all(part) {
            Ok(()) => *bytes += part.len() as u64,
            Err(error) => self.file = FileState::Failed(format!("{name}: {error}")),
        }
    }

    pub fn finish(mut self) -> Captured {
        let truncated = self.total > self.shown_max as u64;
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        // A character that was cut in two at the seam is not the command's fault.
        let head_end = if truncated { whole_characters(&self.head) } else { self.head.len() };
        let tail_start = tail.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
        let lossy =
            std::str::from_utf8(&self.head[..head_end]).is_err() || std::str::from_utf8(&tail[tail_start..]).is_err();
        if lossy && !truncated {
            self.open_file();
        }
        let mut notes = Vec::new();
        let name = self.file_name(&mut notes);
        if lossy {
            notes.push("Bytes that are not UTF-8 are shown as \u{fffd}; the file has them as they were.".into());
        }
        // A replacement character is longer than the byte that it stands for, so both parts are cut again.
        let mut text = cut_end(&String::from_utf8_lossy(&self.head[..head_end]), self.part_max(truncated)).to_owned();
        if truncated {
            let tail = String::from_utf8_lossy(&tail[tail_start..]);
            let tail = cut_start(&tail, self.part_max(true));
            let left_out = self.total.saturating_sub((head_end + self.tail.len() - tail_start) as u64);
            let place = name.as_ref().map_or("nothing more was kept".into(), |name| format!("see {name}"));
            text = format!("{text}\n[... {left_out} of {} bytes left out here; {place} ...]\n{tail}", self.total);
        }
        Captured { text, bytes: self.total, truncated, file: name, notes }
    }

    fn part_max(&self, truncated: bool) -> usize {
        if truncated { self.shown_max / 2 } else { self.shown_max }
    }

    fn file_name(&self, notes: &mut Vec<String>) -> Option<String> {
        match &self.file {
            FileState::None => None,
            FileState::Failed(why) => {
                notes.push(format!("The whole output could not be kept as a file: {why}."));
                None
            }
            FileState::Open { name, full, .. } => {
                if *full {
                    notes.push(format!("{name} holds only the first {} bytes.", self.file_bytes_max));
                }
                Some(name.clone())
            }
        }
    }
}

fn create(workspace: &std::path::Path) -> io::Result<(String, File)> {
    let workspace = Dir::open_ambient_dir(workspace, cap_std::ambient_authority())?;
    workspace.create_dir_all(OUTPUT_DIR)?;
    let dir = workspace.open_dir(OUTPUT_DIR)?;
    remove_oldest(&dir);
    let mut fresh = OpenOptions::new();
    fresh.write(true).create_new(true);
    // Version control need not see them. It is there already after the first time.
    if let Ok(mut ignore) = dir.open_with(".gitignore", &fresh) {
        let _ = ignore.write_all(b"*\n");
    }
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_millis());
    let name = format!("run-{now:014}-{}-{}.txt", std::process::id(), SEQUENCE.fetch_add(1, Ordering::Relaxed));
    let file = dir.open_with(&name, &fresh)?;
    Ok((format!("{OUTPUT_DIR}/{name}"), file))
}

fn remove_oldest(dir: &Dir) {
    let names = dir.entries().into_iter().flatten().flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.starts_with("run-")).collect();
    // The name begins with the time.
    names.sort_unstable();
    let surplus = (names.len() + 1).saturating_sub(OUTPUT_FILES_MAX);
    for name in &names[..surplus] {
        let _ = dir.remove_file(name);
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
        let mut capture = Capture::new(dir.path().to_owned(), 2048, file_bytes_max);
        for chunk in chunks {
            capture.push(chunk);
        }
        (dir, capture.finish())
    }

    #[test]
    fn a_short_output_is_kept_as_it_is_and_makes_no_file() {
        let (dir, captured) = captured(&[b"a", b"b\n"], 9999);
        assert_eq!(captured.text, "ab\n");
        assert!(!captured.truncated && captured.file.is_none() && !dir.path().join(".claw").exists());
    }

    #[test]
    fn head_and_tail_of_a_long_one_are_shown_and_the_file_has_all() {
        for step in [1, 7, 500, 1024, 1025, 4000] {
            let whole: Vec<u8> = (0..4000).map(|i| b'a' + (i % 26) as u8).collect();
            let chunks: Vec<&[u8]> = whole.chunks(step).collect();
            let (dir, captured) = captured(&chunks, 9999);
            let text = String::from_utf8(whole.clone()).unwrap();
            assert!(captured.text.starts_with(&text[..512]), "step {step}");
            assert!(captured.text.ends_with(&text[4000 - 512..]), "step {step}");
            assert!(
                captured.text.contains("[... 2976 of 4000 bytes left out here; see .claw/output/run-"),
                "step {step}"
            );
            assert!(captured.truncated && captured.bytes == 4000 && captured.text.len() <= 2048);
            assert_eq!(std::fs::read(dir.path().join(captured.file.unwrap())).unwrap(), whole, "step {step}");
        }
    }

    #[test]
    fn a_file_beyond_its_size_ends_there_and_says_so() {
        let (dir, captured) = captured(&[&[b'x'; 3000], &[b'y'; 3000]], 3500);
        let file = std::fs::read(dir.path().join(captured.file.unwrap())).unwrap();
        assert_eq!(file.len(), 3500);
        assert!(captured.notes[0].contains("only the first 3500 bytes"), "{:?}", captured.notes);
    }

    #[test]
    fn bytes_that_are_no_text_are_said_to_be_so_and_kept() {
        let (dir, captured) = captured(&[b"ok \xff\xfe"], 9999);
        assert_eq!(captured.text, "ok \u{fffd}\u{fffd}");
        assert!(captured.notes[0].contains("not UTF-8"));
        assert_eq!(std::fs::read(dir.path().join(captured.file.unwrap())).unwrap(), b"ok \xff\xfe");
        let (_dir, noise) = super::tests::captured(&[&[0xff; 5000]], 9999);
        assert!(noise.text.len() <= 2048, "{}", noise.text.len());
    }

    #[test]
    fn the_seam_cuts_no_character() {
        for shift in 0..4 {
            let whole = format!("{}{}", "x".repeat(shift), "ä€😀".repeat(400));
            let (_dir, captured) = captured(&[whole.as_bytes()], 9999);
            assert!(captured.truncated && captured.notes.is_empty(), "shift {shift}: {:?}", captured.notes);
            assert!(!captured.text.contains('\u{fffd}'), "shift {shift}");
        }
    }

    #[test]
    fn old_files_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let output = dir.path().join(OUTPUT_DIR);
        std::fs::create_dir_all(&output).unwrap();
        for index in 0..120 {
            std::fs::write(output.join(format!("run-{index:014}-1-0.txt")), "old").unwrap();
        }
        std::fs::write(output.join("mine.txt"), "not ours").unwrap();
        create(dir.path()).unwrap();
        let names: Vec<_> = std::fs::read_dir(&output).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names.iter().filter(|name| name.to_string_lossy().starts_with("run-")).count(), OUTPUT_FILES_MAX);
        assert!(names.contains(&"mine.txt".into()) && !names.contains(&"run-00000000000000-1-0.txt".into()));
    }
}
