//! The lock of a session: a `flock` on a file that is closed on exec and freed by the kernel, also on SIGKILL. Only its
//! holder appends to the session's log, starts its calls, or declares an earlier runner's call unknown.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

use crate::domain::SessionId;
use crate::store::Store;

/// Held while it lives.
#[derive(Debug)]
pub struct SessionLock {
    _file: File,
}

impl SessionLock {
    /// Takes the lock if nobody holds it; `None` if another process or task does.
    pub fn try_take(locks: &Path, session: &SessionId) -> io::Result<Option<Self>> {
        let path = locks.join(format!("session-{session}.lock"));
        // Rust opens files close-on-exec, so no child inherits the lock.
        let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// The lock together with what its holder has queued for the disk. However the holder goes (an error, a dropped future), the
/// lock is let go behind everything that was queued before, so that the next holder reads all of it.
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
        self.lock = None;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(lock) = self.lock.take() {
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
        assert!(SessionLock::try_take(dir.path(), &SessionId::new("other").unwrap()).unwrap().is_some());
        drop(held);
        assert!(SessionLock::try_take(dir.path(), &session).unwrap().is_some());
    }
}
