//! Files that a reply hands over: a path as a model writes it, looked up without leaving the
//! workspace. Must not know how they are sent.

use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use cap_fs_ext::OpenOptionsSyncExt as _;
use cap_std::fs::OpenOptions;

use super::Workspace;

/// A file to hand over, whole in memory.
#[derive(Debug, PartialEq, Eq)]
pub struct FileToSend {
    /// The last part of its path.
    pub name: String,
    pub bytes: Vec<u8>,
}

/// Why a path is not handed over. Each is half a sentence behind the path.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotGiven {
    #[error("there is no such file in the workspace")]
    Missing,
    #[error("it lies outside of the workspace")]
    Outside,
    #[error("hidden files are not sent")]
    Hidden,
    #[error("it is no regular file")]
    NoFile,
    #[error("it is empty")]
    Empty,
    #[error("it is larger than {0} bytes")]
    TooLarge(u64),
    #[error("it cannot be read ({0})")]
    Unreadable(String),
}

impl crate::domain::Blamed for NotGiven {
    fn blame(&self) -> crate::domain::Blame {
        match self {
            Self::Missing
            | Self::Outside
            | Self::Hidden
            | Self::NoFile
            | Self::Empty
            | Self::TooLarge(_) => crate::domain::Blame::User,
            Self::Unreadable(_) => crate::domain::Blame::Broken,
        }
    }
}

impl Workspace {
    /// Reads a file of at most `bytes_max` bytes. `path` is relative to the workspace, or absolute
    /// and below it; links are followed as long as they stay in it. Blocks for as long as the disk
    /// takes.
    pub fn give(&self, path: &str, bytes_max: u64) -> Result<FileToSend, NotGiven> {
        let written = Path::new(path);
        let relative = match written.strip_prefix(&self.path) {
            Ok(relative) => relative,
            Err(_) if written.is_absolute() => return Err(NotGiven::Outside),
            Err(_) => written,
        };
        // Without links, so that what is looked at is what is opened.
        let real = self.dir.canonicalize(relative).map_err(|error| fault(&error))?;
        let hidden = |part: Component<'_>| part.as_os_str().to_string_lossy().starts_with('.');
        if real.components().any(hidden) {
            return Err(NotGiven::Hidden);
        }
        self.read(&real, bytes_max)
    }

    fn read(&self, real: &PathBuf, bytes_max: u64) -> Result<FileToSend, NotGiven> {
        let found = self.dir.symlink_metadata(real).map_err(|error| fault(&error))?;
        if !found.is_file() {
            return Err(NotGiven::NoFile);
        }
        // If it has become a pipe meanwhile, opening it must not wait for a writer.
        let file = self
            .dir
            .open_with(real, OpenOptions::new().read(true).nonblock(true))
            .map_err(|error| fault(&error))?;
        let unreadable = |error: io::Error| NotGiven::Unreadable(error.to_string());
        if !file.metadata().map_err(unreadable)?.is_file() {
            return Err(NotGiven::NoFile);
        }
        let mut bytes = Vec::new();
        file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > bytes_max {
            return Err(NotGiven::TooLarge(bytes_max));
        }
        if bytes.is_empty() {
            return Err(NotGiven::Empty);
        }
        let name =
            real.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(FileToSend { name, bytes })
    }
}

/// What leaves the workspace is refused by `cap-std` as "permission denied", with words of its own.
fn fault(error: &io::Error) -> NotGiven {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidInput => {
            NotGiven::Missing
        }
        io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => NotGiven::Outside,
        _ => NotGiven::Unreadable(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_is_given_by_any_path_that_stays_inside() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        fs::create_dir(root.join("out")).unwrap();
        fs::write(root.join("out/a.pdf"), "pdf").unwrap();
        symlink("out/a.pdf", root.join("inside")).unwrap();
        let workspace = Workspace::open(&root).unwrap();
        let absolute = root.join("out/a.pdf").display().to_string();
        for path in ["out/a.pdf", "./out/a.pdf", "out/../out/a.pdf", "inside", &absolute] {
            let given = workspace.give(path, 3).unwrap();
            assert_eq!(
                (given.name.as_str(), given.bytes.as_slice()),
                ("a.pdf", b"pdf".as_slice()),
                "{path}"
            );
        }
        assert_eq!(workspace.give("out/a.pdf", 2), Err(NotGiven::TooLarge(2)));
    }

    #[test]
    fn nothing_else_is_given() {
        let (temp, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = temp.path().canonicalize().unwrap();
        let secret = outside.path().canonicalize().unwrap().join("secret");
        fs::write(&secret, "x").unwrap();
        fs::create_dir_all(root.join(".git")).unwrap();
        fs::write(root.join(".git/config"), "x").unwrap();
        fs::write(root.join("empty"), "").unwrap();
        symlink(&secret, root.join("link")).unwrap();
        symlink(secret.parent().unwrap(), root.join("folder")).unwrap();
        symlink(".git/config", root.join("shown")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
        let workspace = Workspace::open(&root).unwrap();
        let up = format!(
            "../{}/secret",
            secret.parent().unwrap().file_name().unwrap().to_str().unwrap()
        );
        for path in [secret.to_str().unwrap(), &up, "link", "folder/secret", "/etc/passwd"] {
            assert_eq!(workspace.give(path, 9), Err(NotGiven::Outside), "{path}");
        }
        for path in [".git/config", "shown", "./.git/../.git/config"] {
            assert_eq!(workspace.give(path, 9), Err(NotGiven::Hidden), "{path}");
        }
        for (path, why) in
            [("none", NotGiven::Missing), ("empty", NotGiven::Empty), ("socket", NotGiven::NoFile)]
        {
            assert_eq!(workspace.give(path, 9), Err(why), "{path}");
        }
        assert!(workspace.give("", 9).is_err());
        assert!(workspace.give("a\0b", 9).is_err());
    }
}
