//! Renaming onto a name that must be free. Owns the difference between systems; must not know why.

use std::ffi::OsStr;
use std::io;

use cap_std::fs::Dir;
use rustix::fs::{RenameFlags, renameat_with};
use rustix::io::Errno;

/// Renames without ever replacing anything (`RENAME_NOREPLACE`, `RENAME_EXCL` on macOS).
///
/// A file system that has no such call (some network ones) is asked first and renamed then, which
/// leaves a moment for somebody else.
///
/// # Errors
/// `AlreadyExists`, or what the system says.
pub fn rename_new(from: &Dir, from_name: &OsStr, to: &Dir, to_name: &OsStr) -> io::Result<()> {
    match renameat_with(from, from_name, to, to_name, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            if to.symlink_metadata(to_name).is_ok() {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            from.rename(from_name, to, to_name)
        }
        other => other.map_err(io::Error::from),
    }
}
