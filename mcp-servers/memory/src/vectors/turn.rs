//! Whose turn it is to make vectors: of several processes on the same notes one, so that no note is
//! paid for twice. Owns the lock and the wait for it; must not know what is made.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

const FILE: &str = "vectors.lock";
const OWNER_ONLY: u32 = 0o600;
/// How often somebody looks who does not wait forever.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Lives as long as the server. `None` where there can be no lock: a note may be made twice there.
pub struct Turn(Option<File>);

/// Whoever has it is the one. It ends with the process at the latest.
pub struct Taken<'a>(Option<&'a File>);

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if let Some(file) = self.0 {
            let _ = flock(file, FlockOperation::Unlock);
        }
    }
}

impl Turn {
    pub fn open(state: &Path) -> Self {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(OWNER_ONLY);
        Self(options.open(state.join(FILE)).ok())
    }

    /// Waits for the turn, at most so long. `None` if it did not come.
    pub fn take(&self, time_max: Option<Duration>) -> Option<Taken<'_>> {
        let Some(file) = &self.0 else { return Some(Taken(None)) };
        let began = Instant::now();
        let operation = match time_max {
            None => FlockOperation::LockExclusive,
            Some(_) => FlockOperation::NonBlockingLockExclusive,
        };
        loop {
            match flock(file, operation) {
                Ok(()) => return Some(Taken(Some(file))),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    if time_max.is_some_and(|max| began.elapsed() >= max) {
                        return None;
                    }
                    std::thread::sleep(LOOK_EVERY);
                }
                // A file system without locks.
                Err(_) => return Some(Taken(None)),
            }
        }
    }
}
