//! A file that has no name until it is whole: the system takes it back when its process ends,
//! whatever ends it. Must not know what is in it.

use std::fs::File;
use std::io;
use std::path::Path;

/// A file in a folder, its owner's alone, without a name.
#[derive(Debug)]
pub struct Unnamed {
    pub file: File,
}

#[cfg(target_os = "linux")]
impl Unnamed {
    /// An empty one in the folder of `path`. `None` where the file system has none (open(2),
    /// `O_TMPFILE`), or nothing could name it later.
    pub fn beside(path: &Path) -> Option<Self> {
        use rustix::fs::{Mode, OFlags};
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let file = rustix::fs::open(folder.unwrap_or(Path::new(".")), flags, mode).ok()?;
        let unnamed = Self { file: file.into() };
        unnamed.handle().symlink_metadata().is_ok().then_some(unnamed)
    }

    /// Brings it to the disk and gives it its name, unless that is taken.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if the name is taken, and every failure to write.
    pub fn publish(self, path: &Path) -> io::Result<()> {
        use rustix::fs::{AtFlags, CWD};
        self.file.sync_all()?;
        // The way that needs no rights (open(2), under `O_TMPFILE`).
        rustix::fs::linkat(CWD, self.handle(), CWD, path, AtFlags::SYMLINK_FOLLOW)?;
        super::sync_folder_of(path)
    }

    fn handle(&self) -> std::path::PathBuf {
        use std::os::fd::AsRawFd as _;
        format!("/proc/self/fd/{}", self.file.as_raw_fd()).into()
    }
}

#[cfg(not(target_os = "linux"))]
impl Unnamed {
    /// There is none on this system.
    pub fn beside(_path: &Path) -> Option<Self> {
        None
    }

    /// # Errors
    /// None: there is none that could be published.
    pub fn publish(self, _path: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
