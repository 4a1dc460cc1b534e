//! A file that is written whole or not at all, for its owner alone, and never over another one. Must not know what is in it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::fail::UserError;

/// A file under a passing name beside the one that it is to become. Dropped before [`Self::publish`], it leaves nothing.
pub struct NewFile {
    pub file: File,
    part: PathBuf,
    path: PathBuf,
}

impl NewFile {
    /// # Errors
    /// A user's mistake if `path` is there already; otherwise what keeps the file from being made.
    pub fn create(path: &Path) -> anyhow::Result<Self> {
        if path.symlink_metadata().is_ok() {
            return Err(taken(path));
        }
        let name = path.file_name().with_context(|| format!("{} names no file", path.display()))?;
        let part = path.with_file_name(format!(".{}.{}.part", name.to_string_lossy(), std::process::id()));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part);
        let file = file.with_context(|| format!("cannot write beside {}", path.display()))?;
        Ok(Self { file, part, path: path.to_owned() })
    }

    /// Brings it to the disk and gives it its name, unless somebody has taken that meanwhile.
    pub fn publish(self) -> anyhow::Result<()> {
        let failed = || format!("{} cannot be written", self.path.display());
        self.file.sync_all().with_context(failed)?;
        // A link is refused where the name is taken, which a rename is not. Some file systems have no links.
        match fs::hard_link(&self.part, &self.path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(taken(&self.path)),
            Err(_) if self.path.symlink_metadata().is_ok() => return Err(taken(&self.path)),
            Err(_) => fs::rename(&self.part, &self.path).with_context(failed)?,
        }
        sync_folder_of(&self.path).with_context(failed)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // Gone already, if it was renamed.
        let _ = fs::remove_file(&self.part);
    }
}

/// Brings the names in the folder of `path` to the disk.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

fn taken(path: &Path) -> anyhow::Error {
    UserError::because(format!("{} is there already, and nothing is overwritten; choose another name", path.display()))
}
