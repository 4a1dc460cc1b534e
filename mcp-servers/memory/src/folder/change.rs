//! Changes of a folder of notes, by its handles. Owns where a new name may lie; what survives a
//! kill is `claw_kit::durable::at`. Must not know what a file says.

use std::io;

use cap_fs_ext::DirExt as _;
use cap_std::fs::Dir;
use claw_kit::durable::{self, at};

use super::{DEPTH_MAX, Folder};
use crate::trash_bound::Thrown;

/// New notes are their owner's alone.
const MODE: u32 = 0o600;

impl Folder {
    /// Writes a file that is not there yet.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if it is, and every failure to write.
    pub fn write_new(&self, path: &str, text: &str) -> io::Result<()> {
        let (dir, name) = self.parent_made(path)?;
        at::write_new(&dir, name, text.as_bytes(), MODE)
    }

    /// Puts a text in place of a file, which moves to `kept` with all that was written to it until
    /// then. Its permissions are kept.
    ///
    /// # Errors
    /// There is no such file, and every failure to write.
    pub fn replace(
        &self,
        path: &str,
        text: &str,
        kept: &Folder,
        kept_path: &str,
    ) -> io::Result<()> {
        use cap_std::fs::PermissionsExt as _;
        let (dir, name) = self.parent_of(path)?;
        let mode = dir.symlink_metadata(name)?.permissions().mode() & 0o777;
        if mode & 0o200 == 0 {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let (kept_dir, kept_name) = kept.parent_made(kept_path)?;
        let old = at::swap(&dir, name, text.as_bytes(), mode)?;
        at::move_to(&dir, &old, &kept_dir, kept_name)
    }

    /// Moves a file into another folder, to a name that is free.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if it is not, and every failure to move.
    pub fn move_to(&self, path: &str, other: &Folder, other_path: &str) -> io::Result<()> {
        let (dir, name) = self.parent_of(path)?;
        let (other_dir, other_name) = other.parent_made(other_path)?;
        at::move_to(&dir, name, &other_dir, other_name)
    }

    /// The folders at the top, each with the bytes of the files in it. Files at the top and links
    /// are none.
    ///
    /// # Errors
    /// A folder cannot be read.
    pub fn tops(&self) -> io::Result<Vec<Thrown>> {
        let mut tops = Vec::new();
        for entry in self.dir.entries()? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if entry.file_type()?.is_dir() {
                let bytes = bytes_in(&self.dir.open_dir_nofollow(&name)?, 0)?;
                tops.push(Thrown { name, bytes });
            }
        }
        Ok(tops)
    }

    /// Removes a folder at the top with all that is in it, following no link.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn remove_top(&self, name: &str) -> io::Result<()> {
        self.dir.remove_dir_all(name)
    }

    /// What a killed process has left under passing names, with its path. Called by whoever holds
    /// the lock, so none of it is in use.
    pub fn left_over(&self, folders: &[String]) -> Vec<String> {
        let mut found = Vec::new();
        for folder in folders {
            let Ok((dir, _)) = self.parent_of(&super::join(folder, "x")) else { continue };
            let names = dir.entries().into_iter().flatten().filter_map(Result::ok);
            let names = names.filter_map(|entry| entry.file_name().into_string().ok());
            found.extend(
                names.filter(|name| durable::is_part(name)).map(|name| super::join(folder, &name)),
            );
        }
        found
    }

    /// Like [`Folder::parent_of`]; folders that are missing are made.
    fn parent_made<'a>(&self, path: &'a str) -> io::Result<(Dir, &'a str)> {
        let mut parts: Vec<&str> = path.split('/').collect();
        let name = parts.pop().unwrap_or_default();
        let mut dir = self.dir.try_clone()?;
        for part in parts {
            match dir.create_dir(part) {
                Ok(()) => at::sync(&dir)?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
            dir = dir.open_dir_nofollow(part)?;
        }
        Ok((dir, name))
    }
}

fn bytes_in(dir: &Dir, depth: usize) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in dir.entries()? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() && depth < DEPTH_MAX {
            bytes += bytes_in(&dir.open_dir_nofollow(entry.file_name())?, depth + 1)?;
        } else if kind.is_file() {
            bytes += entry.metadata()?.len();
        }
    }
    Ok(bytes)
}
