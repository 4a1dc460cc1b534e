//! The files that hold the whole of long outputs, in a folder outside of the workspace. Owns their
//! names, how many there are, and how large one and all of them together may grow; must not know
//! what is shown of them.
//!
//! Commands may read the folder and not write to it (`confine::isolate_this_thread`). Several
//! servers may share one; each looks at what is really there before it writes one more
//! `GRANT_BYTES`.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use cap_std::fs::{Dir, File, MetadataExt as _, OpenOptions};

/// How the names begin. Nothing else in the folder is touched.
const KINDS: [&str; 2] = [RUN, JOB];
pub const RUN: &str = "run";
pub const JOB: &str = "job";
/// Files of one kind; older ones are removed when a new one is made.
const OUTPUT_FILES_MAX: usize = 100;
/// Bytes that may be written between two looks at the folder.
const GRANT_BYTES: u64 = 1024 * 1024;

static SEQUENCE: AtomicU32 = AtomicU32::new(0);

/// The folder with all outputs that are kept. Lives as long as the server, the folder longer.
pub struct Shelf {
    /// An existing folder.
    path: PathBuf,
    /// Bytes of all of them together.
    bytes_max: u64,
    /// Bytes that may be written before the next look.
    granted: Mutex<u64>,
}

/// One output, as far as it is kept. Owned by the job that writes it.
pub struct KeptOutput {
    /// The server's own.
    shelf: Arc<Shelf>,
    /// Of this one.
    bytes_max: u64,
    /// One of [`KINDS`].
    kind: &'static str,
    /// Older outputs that were removed for this one.
    removed: usize,
    /// Holds the open file. It is closed when this is dropped.
    state: State,
}

enum State {
    None,
    Open {
        name: String,
        file: File,
        bytes: u64,
        full: Option<Full>,
    },
    /// Somebody made room for a newer one.
    Gone(String),
    Failed(String),
}

/// Which size ended a file.
#[derive(Clone, Copy)]
enum Full {
    Itself,
    All,
}

impl Shelf {
    /// `path` is an existing folder; `bytes_max` is for all files in it together, in bytes.
    pub fn new(path: PathBuf, bytes_max: u64) -> Self {
        Self { path, bytes_max, granted: Mutex::new(0) }
    }

    fn create(&self, kind: &str) -> io::Result<(String, File, usize)> {
        let dir = self.open()?;
        let removed = remove_surplus(&dir, kind);
        let mut fresh = OpenOptions::new();
        fresh.write(true).create_new(true);
        let now = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(0, |since| since.as_millis());
        let name = format!(
            "{kind}-{now:014}-{}-{}.txt",
            std::process::id(),
            SEQUENCE.fetch_add(1, Ordering::Relaxed)
        );
        let file = dir.open_with(&name, &fresh)?;
        Ok((name, file, removed))
    }

    /// Writes as much of `part` as there is room for, after the oldest other outputs have made
    /// some. Gives the bytes that were written, and how many outputs were removed.
    fn write(&self, name: &str, file: &mut File, part: &[u8]) -> io::Result<(usize, usize)> {
        let mut granted = self.granted.lock().unwrap_or_else(PoisonError::into_inner);
        let mut removed = 0;
        if *granted < part.len() as u64 {
            (*granted, removed) =
                self.look(name, GRANT_BYTES.min(self.bytes_max / 16).max(part.len() as u64))?;
        }
        let fits = part.len().min(usize::try_from(*granted).unwrap_or(usize::MAX));
        file.write_all(&part[..fits])?;
        *granted -= fits as u64;
        Ok((fits, removed))
    }

    /// Removes the oldest files but `spared` until `wanted` bytes fit. Gives the bytes that fit, up
    /// to `wanted`, and how many were removed.
    fn look(&self, spared: &str, wanted: u64) -> io::Result<(u64, usize)> {
        let dir = self.open()?;
        let files = files(&dir, &KINDS);
        let sizes =
            files.iter().map(|name| dir.symlink_metadata(name).map_or(0, |meta| meta.len()));
        let mut files: Vec<(String, u64)> = files.iter().cloned().zip(sizes).collect();
        let mut total: u64 = files.iter().map(|(_, bytes)| bytes).sum();
        files.retain(|(name, _)| name != spared);
        let mut removed = 0;
        for (name, bytes) in files {
            if total.saturating_add(wanted) <= self.bytes_max {
                break;
            }
            if remove(&dir, &name) {
                total -= bytes;
                removed += 1;
            }
        }
        Ok((self.bytes_max.saturating_sub(total).min(wanted), removed))
    }

    fn open(&self) -> io::Result<Dir> {
        Dir::open_ambient_dir(&self.path, cap_std::ambient_authority())
    }

    fn shown(&self, name: &str) -> String {
        self.path.join(name).display().to_string()
    }
}

impl KeptOutput {
    /// No file yet; one that is opened holds at most `bytes_max`, and its name begins with `kind`.
    pub fn new(shelf: Arc<Shelf>, kind: &'static str, bytes_max: u64) -> Self {
        Self { shelf, bytes_max, kind, removed: 0, state: State::None }
    }

    pub fn open(&mut self) {
        self.state = match self.shelf.create(self.kind) {
            Ok((name, file, removed)) => {
                self.removed += removed;
                State::Open { name, file, bytes: 0, full: None }
            }
            Err(error) => State::Failed(error.to_string()),
        };
    }

    /// Writes to the page cache of a local file, if one is open; a worker thread would cost more
    /// than the write.
    pub fn write(&mut self, chunk: &[u8]) {
        self.see_whether_gone();
        let State::Open { name, file, bytes, full } = &mut self.state else { return };
        if full.is_some() {
            return;
        }
        let room = usize::try_from(self.bytes_max.saturating_sub(*bytes)).unwrap_or(usize::MAX);
        let part = &chunk[..chunk.len().min(room)];
        match self.shelf.write(name, file, part) {
            Ok((written, removed)) => {
                *bytes += written as u64;
                self.removed += removed;
                *full = match () {
                    () if written < part.len() => Some(Full::All),
                    () if part.len() < chunk.len() => Some(Full::Itself),
                    () => None,
                };
            }
            Err(error) => self.state = State::Failed(format!("{name}: {error}")),
        }
    }

    /// A file that was removed while it was written takes no more.
    fn see_whether_gone(&mut self) {
        if let State::Open { name, file, .. } = &self.state
            && file.metadata().is_ok_and(|meta| meta.nlink() == 0)
        {
            self.state = State::Gone(name.clone());
        }
    }

    /// The file, if there is one, as an absolute path; and in `notes` what is not as it seems.
    pub fn path(&mut self, notes: &mut Vec<String>) -> Option<String> {
        self.see_whether_gone();
        let limit = format!(
            "all kept output together may take {} bytes (`command_output_kept_bytes_max`)",
            self.shelf.bytes_max
        );
        if self.removed > 0 {
            let files = if self.removed == 1 { "output was" } else { "outputs were" };
            notes.push(format!(
                "The {} oldest kept {files} removed: {limit}, in {OUTPUT_FILES_MAX} files of a kind.",
                self.removed
            ));
        }
        match &self.state {
            State::None => None,
            State::Failed(why) => {
                notes.push(format!("The whole output could not be kept as a file: {why}."));
                None
            }
            State::Gone(name) => {
                notes.push(format!(
                    "{} was removed for newer output: {limit}.",
                    self.shelf.shown(name)
                ));
                None
            }
            State::Open { name, full, bytes, .. } => {
                let path = self.shelf.shown(name);
                match full {
                    Some(Full::Itself) => {
                        notes.push(format!("{path} holds only the first {bytes} bytes."))
                    }
                    Some(Full::All) => {
                        notes.push(format!("{path} holds only the first {bytes} bytes: {limit}."))
                    }
                    None => {}
                }
                Some(path)
            }
        }
    }
}

/// Where the rest of an output is, and how a model reads it.
pub fn place(path: Option<&str>) -> String {
    path.map_or("nothing more was kept".into(), |path| {
        format!(
            "the whole is kept, read it with the tool `run`: sed -n '1,80p' {}",
            quoted(Path::new(path))
        )
    })
}

/// As a shell takes it for one word.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@:,".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// The outputs of these kinds, the oldest first.
fn files(dir: &Dir, kinds: &[&str]) -> Vec<String> {
    let ours = |name: &String| kinds.iter().any(|kind| moment(name, kind).is_some());
    let names = dir
        .entries()
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(ours).collect();
    // All kinds have names of one length, and the time comes first after it.
    names.sort_by(|one, other| one[RUN.len()..].cmp(&other[JOB.len()..]));
    names
}

/// The part of a name of ours that begins with the time.
fn moment<'a>(name: &'a str, kind: &str) -> Option<&'a str> {
    let rest = name.strip_prefix(kind)?.strip_prefix('-')?.strip_suffix(".txt")?;
    rest.chars().all(|c| c.is_ascii_digit() || c == '-').then_some(rest)
}

fn remove_surplus(dir: &Dir, kind: &str) -> usize {
    let names = files(dir, &[kind]);
    let surplus = (names.len() + 1).saturating_sub(OUTPUT_FILES_MAX);
    names[..surplus].iter().filter(|name| remove(dir, name)).count()
}

/// Empties the file first: whoever still holds it open would keep its space.
fn remove(dir: &Dir, name: &str) -> bool {
    if dir.symlink_metadata(name).is_ok_and(|meta| meta.is_file()) {
        let _ = dir.open_with(name, OpenOptions::new().write(true).truncate(true));
    }
    dir.remove_file(name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shelf(bytes_max: u64) -> (tempfile::TempDir, Arc<Shelf>) {
        let dir = tempfile::tempdir().unwrap();
        let shelf = Arc::new(Shelf::new(dir.path().to_owned(), bytes_max));
        (dir, shelf)
    }

    #[test]
    fn old_files_are_removed() {
        let (dir, shelf) = shelf(1 << 20);
        for index in 0..120 {
            std::fs::write(dir.path().join(format!("run-{index:014}-1-0.txt")), "old").unwrap();
        }
        std::fs::write(dir.path().join("run-mine.txt"), "not ours").unwrap();
        assert_eq!(shelf.create(RUN).unwrap().2, 21);
        let names = files(&shelf.open().unwrap(), &[RUN]);
        assert_eq!(names.len(), OUTPUT_FILES_MAX);
        assert_eq!(names[0], "run-00000000000021-1-0.txt");
        assert!(dir.path().join("run-mine.txt").exists());
    }

    #[test]
    fn a_file_that_still_grows_takes_no_space_once_it_is_removed() {
        let (_dir, shelf) = shelf(3000);
        let mut old = KeptOutput::new(shelf.clone(), JOB, 9999);
        old.open();
        old.write(&[b'x'; 2000]);
        let mut new = KeptOutput::new(shelf.clone(), RUN, 9999);
        new.open();
        new.write(&[b'y'; 2000]);
        let State::Open { file, .. } = &old.state else { panic!("nobody has looked yet") };
        assert_eq!(file.metadata().unwrap().len(), 0);
        old.write(b"more");
        let mut notes = Vec::new();
        assert_eq!(old.path(&mut notes), None);
        assert!(notes[0].contains("was removed for newer output"), "{notes:?}");
        notes.clear();
        assert!(new.path(&mut notes).is_some());
        assert!(
            notes[0].starts_with("The 1 oldest kept output was removed: all kept output together"),
            "{notes:?}"
        );
    }

    #[test]
    fn a_path_with_a_blank_is_one_word() {
        assert_eq!(quoted(Path::new("/a b/it's")), r"'/a b/it'\''s'");
        assert_eq!(quoted(Path::new("/a/b-1.txt")), "/a/b-1.txt");
    }
}
