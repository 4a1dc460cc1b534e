//! A private directory of one server: for its jobs' temporary files, or for the outputs that it
//! keeps. Owns its making and the sweeping of what killed servers left. Must not know jobs.
//!
//! It lies in the system's temporary directory and not in the workspace, because tools look upwards
//! from there for a repository or a project. The box does not let the server remove an entry of
//! that directory, so an ended server leaves empty directories, and the next one sweeps them: a
//! lock that the kernel frees tells the dead from the living.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{FlockOperation, flock};

use crate::error::StartError;

pub struct Scratch {
    path: PathBuf,
    /// Held as long as the server lives; the descriptor is close-on-exec, so no job keeps it.
    _lock: File,
}

impl Scratch {
    /// Must run before the box is closed.
    pub fn new(purpose: &str) -> Result<Self, StartError> {
        let base = std::env::temp_dir();
        Self::within(&base, purpose).map_err(|source| StartError::Scratch { path: base, source })
    }

    fn within(base: &Path, purpose: &str) -> io::Result<Self> {
        let user = rustix::process::geteuid().as_raw();
        let shelf = base.join(format!("claw-bash-{user}"));
        make_private(&shelf)?;
        // Somebody else may have made a directory of that name in a shared /tmp.
        let meta = fs::symlink_metadata(&shelf)?;
        if !meta.is_dir() || meta.uid() != user || meta.mode() & 0o077 != 0 {
            return Err(io::Error::other(format!(
                "{} belongs to somebody else or is open to others",
                shelf.display()
            )));
        }
        sweep(&shelf);
        let shelf = shelf.canonicalize()?;
        let nanos = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(0, |since| since.as_nanos());
        let path = shelf.join(format!("{}-{nanos:x}-{purpose}", std::process::id()));
        DirBuilder::new().mode(0o700).create(&path)?;
        let lock = File::open(&path)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self { path, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes what is left in it. Works inside the box, which keeps the directory itself.
    pub fn clear(self) {
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let _ = if is_dir {
                fs::remove_dir_all(entry.path())
            } else {
                fs::remove_file(entry.path())
            };
        }
        // Succeeds where there is no box.
        let _ = fs::remove_dir(&self.path);
    }
}

/// Makes a directory for its owner alone, unless something of that name is there.
pub fn make_private(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

/// A server that starts right now may lose its still unlocked directory to this; it then fails to
/// lock it or its jobs say so, and the moment is microseconds long. Directories younger than a
/// minute are therefore left alone.
fn sweep(shelf: &Path) {
    for entry in fs::read_dir(shelf).into_iter().flatten().flatten() {
        let path = entry.path();
        let old = entry
            .metadata()
            .and_then(|meta| meta.modified())
            .is_ok_and(|at| at.elapsed().is_ok_and(|age| age.as_secs() >= 60));
        let dead = || {
            File::open(&path)
                .is_ok_and(|dir| flock(&dir, FlockOperation::NonBlockingLockExclusive).is_ok())
        };
        if old && dead() {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// A TMPDIR of a command; one of its own goes with it.
pub struct JobScratch {
    pub path: PathBuf,
    pub is_own: bool,
}

impl Drop for JobScratch {
    fn drop(&mut self) {
        if self.is_own {
            // What cannot be removed goes with the server's own directory.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_servers_directory_is_swept_and_a_living_ones_is_not() {
        let base = tempfile::tempdir().unwrap();
        let living = Scratch::within(base.path(), "tmp").unwrap();
        let shelf = living.path().parent().unwrap().to_owned();
        let dead = shelf.join("1-dead");
        let young = shelf.join("2-young");
        for dir in [&dead, &young] {
            fs::create_dir_all(dir.join("left/over")).unwrap();
        }
        let long_ago = fs::FileTimes::new().set_modified(SystemTime::UNIX_EPOCH);
        for dir in [&dead, &living.path().to_owned()] {
            File::open(dir).unwrap().set_times(long_ago).unwrap();
        }
        let next = Scratch::within(base.path(), "tmp").unwrap();
        assert!(!dead.exists());
        assert!(young.exists() && living.path().exists() && next.path().exists());
    }

    #[test]
    fn a_directory_that_is_open_to_others_is_refused() {
        let base = tempfile::tempdir().unwrap();
        let shelf = base.path().join(format!("claw-bash-{}", rustix::process::geteuid().as_raw()));
        DirBuilder::new().create(&shelf).unwrap();
        fs::set_permissions(&shelf, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
        assert!(Scratch::within(base.path(), "tmp").is_err());
    }
}
