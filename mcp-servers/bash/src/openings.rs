//! Folders of the owner's that commands get beside the workspace, because the owner has opened
//! them. Owns which may be opened; must not know how the box is closed.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::credentials;
use crate::error::StartError;

/// Real folders.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Openings {
    /// Commands read them at every level.
    pub read: Vec<PathBuf>,
    /// Commands also change them, from the level `write` on.
    pub write: Vec<PathBuf>,
}

/// Why a folder cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CannotOpen {
    Missing,
    /// It is the whole home, or holds it.
    Home,
    /// It is, holds or lies in a place of credentials or of claw.
    Closed,
    /// To be changed, and it holds the workspace or lies in it.
    Workspace,
}

impl CannotOpen {
    pub fn words(self) -> &'static str {
        match self {
            Self::Missing => "there is no such folder",
            Self::Home => "it is your whole home, or holds it; name folders in it",
            Self::Closed => "it is, holds or lies in a place of credentials or of claw",
            Self::Workspace => "it holds the workspace or lies in it",
        }
    }
}

/// The real folder, if it may be opened.
///
/// # Errors
/// Why not.
pub fn check(
    folder: &Path,
    to_write: bool,
    workspace: &Path,
    protect: &[PathBuf],
) -> Result<PathBuf, CannotOpen> {
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    let home = home.map(|home| home.canonicalize().unwrap_or(home));
    check_in(folder, to_write, workspace, protect, home.as_deref())
}

fn check_in(
    folder: &Path,
    to_write: bool,
    workspace: &Path,
    protect: &[PathBuf],
    home: Option<&Path>,
) -> Result<PathBuf, CannotOpen> {
    let real = folder.canonicalize().ok().filter(|real| folder.is_absolute() && real.is_dir());
    let real = real.ok_or(CannotOpen::Missing)?;
    if real == Path::new("/") || home.is_some_and(|home| home.starts_with(&real)) {
        return Err(CannotOpen::Home);
    }
    let closed: Vec<PathBuf> = home.map(credentials::below).unwrap_or_default();
    if closed.iter().chain(protect).any(|closed| credentials::overlap(&real, closed)) {
        return Err(CannotOpen::Closed);
    }
    if to_write && credentials::overlap(&real, workspace) {
        return Err(CannotOpen::Workspace);
    }
    Ok(real)
}

impl Openings {
    /// # Errors
    /// The first folder that cannot be opened.
    pub fn new(
        read: &[PathBuf],
        write: &[PathBuf],
        workspace: &Path,
        protect: &[PathBuf],
    ) -> Result<Self, StartError> {
        let checked = |folders: &[PathBuf], to_write| {
            let open = |folder: &PathBuf| {
                check(folder, to_write, workspace, protect)
                    .map_err(|why| StartError::Opening { path: folder.clone(), why: why.words() })
            };
            folders.iter().map(open).collect::<Result<Vec<_>, _>>()
        };
        Ok(Self { read: checked(read, false)?, write: checked(write, true)? })
    }

    pub fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.read.iter().chain(&self.write)
    }

    /// For a model: where else there is something.
    pub fn words(&self) -> Option<String> {
        let named = |folders: &[PathBuf], how: &str| -> Vec<String> {
            folders.iter().map(|folder| format!("{} ({how})", folder.display())).collect()
        };
        let all = [named(&self.read, "read"), named(&self.write, "read, and change at `write`")];
        let all = all.concat();
        (!all.is_empty()).then(|| format!("Also open to commands: {}.", all.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_folder_is_opened_unless_it_reaches_credentials_claw_or_the_whole_home() {
        let base = tempfile::tempdir().unwrap();
        let home = base.path().canonicalize().unwrap().join("me");
        for name in ["Documents", ".ssh", ".config/gh", ".claw/workspace", "projects/a"] {
            fs::create_dir_all(home.join(name)).unwrap();
        }
        fs::write(home.join("file"), "").unwrap();
        std::os::unix::fs::symlink(home.join(".ssh"), home.join("keys")).unwrap();
        let (workspace, protect) = (home.join("projects/a"), [home.join(".claw")]);
        let check = |name: &str, to_write| {
            check_in(&home.join(name), to_write, &workspace, &protect, Some(&home))
        };
        assert_eq!(check("Documents", true), Ok(home.join("Documents")));
        assert_eq!(check("projects", false), Ok(home.join("projects")));
        use CannotOpen::{Closed, Home, Missing, Workspace};
        for (name, to_write, why) in [
            ("projects", true, Workspace),
            ("projects/a", true, Workspace),
            ("", false, Home),
            ("..", false, Home),
            (".ssh", false, Closed),
            ("keys", false, Closed),
            (".config", false, Closed),
            (".claw", false, Closed),
            (".claw/workspace", false, Closed),
            ("gone", false, Missing),
            ("file", false, Missing),
        ] {
            assert_eq!(check(name, to_write), Err(why), "{name}");
        }
        assert_eq!(check_in(Path::new("/"), false, &workspace, &protect, None), Err(Home));
    }
}
