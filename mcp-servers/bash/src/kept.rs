//! The file in the workspace that holds the whole of a long output. Owns its name, its size and how many there are; must not know what
//! is shown of it.
//!
//! The files are written by the boxed server, so a link that a job plants in their way leads nowhere that the job could
//! not reach by itself.

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

use cap_std::fs::{Dir, File, OpenOptions};

/// Where whole outputs go, relative to the workspace.
const OUTPUT_DIR: &str = ".claw/output";
/// Older files are removed when a new one is made.
const OUTPUT_FILES_MAX: usize = 100;

static SEQUENCE: AtomicU32 = AtomicU32::new(0);

/// One output, as far as it is kept.
pub struct Kept {
    bytes_max: u64,
    /// How its name begins. Older files with the same beginning make room for it.
    kind: &'static str,
    state: State,
}

enum State {
    None,
    Open { name: String, file: File, bytes: u64, full: bool },
    Failed(String),
}

impl Kept {
    /// No file yet; one that is opened holds at most `bytes_max`, and its name begins with `kind`.
    pub fn new(kind: &'static str, bytes_max: u64) -> Self {
        Self { bytes_max, kind, state: State::None }
    }

    pub fn open(&mut self, workspace: &Path) {
        self.state = match create(workspace, self.kind) {
            Ok((name, file)) => State::Open { name, file, bytes: 0, full: false },
            Err(error) => State::Failed(error.to_string()),
        };
    }

    /// Writes to the page cache of a local file, if one is open; a worker thread would cost more than the write.
    pub fn write(&mut self, chunk: &[u8]) {
        let State::Open { name, file, bytes, full } = &mut self.state else { return };
        let room = usize::try_from(self.bytes_max - *bytes).unwrap_or(usize::MAX);
        let part = &chunk[..chunk.len().min(room)];
        *full |= part.len() < chunk.len();
        match file.write_all(part) {
            Ok(()) => *bytes += part.len() as u64,
            Err(error) => self.state = State::Failed(format!("{name}: {error}")),
        }
    }

    /// The file, relative to the workspace, if there is one; and in `notes` what is not as it seems.
    pub fn name(&self, notes: &mut Vec<String>) -> Option<String> {
        match &self.state {
            State::None => None,
            State::Failed(why) => {
                notes.push(format!("The whole output could not be kept as a file: {why}."));
                None
            }
            State::Open { name, full, .. } => {
                if *full {
                    notes.push(format!("{name} holds only the first {} bytes.", self.bytes_max));
                }
                Some(name.clone())
            }
        }
    }
}

fn create(workspace: &Path, kind: &str) -> io::Result<(String, File)> {
    let workspace = Dir::open_ambient_dir(workspace, cap_std::ambient_authority())?;
    workspace.create_dir_all(OUTPUT_DIR)?;
    let dir = workspace.open_dir(OUTPUT_DIR)?;
    remove_oldest(&dir, kind);
    let mut fresh = OpenOptions::new();
    fresh.write(true).create_new(true);
    // Version control need not see them. It is there already after the first time.
    if let Ok(mut ignore) = dir.open_with(".gitignore", &fresh) {
        let _ = ignore.write_all(b"*\n");
    }
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_millis());
    let name = format!("{kind}-{now:014}-{}-{}.txt", std::process::id(), SEQUENCE.fetch_add(1, Ordering::Relaxed));
    let file = dir.open_with(&name, &fresh)?;
    Ok((format!("{OUTPUT_DIR}/{name}"), file))
}

fn remove_oldest(dir: &Dir, kind: &str) {
    let names = dir.entries().into_iter().flatten().flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> =
        names.filter(|name| name.strip_prefix(kind).is_some_and(|rest| rest.starts_with('-'))).collect();
    // The name begins with the time.
    names.sort_unstable();
    let surplus = (names.len() + 1).saturating_sub(OUTPUT_FILES_MAX);
    for name in &names[..surplus] {
        let _ = dir.remove_file(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_files_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let output = dir.path().join(OUTPUT_DIR);
        std::fs::create_dir_all(&output).unwrap();
        for index in 0..120 {
            std::fs::write(output.join(format!("run-{index:014}-1-0.txt")), "old").unwrap();
        }
        std::fs::write(output.join("mine.txt"), "not ours").unwrap();
        create(dir.path(), "run").unwrap();
        let names: Vec<_> = std::fs::read_dir(&output).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names.iter().filter(|name| name.to_string_lossy().starts_with("run-")).count(), OUTPUT_FILES_MAX);
        assert!(names.contains(&"mine.txt".into()) && !names.contains(&"run-00000000000000-1-0.txt".into()));
    }
}
