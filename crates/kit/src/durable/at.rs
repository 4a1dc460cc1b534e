//! Durable files by the handle of an open folder, which is never left: a name is a single one, no
//! path. Owns in which order names change, so that a kill or a power loss leaves every text that
//! was there under one name or another. Must not know what is in a file.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, Mode, OFlags, RenameFlags, fsync, linkat, openat, renameat, renameat_with, statat,
    unlinkat,
};
use rustix::io::Errno;

use super::{SUFFIX, random};
use crate::killpoint;

/// Writes a file that is not there yet. `mode` is cut by the umask.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] if the name is taken, and every failure to write.
pub fn write_new(folder: impl AsFd, name: &str, bytes: &[u8], mode: u32) -> io::Result<()> {
    let folder = folder.as_fd();
    let passing = written(folder, name, bytes, mode)?;
    killpoint::here("durable-written");
    if let Err(error) = rename_new(folder, &passing, folder, name) {
        let _ = unlinkat(folder, &passing, AtFlags::empty());
        return Err(error);
    }
    sync(folder)
}

/// Writes a file in place of another, which stays under a passing name that is given. What was
/// written to the other one until this moment is in it.
///
/// # Errors
/// There is no file of that name, and every failure to write. All is as it was then.
pub fn swap(folder: impl AsFd, name: &str, bytes: &[u8], mode: u32) -> io::Result<String> {
    let folder = folder.as_fd();
    let passing = written(folder, name, bytes, mode)?;
    killpoint::here("durable-written");
    let swapped = match renameat_with(folder, &passing, folder, name, RenameFlags::EXCHANGE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => swap_by_link(folder, name, &passing),
        done => done.map(|()| passing.clone()).map_err(io::Error::from),
    };
    killpoint::here("durable-swapped");
    match swapped {
        Ok(old) => sync(folder).map(|()| old),
        Err(error) => {
            let _ = unlinkat(folder, &passing, AtFlags::empty());
            Err(error)
        }
    }
}

/// Where two names cannot be exchanged: a second name for the old file first.
fn swap_by_link(folder: impl AsFd, name: &str, passing: &str) -> io::Result<String> {
    let folder = folder.as_fd();
    let old = passing_name(name)?;
    linkat(folder, name, folder, old.as_str(), AtFlags::empty())?;
    renameat(folder, passing, folder, name)?;
    Ok(old)
}

/// Moves a file to a name that is free, into another file system as well.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] if the name is taken, and every failure to move. The file has
/// its old name then, or both.
pub fn move_to(from: impl AsFd, name: &str, to: impl AsFd, new: &str) -> io::Result<()> {
    let (from, to) = (from.as_fd(), to.as_fd());
    match rename_new(from, name, to, new) {
        Err(error) if Errno::from_io_error(&error) == Some(Errno::XDEV) => {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let mut text = Vec::new();
            let mut file = File::from(openat(from, name, flags, Mode::empty())?);
            io::Read::read_to_end(&mut file, &mut text)?;
            write_new(to, new, &text, 0o600)?;
            killpoint::here("durable-copied");
            unlinkat(from, name, AtFlags::empty())?;
        }
        moved => moved?,
    }
    killpoint::here("durable-moved");
    sync(to)?;
    sync(from)
}

fn written(folder: impl AsFd, name: &str, bytes: &[u8], mode: u32) -> io::Result<String> {
    let passing = passing_name(name)?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file =
        File::from(openat(&folder, passing.as_str(), flags, Mode::from_raw_mode(mode as _))?);
    let done = file.write_all(bytes).and_then(|()| file.sync_all());
    if let Err(error) = done {
        let _ = unlinkat(folder, passing.as_str(), AtFlags::empty());
        return Err(error);
    }
    Ok(passing)
}

fn passing_name(name: &str) -> io::Result<String> {
    Ok(format!(".{name}.{}{SUFFIX}", random()?))
}

/// Renames without ever replacing anything (`RENAME_NOREPLACE`, `RENAME_EXCL` on macOS).
///
/// A file system that has no such call gets a second name and loses the first; where that cannot
/// be either (a folder, no links), it is asked first, which leaves a moment for somebody else.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] if the name is taken, and what the system says.
pub fn rename_new(
    from: impl AsFd,
    name: impl AsRef<Path>,
    to: impl AsFd,
    new: impl AsRef<Path>,
) -> io::Result<()> {
    let (from, name, to, new) = (from.as_fd(), name.as_ref(), to.as_fd(), new.as_ref());
    match renameat_with(from, name, to, new, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => rename_by_link(from, name, to, new),
        done => Ok(done?),
    }
}

fn rename_by_link(
    from: BorrowedFd<'_>,
    name: &Path,
    to: BorrowedFd<'_>,
    new: &Path,
) -> io::Result<()> {
    match linkat(from, name, to, new, AtFlags::empty()) {
        Ok(()) => Ok(unlinkat(from, name, AtFlags::empty())?),
        Err(Errno::EXIST) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => match statat(to, new, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => Ok(renameat(from, name, to, new)?),
        },
    }
}

/// Brings the names in a folder to the disk. Its handle may be one that only names it.
///
/// # Errors
/// The folder cannot be opened or synced.
pub fn sync(folder: impl AsFd) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(fsync(openat(folder, OsStr::new("."), flags, Mode::empty())?)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::durable::is_part;

    fn names(folder: &std::path::Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn no_text_is_lost_by_a_swap_a_move_or_a_name_that_is_taken() {
        let temp = tempfile::tempdir().unwrap();
        let folder = File::open(temp.path()).unwrap();
        write_new(&folder, "a", b"one", 0o600).unwrap();
        let taken = write_new(&folder, "a", b"two", 0o600).unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(names(temp.path()), ["a"]);
        for swapped in [swap, |folder: &File, name: &str, bytes: &[u8], mode| {
            let passing = written(folder, name, bytes, mode)?;
            swap_by_link(folder, name, &passing)
        }] {
            let old = swapped(&folder, "a", b"two", 0o600).unwrap();
            assert!(is_part(&old));
            assert_eq!(std::fs::read(temp.path().join(&old)).unwrap(), b"one");
            assert_eq!(std::fs::read(temp.path().join("a")).unwrap(), b"two");
            std::fs::remove_file(temp.path().join("a")).unwrap();
            move_to(&folder, &old, &folder, "a").unwrap();
        }
        assert!(swap(&folder, "missing", b"x", 0o600).is_err());
        write_new(&folder, "b", b"x", 0o600).unwrap();
        assert_eq!(
            move_to(&folder, "b", &folder, "a").unwrap_err().kind(),
            io::ErrorKind::AlreadyExists
        );
        assert_eq!(names(temp.path()), ["a", "b"]);
    }

    #[test]
    fn where_the_system_has_no_such_call_nothing_is_replaced_either() {
        let temp = tempfile::tempdir().unwrap();
        let folder = File::open(temp.path()).unwrap();
        let at = folder.as_fd();
        let by_link = |name: &str, new: &str| rename_by_link(at, name.as_ref(), at, new.as_ref());
        std::fs::write(temp.path().join("a"), "one").unwrap();
        std::fs::create_dir(temp.path().join("dir")).unwrap();
        for taken in [by_link("a", "dir"), by_link("dir", "a")] {
            assert_eq!(taken.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        }
        by_link("a", "b").unwrap();
        // A folder has no second name.
        by_link("dir", "moved").unwrap();
        assert_eq!(names(temp.path()), ["b", "moved"]);
        assert_eq!(by_link("gone", "c").unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
