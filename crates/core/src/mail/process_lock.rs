//! The lock of a file that one process holds for as long as it lives. Must not know whose file it
//! is.
//!
//! It belongs to the process (`fcntl`) and not to the open file (`flock`): a program that the
//! process is just about to start has a copy of the open file, and would hold the lock on after the
//! process was killed. Such a lock is free as soon as this process closes the file anywhere, so
//! files that it holds are known by their number and never opened a second time.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use rustix::fs::{FlockOperation, fcntl_lock};
use rustix::io::Errno;

/// Device and number of a file.
type FileId = (u64, u64);

/// The files that this process holds. Each goes with its [`ProcessLock`].
static HELD: LazyLock<Mutex<HashSet<FileId>>> = LazyLock::new(Mutex::default);

fn held() -> MutexGuard<'static, HashSet<FileId>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Held by this process. The kernel frees it when the process ends, however it ends.
#[derive(Debug)]
pub struct ProcessLock {
    _file: File,
    id: FileId,
}

impl ProcessLock {
    /// Locks a file that was opened to be written, and is open nowhere else in this process.
    pub fn take(file: File) -> io::Result<Self> {
        fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive)?;
        let metadata = file.metadata()?;
        let id = (metadata.dev(), metadata.ino());
        held().insert(id);
        Ok(Self { _file: file, id })
    }

    /// The file, locked for as long as it is open, or `None` where a process holds it.
    pub fn free(path: &Path) -> io::Result<Option<File>> {
        let metadata = std::fs::metadata(path)?;
        if held().contains(&(metadata.dev(), metadata.ino())) {
            return Ok(None);
        }
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        // Shared, because somebody who looks at the same moment must not be taken for the holder.
        match fcntl_lock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => Ok(Some(file)),
            Err(Errno::AGAIN | Errno::ACCESS) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for ProcessLock {
    fn drop(&mut self) {
        // The file is closed behind this, so its number is nobody else's yet.
        held().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn made(path: &Path) -> File {
        OpenOptions::new().create_new(true).write(true).open(path).unwrap()
    }

    #[test]
    fn a_look_at_a_file_that_is_held_frees_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let lock = ProcessLock::take(made(&path)).unwrap();
        assert!(ProcessLock::free(&path).unwrap().is_none());
        assert!(ProcessLock::free(&path).unwrap().is_none());
        drop(lock);
        assert!(ProcessLock::free(&path).unwrap().is_some());
        assert!(ProcessLock::free(&dir.path().join("none")).is_err());
    }

    /// As between the fork and the exec of a program that a killed process was about to start.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "a program that has a copy of the open file")]
    fn a_program_with_a_copy_of_the_file_holds_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let file = made(&path);
        let copy = file.try_clone().unwrap();
        let lock = ProcessLock::take(file).unwrap();
        let mut program = Command::new("sleep").arg("60").stdin(Stdio::from(copy)).spawn().unwrap();
        drop(lock);
        let is_free = ProcessLock::free(&path).unwrap().is_some();
        program.kill().unwrap();
        program.wait().unwrap();
        assert!(is_free);
    }
}
