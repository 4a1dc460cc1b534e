//! The lock of a session: only its holder appends to the session's log, starts its calls, or
//! declares an earlier runner's call unknown. Owns how many holders have died in one step. Must not
//! know what a step does.
//!
//! It is a `flock` on a file beside the database that is closed on exec and freed by the kernel,
//! also on SIGKILL. No other part of claw knows that.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use claw_domain::SessionId;
use rustix::fs::{FlockOperation, flock};

use super::{Store, StoreError};

/// The folder of the files, beside the database.
const FOLDER: &str = "locks";
/// The longest note that a file can hold, in bytes: two numbers.
const NOTE_BYTES_MAX: u64 = 64;

/// Held while it lives. However its holder goes (an error, a dropped future), it is let go behind
/// everything that the holder has queued for the disk before, so that the next holder reads all of
/// it.
pub struct SessionLock {
    /// `None` only while this is dropped.
    file: Option<LockFile>,
    /// A handle: its queue is what the lock is let go behind.
    store: Store,
}

impl Store {
    /// Takes the lock of a session; `None` if another process or task holds it.
    pub fn lock_session(&self, session: &SessionId) -> Result<Option<SessionLock>, StoreError> {
        let folder = self.path().with_file_name(FOLDER);
        let file = LockFile::try_take(&folder, session).map_err(|source| {
            StoreError::SessionLock { path: folder.display().to_string(), source }
        })?;
        Ok(file.map(|file| SessionLock { file: Some(file), store: self.clone() }))
    }

    /// Whether somebody holds the lock of a session this moment. Takes nothing and leaves the note
    /// of who died in it as it is.
    pub fn session_is_held(&self, session: &SessionId) -> Result<bool, StoreError> {
        let folder = self.path().with_file_name(FOLDER);
        is_held(&folder, session).map_err(|source| StoreError::SessionLock {
            path: folder.display().to_string(),
            source,
        })
    }
}

impl SessionLock {
    /// For a holder that has waited for its last write.
    pub fn release(mut self) {
        if let Some(file) = self.file.take() {
            file.lives();
        }
    }

    /// Notes that a step begins at this length of the log, and says how many holders in a row have
    /// died in it. Needs no commit: a process that dies a moment later has written it. A disk that
    /// takes no note must not keep a turn from going on.
    pub fn begins(&self, last_seq: u64) -> u32 {
        let noted = self.file.as_ref().map_or(Ok(0), |file| file.begins(last_seq));
        noted.unwrap_or_else(|error| {
            tracing::warn!(%error, "a step cannot be noted in its session's lock");
            0
        })
    }
}

impl Drop for SessionLock {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            file.lives();
            self.store.write_soon(move |_| Ok(file));
        }
    }
}

/// The file, locked for as long as this lives.
#[derive(Debug)]
struct LockFile {
    file: File,
    /// What earlier holders have left in the file because they died.
    died: Died,
}

/// How many holders in a row have died in a step that began at this length of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Died {
    last_seq: u64,
    times: u32,
}

impl LockFile {
    fn try_take(folder: &Path, session: &SessionId) -> io::Result<Option<Self>> {
        let path = lock_path(folder, session);
        let file = match open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                DirBuilder::new().mode(0o700).recursive(true).create(folder)?;
                open(&path)?
            }
            opened => opened?,
        };
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {
                let mut note = String::new();
                // What cannot be read counts as no death.
                let died = (&file)
                    .take(NOTE_BYTES_MAX)
                    .read_to_string(&mut note)
                    .ok()
                    .and_then(|_| Died::read(&note));
                Ok(Some(Self { file, died: died.unwrap_or_default() }))
            }
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn begins(&self, last_seq: u64) -> io::Result<u32> {
        let times = if self.died.last_seq == last_seq { self.died.times } else { 0 };
        let note = format!("{last_seq} {}\n", times.saturating_add(1));
        self.file.write_all_at(note.as_bytes(), 0)?;
        self.file.set_len(note.len() as u64)?;
        Ok(times)
    }

    /// The holder goes alive, whatever it leaves to do.
    fn lives(&self) {
        // A panic is a death, too: who comes next would meet the same.
        if !std::thread::panicking()
            && let Err(error) = self.file.set_len(0)
        {
            tracing::warn!(%error, "the note in a session's lock cannot be taken back");
        }
    }
}

/// A shared lock that is let go at once: two who look do not take each other for the holder.
fn is_held(folder: &Path, session: &SessionId) -> io::Result<bool> {
    let file = match File::open(lock_path(folder, session)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        opened => opened?,
    };
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => {
            flock(&file, FlockOperation::Unlock)?;
            Ok(false)
        }
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

fn lock_path(folder: &Path, session: &SessionId) -> PathBuf {
    folder.join(format!("session-{session}.lock"))
}

/// Rust opens files close-on-exec, so no child inherits the lock.
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(false).read(true).write(true).mode(0o600).open(path)
}

impl Drop for LockFile {
    /// A child that another thread is starting this moment has a copy of the file until its exec,
    /// and would hold the lock for that long: closing alone does not free it (flock(2)).
    fn drop(&mut self) {
        if let Err(error) = flock(&self.file, FlockOperation::Unlock) {
            tracing::warn!(%error, "a session's lock cannot be let go before its file is closed");
        }
    }
}

impl Died {
    fn read(note: &str) -> Option<Self> {
        let (last_seq, times) = note.trim().split_once(' ')?;
        Some(Self { last_seq: last_seq.parse().ok()?, times: times.parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn main() -> SessionId {
        SessionId::new("main").unwrap()
    }

    /// What the holder has queued and not waited for is on the disk when the next one has it.
    #[tokio::test]
    async fn a_lock_that_is_dropped_is_let_go_behind_what_was_queued() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("claw.db")).unwrap();
        let lock = store.lock_session(&main()).unwrap().unwrap();
        let (go_on, waits) = std::sync::mpsc::channel::<()>();
        store.write_soon(move |tx| {
            waits.recv().unwrap();
            tx.set_session_workspace(&main(), Some("/queued"))
        });
        drop(lock);
        assert!(store.lock_session(&main()).unwrap().is_none(), "its row is not on the disk");
        go_on.send(()).unwrap();
        store.write(|_| Ok(())).await.unwrap();
        let lock = store.lock_session(&main()).unwrap().unwrap();
        let workspace = store.read(|tx| tx.session_workspace(&main())).unwrap();
        assert_eq!(workspace.as_deref(), Some("/queued"));
        lock.release();
        assert!(store.lock_session(&main()).unwrap().is_some());
    }

    /// Whoever looks takes no death from the note, and does not stand in the way of another look.
    #[test]
    fn a_look_at_the_lock_leaves_it_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("claw.db")).unwrap();
        assert!(!store.session_is_held(&main()).unwrap(), "nobody has ever held it");
        let lock = store.lock_session(&main()).unwrap().unwrap();
        assert_eq!(lock.begins(7), 0);
        assert!(store.session_is_held(&main()).unwrap());
        // Its holder dies: the note stays.
        let mut lock = lock;
        drop(lock.file.take().unwrap());
        assert!(!store.session_is_held(&main()).unwrap());
        let looks = File::open(lock_path(&dir.path().join(FOLDER), &main())).unwrap();
        flock(&looks, FlockOperation::NonBlockingLockShared).unwrap();
        assert!(!store.session_is_held(&main()).unwrap(), "another look holds nothing");
        drop(looks);
        let lock = store.lock_session(&main()).unwrap().unwrap();
        assert_eq!(lock.begins(7), 1, "the death is still counted");
    }

    #[test]
    fn a_lock_that_cannot_be_taken_says_where() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("claw.db")).unwrap();
        let folder = dir.path().join(FOLDER);
        std::fs::write(&folder, "").unwrap();
        let error = store.lock_session(&main()).err().unwrap().to_string();
        assert!(error.contains(&folder.display().to_string()), "{error}");
    }

    #[test]
    fn one_holder_at_a_time_and_free_when_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let session = SessionId::new("main").unwrap();
        let held = LockFile::try_take(dir.path(), &session).unwrap().unwrap();
        assert!(LockFile::try_take(dir.path(), &session).unwrap().is_none());
        assert!(
            LockFile::try_take(dir.path(), &SessionId::new("other").unwrap()).unwrap().is_some()
        );
        drop(held);
        let held = LockFile::try_take(dir.path(), &session).unwrap().unwrap();
        // What a child has between its fork and its exec.
        let copy = held.file.try_clone().unwrap();
        drop(held);
        assert!(LockFile::try_take(dir.path(), &session).unwrap().is_some());
        drop(copy);
    }

    /// A holder that is only dropped, and not let go, stands for a process that died.
    #[test]
    fn deaths_are_counted_where_the_log_has_not_grown_and_forgotten_by_who_goes_alive() {
        let dir = tempfile::tempdir().unwrap();
        let take =
            || LockFile::try_take(dir.path(), &SessionId::new("main").unwrap()).unwrap().unwrap();
        for died in 0..3 {
            assert_eq!(take().begins(7).unwrap(), died);
        }
        let lock = take();
        assert_eq!(
            (lock.begins(8).unwrap(), lock.begins(9).unwrap()),
            (0, 0),
            "there was progress"
        );
        drop(lock);
        let lock = take();
        assert_eq!(
            (lock.begins(9).unwrap(), lock.begins(9).unwrap()),
            (1, 1),
            "one holder dies once"
        );
        lock.lives();
        drop(lock);
        assert_eq!(take().begins(9).unwrap(), 0);
        std::fs::write(dir.path().join("session-main.lock"), "no numbers").unwrap();
        assert_eq!(take().begins(1).unwrap(), 0);
    }
}
