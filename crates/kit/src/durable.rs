//! Files that survive a power loss whole or are not there: written under a passing name, synced,
//! renamed, the folder synced. Owns the passing names and how one that a kill has left is told from
//! one in use; `at` does the like by the handle of a folder. Must not know what is in a file.

pub mod at;
mod unnamed;

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{CWD, FlockOperation, flock};

pub use unnamed::Unnamed;

const SUFFIX: &str = ".part";
const OWNER_ONLY: u32 = 0o600;
/// A file that is younger may belong to a process that has made it and does not hold it yet.
const SETTLED_AFTER: Duration = Duration::from_secs(60);

/// A file under a passing name beside the one that it is to become, its owner's alone. Its process
/// holds it (`flock`) until the drop, which removes what was not published. The name is random,
/// because process ids repeat in containers.
#[derive(Debug)]
pub struct Part {
    pub file: File,
    path: PathBuf,
}

impl Part {
    /// An empty file in the folder of `path`.
    ///
    /// # Errors
    /// `path` names no file, or the folder cannot be written to.
    pub fn beside(path: &Path) -> io::Result<Self> {
        let name =
            path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy().into_owned();
        let path = path.with_file_name(format!(".{name}.{}{SUFFIX}", random()?));
        let file = OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(&path)?;
        let part = Self { file, path };
        hold(&part.file)?;
        Ok(part)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Brings it to the disk and gives it its name, unless that is taken.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if the name is taken, and every failure to write.
    pub fn publish(self, path: &Path) -> io::Result<()> {
        self.file.sync_all()?;
        at::rename_new(CWD, &self.path, CWD, path)?;
        sync_folder_of(path)
    }

    /// Brings it to the disk and gives it its name, whatever had that before.
    ///
    /// # Errors
    /// Every failure to write. What had the name before is unchanged then.
    pub fn replace(self, path: &Path) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.path, path)?;
        sync_folder_of(path)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // Gone already, if it was renamed.
        let _ = fs::remove_file(&self.path);
    }
}

/// Writes a file that is not there yet, owner-only. Nothing is followed and nothing is overwritten.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] if the name is taken, and every failure to write.
pub fn write_new(path: &Path, text: &str) -> io::Result<()> {
    if path.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let mut part = Part::beside(path)?;
    part.file.write_all(text.as_bytes())?;
    part.publish(path)
}

/// Writes the whole file or leaves the old one.
///
/// # Errors
/// Every failure to write.
pub fn replace(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let mut part = Part::beside(path)?;
    part.file.set_permissions(Permissions::from_mode(mode))?;
    part.file.write_all(text.as_bytes())?;
    part.replace(path)
}

/// Makes a folder and those above it, with `mode` where they are new, and brings their names to the
/// disk.
///
/// # Errors
/// Every failure to make one.
pub fn create_dirs(path: &Path, mode: u32) -> io::Result<()> {
    let missing: Vec<&Path> = path
        .ancestors()
        .take_while(|above| !above.as_os_str().is_empty() && !above.is_dir())
        .collect();
    for folder in missing.into_iter().rev() {
        match DirBuilder::new().mode(mode).create(folder) {
            // Another process makes the same home.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
            made => made?,
        }
        sync_folder_of(folder)?;
    }
    Ok(())
}

/// Brings the names in the folder of `path` to the disk.
///
/// # Errors
/// A folder that cannot be opened or synced.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

/// Brings all of a file system to the disk: one call for thousands of files. `any` is a file or a
/// folder of it.
///
/// # Errors
/// What syncfs(2) reports. Where the system has no such call, all file systems are synced, and that
/// reports nothing.
pub fn sync_file_system(any: &File) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    return Ok(rustix::fs::syncfs(any)?);
    #[cfg(not(target_os = "linux"))]
    {
        rustix::fs::sync();
        any.metadata().map(drop)
    }
}

/// Marks a file or folder under a passing name as in use, as long as it is open.
///
/// # Errors
/// Somebody else holds it.
pub fn hold(file: &File) -> io::Result<()> {
    Ok(flock(file, FlockOperation::NonBlockingLockExclusive)?)
}

/// The end of a passing name.
///
/// # Errors
/// The system has no random numbers.
pub fn random() -> io::Result<String> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(format!("{:016x}", u64::from_ne_bytes(bytes)))
}

/// What processes that were killed have left in `folder` under names of the kind `is`: what nobody
/// holds any more.
pub fn abandoned(folder: &Path, is: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let found = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut left: Vec<PathBuf> = found
        .filter(|entry| entry.file_name().to_str().is_some_and(&is))
        .map(|entry| entry.path())
        .filter(|path| nobody_holds(path))
        .collect();
    left.sort();
    left
}

/// Whether a name is one that [`Part`] gives.
pub fn is_part(name: &str) -> bool {
    let random =
        name.strip_suffix(SUFFIX).and_then(|rest| rest.rsplit_once('.')).map(|(_, random)| random);
    name.starts_with('.')
        && random.is_some_and(|random| {
            random.len() == 16 && random.bytes().all(|b| b.is_ascii_hexdigit())
        })
}

fn nobody_holds(path: &Path) -> bool {
    let settled = || path.symlink_metadata()?.modified()?.elapsed().map_err(io::Error::other);
    if !settled().is_ok_and(|age| age >= SETTLED_AFTER) {
        return false;
    }
    File::open(path).is_ok_and(|file| hold(&file).is_ok())
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn a_file_is_there_whole_or_not_at_all_and_nothing_is_left_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        write_new(&path, "one").unwrap();
        assert_eq!(write_new(&path, "two").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        let late = Part::beside(&path).unwrap();
        assert_eq!(late.publish(&path).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        replace(&path, "three", 0o640).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "three");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_a_kill_has_left_is_told_from_what_is_in_use() {
        let dir = tempfile::tempdir().unwrap();
        let used = Part::beside(&dir.path().join("a")).unwrap();
        let left = dir.path().join(".a.0123456789abcdef.part");
        let young = dir.path().join(".b.0123456789abcdef.part");
        let mine = dir.path().join(".notes.part");
        for path in [&left, &young, &mine] {
            fs::write(path, "").unwrap();
        }
        let long_ago = SystemTime::now() - Duration::from_secs(3600);
        for path in [used.path(), &left, &mine] {
            File::options().write(true).open(path).unwrap().set_modified(long_ago).unwrap();
        }
        assert!(is_part(used.path().file_name().unwrap().to_str().unwrap()));
        assert_eq!(abandoned(dir.path(), is_part), [left]);
    }
}
