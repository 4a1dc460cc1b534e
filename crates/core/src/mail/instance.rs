//! One running instance of a door: its address, and the lock that tells others that it lives. Must
//! not know what it shows.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

use super::process_lock::ProcessLock;
use crate::domain::Address;
use crate::domain::canonical::hex;

/// How old a lock file is that counts as left over.
const LEFT_AFTER: Duration = Duration::from_secs(60);

/// A look at a lock is over by then.
const LOOK_TIME: Duration = Duration::from_millis(10);
const LOOKS_WAITED_FOR: u32 = 3;

/// Held while the door is open. The kernel frees the lock when the process ends, however it ends.
#[derive(Debug)]
pub struct Instance {
    address: Address,
    path: PathBuf,
    lock: Lock,
}

/// What tells others that the instance lives.
#[derive(Debug)]
enum Lock {
    Own(#[expect(dead_code, reason = "held until the instance goes")] ProcessLock),
    Only(File),
}

impl Instance {
    /// Opens an instance of `door` with an id that nobody else has.
    pub fn open(locks: &Path, door: &str) -> io::Result<Self> {
        let mut random = [0_u8; 8];
        getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
        let id = hex(&random);
        let address = Address(format!("{door}/{id}"));
        let path = lock_path(locks, &address);
        let file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&path)?;
        Ok(Self { address, path, lock: Lock::Own(ProcessLock::take(file)?) })
    }

    /// The one instance that a home may have of this door; `None` while another one runs.
    pub fn only(locks: &Path, door: &str) -> io::Result<Option<Self>> {
        let path = locks.join(format!("{door}.lock"));
        let file =
            OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path)?;
        match only_lock(&file) {
            // The file stays: removing it would let two others lock two files of the same name.
            Ok(()) => {
                let (address, path) = (Address(door.to_owned()), PathBuf::new());
                Ok(Some(Self { address, path, lock: Lock::Only(file) }))
            }
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether the one instance of this door runs. Nothing is made by the look.
    pub fn runs(locks: &Path, door: &str) -> bool {
        let path = locks.join(format!("{door}.lock"));
        let file = OpenOptions::new().write(true).open(path);
        file.is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockShared).is_err())
    }

    /// The lock files that instances have left which were killed. Those of the last minute are not
    /// among them: a door makes its file first and locks it then.
    pub fn left_over(locks: &Path) -> io::Result<Vec<PathBuf>> {
        let mut left = Vec::new();
        for entry in std::fs::read_dir(locks)? {
            let entry = entry?;
            let name = entry.file_name();
            let is_door = name
                .to_str()
                .is_some_and(|name| name.starts_with("door-") && name.ends_with(".lock"));
            let settled =
                entry.metadata()?.modified()?.elapsed().is_ok_and(|age| age >= LEFT_AFTER);
            if is_door && settled && ProcessLock::free(&entry.path())?.is_some() {
                left.push(entry.path());
            }
        }
        left.sort();
        Ok(left)
    }

    /// Removes such a file, unless somebody holds it.
    pub fn remove_left_over(path: &Path) -> io::Result<()> {
        // Held until it is gone.
        let _held = match ProcessLock::free(path)? {
            Some(file) => file,
            None => return Ok(()),
        };
        std::fs::remove_file(path)
    }

    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Whether another instance of the same home still runs.
    pub fn knows_alive(&self, other: &Address) -> bool {
        self.path.parent().is_some_and(|locks| Self::alive(locks, other))
    }

    /// Whether the instance behind an address still runs. A lock file that nobody holds is removed.
    pub fn alive(locks: &Path, address: &Address) -> bool {
        let path = lock_path(locks, address);
        match ProcessLock::free(&path) {
            Ok(Some(_file)) => {
                // A stale file that cannot be removed is harmless: it is only looked at again.
                let _ = std::fs::remove_file(&path);
                false
            }
            Ok(None) => true,
            // What cannot be looked at now may live.
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // If this fails, the next instance finds the file unlocked and removes it.
        let _ = std::fs::remove_file(&self.path);
        if let Lock::Only(file) = &self.lock {
            // A child between its fork and its exec has a copy of the file, so that closing alone
            // would not free the lock.
            let _ = flock(file, FlockOperation::Unlock);
        }
    }
}

/// The lock of the one instance. Whoever only looks ([`Instance::runs`]) holds it for less than a
/// moment, and is waited for.
fn only_lock(file: &File) -> rustix::io::Result<()> {
    for _ in 0..LOOKS_WAITED_FOR {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Err(rustix::io::Errno::WOULDBLOCK) => std::thread::sleep(LOOK_TIME),
            done => return done,
        }
    }
    flock(file, FlockOperation::NonBlockingLockExclusive)
}

fn lock_path(locks: &Path, address: &Address) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' };
    locks.join(format!("door-{}.lock", address.0.chars().map(plain).collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alive_while_held_and_gone_after() {
        let dir = tempfile::tempdir().unwrap();
        let one = Instance::open(dir.path(), "console").unwrap();
        let address = one.address().clone();
        assert!(Instance::alive(dir.path(), &address));
        drop(one);
        assert!(!Instance::alive(dir.path(), &address));
    }

    #[test]
    fn the_one_instance_is_seen_and_not_held_up() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!Instance::runs(dir.path(), "gateway"));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "a look makes nothing");
        let one = Instance::only(dir.path(), "gateway").unwrap().unwrap();
        assert!(Instance::runs(dir.path(), "gateway"));
        assert!(Instance::only(dir.path(), "gateway").unwrap().is_none());
        drop(one);
        assert!(!Instance::runs(dir.path(), "gateway"));
        assert!(Instance::only(dir.path(), "gateway").unwrap().is_some());
    }

    #[test]
    fn a_stale_file_means_dead() {
        let dir = tempfile::tempdir().unwrap();
        let address = Address("console/00".into());
        std::fs::write(lock_path(dir.path(), &address), "").unwrap();
        assert!(!Instance::alive(dir.path(), &address));
    }
}
