//! A bounded look at what a path of the workspace leads to, for the words of a question. Changes
//! nothing, and leaves the workspace by no link. Must not know what is asked.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use cap_fs_ext::OpenOptionsSyncExt as _;
use cap_std::fs::{Dir, MetadataExt as _, OpenOptions};

use super::Workspace;
use crate::domain::canonical::sha256_hex;

/// The most text of a file that is read, in bytes. Of a larger one only the size is known.
const TEXT_BYTES_MAX: u64 = 256 * 1024;
/// The most entries below a folder that are counted.
pub const FILES_COUNTED_MAX: u64 = 10_000;
/// How deep folders are counted.
const DEPTH_MAX: usize = 64;

/// What there is under a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathContents {
    Nothing,
    /// A text of at most [`TEXT_BYTES_MAX`].
    Text(String),
    /// Any other file.
    Bytes {
        size: u64,
        changed: (i64, i64),
    },
    Link,
    Folder {
        /// Everything below it that is no folder.
        files: u64,
        /// Counting was ended at [`FILES_COUNTED_MAX`].
        more: bool,
        /// Whether nothing is in it, not even a folder.
        empty: bool,
    },
    /// A pipe, a socket, a device.
    Other,
}

impl PathContents {
    /// The same for the same contents. Two marks that differ mean that something has changed.
    pub fn mark(&self) -> String {
        match self {
            Self::Nothing => "nothing".to_owned(),
            Self::Text(text) => format!("text {}", sha256_hex(text)),
            Self::Bytes { size, changed: (s, ns) } => format!("bytes {size} {s}.{ns}"),
            Self::Link => "link".to_owned(),
            Self::Folder { files, more, empty } => format!("folder {files} {more} {empty}"),
            Self::Other => "other".to_owned(),
        }
    }
}

/// Whether a link at the end of the path is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Last {
    Follow,
    Keep,
}

impl Workspace {
    /// What is under `path`, which is relative to the workspace, or absolute and below it. `None`
    /// where that lies outside or cannot be read. Blocks for as long as the disk takes.
    pub fn look(&self, path: &str, last: Last) -> Option<PathContents> {
        let written = Path::new(path);
        let relative = match written.strip_prefix(&self.path) {
            Ok(relative) => relative,
            Err(_) if written.is_absolute() => return None,
            Err(_) => written,
        };
        let real = match last {
            Last::Follow => match self.dir.canonicalize(relative) {
                Ok(real) => real,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    // A link that leads nowhere is no new file.
                    return self
                        .dir
                        .symlink_metadata(relative)
                        .is_err()
                        .then_some(PathContents::Nothing);
                }
                Err(_) => return None,
            },
            Last::Keep => relative.to_path_buf(),
        };
        let found = match self.dir.symlink_metadata(&real) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Some(PathContents::Nothing);
            }
            Err(_) => return None,
        };
        if found.is_symlink() {
            return Some(PathContents::Link);
        }
        if found.is_dir() {
            let mut count = Count::default();
            count.below(&self.dir.open_dir(&real).ok()?, 0).ok()?;
            let Count { files, folders, more } = count;
            return Some(PathContents::Folder { files, more, empty: files + folders == 0 });
        }
        if !found.is_file() {
            return Some(PathContents::Other);
        }
        let bytes =
            PathContents::Bytes { size: found.len(), changed: (found.mtime(), found.mtime_nsec()) };
        if found.len() > TEXT_BYTES_MAX {
            return Some(bytes);
        }
        Some(self.text(&real)?.map_or(bytes, PathContents::Text))
    }

    /// The text of a file; `Some(None)` if it is none.
    fn text(&self, real: &PathBuf) -> Option<Option<String>> {
        // If it has become a pipe meanwhile, opening it must not wait for a writer.
        let options = OpenOptions::new().read(true).nonblock(true).clone();
        let file = self.dir.open_with(real, &options).ok()?;
        if !file.metadata().ok()?.is_file() {
            return None;
        }
        let mut bytes = Vec::new();
        file.take(TEXT_BYTES_MAX + 1).read_to_end(&mut bytes).ok()?;
        let short = bytes.len() as u64 <= TEXT_BYTES_MAX;
        Some(String::from_utf8(bytes).ok().filter(|text| short && !text.contains('\0')))
    }
}

#[derive(Default)]
struct Count {
    files: u64,
    folders: u64,
    more: bool,
}

impl Count {
    fn below(&mut self, dir: &Dir, depth: usize) -> io::Result<()> {
        if depth >= DEPTH_MAX {
            self.more = true;
            return Ok(());
        }
        for entry in dir.entries()? {
            let entry = entry?;
            if self.files + self.folders >= FILES_COUNTED_MAX {
                self.more = true;
                return Ok(());
            }
            if entry.file_type()?.is_dir() {
                self.folders += 1;
                self.below(&entry.open_dir()?, depth + 1)?;
            } else {
                self.files += 1;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn text(text: &str) -> Option<PathContents> {
        Some(PathContents::Text(text.to_owned()))
    }

    #[test]
    fn a_look_says_what_is_there() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("photos/2024/empty")).unwrap();
        for name in ["photos/a.jpg", "photos/2024/b.jpg"] {
            fs::write(root.join(name), "x").unwrap();
        }
        symlink("photos", root.join("link")).unwrap();
        symlink("/etc", root.join("photos/etc")).unwrap();
        fs::write(root.join("note"), "one\n").unwrap();
        fs::write(root.join("image"), [0xff, 0xfe]).unwrap();
        fs::write(root.join("large"), vec![b'x'; TEXT_BYTES_MAX as usize + 1]).unwrap();
        let workspace = Workspace::open(&root).unwrap();
        let folder = |files, empty| Some(PathContents::Folder { files, more: false, empty });
        assert_eq!(workspace.look("photos", Last::Keep), folder(3, false), "a link counts as one");
        assert_eq!(workspace.look("photos/2024/empty", Last::Keep), folder(0, true));
        assert_eq!(workspace.look("link", Last::Keep), Some(PathContents::Link));
        assert_eq!(workspace.look("link/a.jpg", Last::Follow), text("x"));
        assert_eq!(workspace.look("note", Last::Follow), text("one\n"));
        let absolute = root.join("note").display().to_string();
        assert_eq!(workspace.look(&absolute, Last::Follow), text("one\n"));
        assert_eq!(workspace.look("none", Last::Follow), Some(PathContents::Nothing));
        assert_eq!(workspace.look("none/deeper", Last::Follow), Some(PathContents::Nothing));
        let size = |name| match workspace.look(name, Last::Follow) {
            Some(PathContents::Bytes { size, .. }) => size,
            other => panic!("{other:?}"),
        };
        assert_eq!((size("image"), size("large")), (2, TEXT_BYTES_MAX + 1));
    }

    #[test]
    fn no_look_leaves_the_workspace_or_waits() {
        let (temp, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = temp.path().canonicalize().unwrap();
        let secret = outside.path().canonicalize().unwrap().join("secret");
        fs::write(&secret, "x").unwrap();
        symlink(&secret, root.join("out")).unwrap();
        symlink(secret.parent().unwrap(), root.join("folder")).unwrap();
        symlink("nowhere", root.join("dangling")).unwrap();
        let fifo = root.join("fifo");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &fifo,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        let workspace = Workspace::open(&root).unwrap();
        let absolute = secret.display().to_string();
        for path in ["out", "folder/secret", "dangling", "../x", &absolute] {
            assert_eq!(workspace.look(path, Last::Follow), None, "{path}");
        }
        assert_eq!(workspace.look("fifo", Last::Follow), Some(PathContents::Other));
        assert_eq!(workspace.look("folder", Last::Keep), Some(PathContents::Link));
        assert_eq!(workspace.look("folder/secret", Last::Keep), None);
    }

    #[test]
    fn marks_tell_contents_apart() {
        let folder = |files| PathContents::Folder { files, more: false, empty: false }.mark();
        assert_ne!(folder(1), folder(2));
        assert_ne!(PathContents::Text("a".into()).mark(), PathContents::Text("b".into()).mark());
        assert_eq!(PathContents::Text("a".into()).mark(), PathContents::Text("a".into()).mark());
    }
}
