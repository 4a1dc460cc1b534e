//! The lock of a session: a `flock` on a file that is closed on exec and freed by the kernel, also
//! on SIGKILL. Only its holder appends to the session's log, starts its calls, or declares an
//! earlier runner's call unknown.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

use crate::domain::SessionId;
use crate::store::Store;

/// Held while it lives.
#[derive(Debug)]
pub struct SessionLock {
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

/// The longest note that a file can hold, in bytes: two numbers.
const NOTE_BYTES_MAX: u64 = 64;

impl SessionLock {
    /// Takes the lock if nobody holds it; `None` if another process or task does.
    pub fn try_take(locks: &Path, session: &SessionId) -> io::Result<Option<Self>> {
        let path = locks.join(format!("session-{session}.lock"));
        // Rust opens files close-on-exec, so no child inherits the lock.
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .mode(0o600)
            .open(path)?;
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
}

impl Drop for SessionLock {
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

impl SessionLock {
    /// Notes in the lock's file that a step begins at this length of the log, and says how many
    /// holders in a row have died in it. The file and not the store, because it needs no wait: a
    /// process that dies a moment later has written it.
    pub(super) fn begins(&self, last_seq: u64) -> io::Result<u32> {
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

/// The lock together with what its holder has queued for the disk. However the holder goes (an
/// error, a dropped future), the lock is let go behind everything that was queued before, so that
/// the next holder reads all of it.
pub(super) struct Held {
    lock: Option<SessionLock>,
    store: Store,
}

impl Held {
    pub(super) fn new(lock: SessionLock, store: Store) -> Self {
        Self { lock: Some(lock), store }
    }

    /// For a holder that has waited for its last write.
    pub(super) fn release(mut self) {
        if let Some(lock) = self.lock.take() {
            lock.lives();
        }
    }

    /// See [`SessionLock::begins`]. A disk that takes no note must not keep a turn from going on.
    pub(super) fn begins(&self, last_seq: u64) -> u32 {
        let noted = self.lock.as_ref().map_or(Ok(0), |lock| lock.begins(last_seq));
        noted.unwrap_or_else(|error| {
            tracing::warn!(%error, "a step cannot be noted in its session's lock");
            0
        })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(lock) = self.lock.take() {
            lock.lives();
            self.store.write_soon(move |_| Ok(lock));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holder_at_a_time_and_free_when_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let session = SessionId::new("main").unwrap();
        let held = SessionLock::try_take(dir.path(), &session).unwrap().unwrap();
        assert!(SessionLock::try_take(dir.path(), &session).unwrap().is_none());
        assert!(
            SessionLock::try_take(dir.path(), &SessionId::new("other").unwrap()).unwrap().is_some()
        );
        drop(held);
        let held = SessionLock::try_take(dir.path(), &session).unwrap().unwrap();
        // What a child has between its fork and its exec.
        let copy = held.file.try_clone().unwrap();
        drop(held);
        assert!(SessionLock::try_take(dir.path(), &session).unwrap().is_some());
        drop(copy);
    }

    /// A holder that is only dropped, and not let go, stands for a process that died.
    #[test]
    fn deaths_are_counted_where_the_log_has_not_grown_and_forgotten_by_who_goes_alive() {
        let dir = tempfile::tempdir().unwrap();
        let take = || {
            SessionLock::try_take(dir.path(), &SessionId::new("main").unwrap()).unwrap().unwrap()
        };
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
