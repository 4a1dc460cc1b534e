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
    /// Those that were named by a link, with the name.
    pub links: Vec<(PathBuf, PathBuf)>,
}

/// A folder that the host opens to one call.
#[derive(Clone, Debug, Deserialize)]
pub struct FolderOfCall {
    path: PathBuf,
    write: bool,
}

/// Why a folder cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CannotOpen {
    Missing,
    /// It does not say where it begins.
    Relative,
    /// It is the whole home, or holds it.
    Home,
    /// It is, holds or lies in a place of credentials or of claw.
    Closed,
    /// It lies in the workspace, or is to be changed and holds it.
    Workspace,
}

impl CannotOpen {
    pub fn words(self) -> &'static str {
        match self {
            Self::Missing => "there is no such folder",
            Self::Relative => "it is no absolute path",
            Self::Home => "it is your whole home, or holds it",
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

/// The same for a user with this home.
pub fn check_in(
    folder: &Path,
    to_write: bool,
    workspace: &Path,
    protect: &[PathBuf],
    home: Option<&Path>,
) -> Result<PathBuf, CannotOpen> {
    if !folder.is_absolute() {
        return Err(CannotOpen::Relative);
    }
    let real = folder.canonicalize().ok().filter(|real| real.is_dir());
    let real = real.ok_or(CannotOpen::Missing)?;
    if real == Path::new("/") || home.is_some_and(|home| home.starts_with(&real)) {
        return Err(CannotOpen::Home);
    }
    if real.starts_with(workspace) {
        return Err(CannotOpen::Workspace);
    }
    let closed: Vec<PathBuf> = home.map(credentials::below).unwrap_or_default();
    if closed.iter().chain(protect).any(|closed| credentials::overlap(&real, closed)) {
        return Err(CannotOpen::Closed);
    }
    if to_write && workspace.starts_with(&real) {
        return Err(CannotOpen::Workspace);
    }
    Ok(real)
}

/// What is said of an opened folder that is not there any more.
pub fn is_gone(folder: &Path) -> String {
    format!("{} is open to commands, and is not there any more.", folder.display())
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
        let (opened_read, opened_write) = (checked(read, false)?, checked(write, true)?);
        let names = read.iter().chain(write).cloned();
        let links = names.zip(opened_read.iter().chain(&opened_write).cloned());
        let links = links.filter(|(name, real)| name != real).collect();
        Ok(Self { read: opened_read, write: opened_write, links })
    }

    /// Those that the host opens to one call, and a sentence about each that cannot be.
    pub fn of_call(
        folders: &[FolderOfCall],
        workspace: &Path,
        protect: &[PathBuf],
    ) -> (Self, Vec<String>) {
        let (mut opened, mut said) = (Self::default(), Vec::new());
        for FolderOfCall { path, write } in folders {
            match check(path, *write, workspace, protect) {
                // The owner has opened a real folder. What lies there now may be a link to another.
                Ok(real) if real == *path => {
                    let list = if *write { &mut opened.write } else { &mut opened.read };
                    list.push(real);
                }
                other => said.push(format!(
                    "{} is open for a time, and this command has it not: {}.",
                    path.display(),
                    other.err().map_or("it leads elsewhere now", CannotOpen::words)
                )),
            }
        }
        (opened, said)
    }

    /// Both together. What one of them opens for changes is open for changes.
    pub fn and(&self, other: &Self) -> Self {
        let joined = |one: &[PathBuf], other: &[PathBuf]| {
            let mut all = [one, other].concat();
            all.sort();
            all.dedup();
            all
        };
        let write = joined(&self.write, &other.write);
        let mut read = joined(&self.read, &other.read);
        read.retain(|folder| !write.contains(folder));
        Self { read, write, links: [&self.links[..], &other.links].concat() }
    }

    pub fn is_empty(&self) -> bool {
        self.read.is_empty() && self.write.is_empty()
    }

    pub fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.read.iter().chain(&self.write)
    }

    /// Those that are not there any more, also where a link stands in their place, which may lead
    /// anywhere. One of them must not keep every command from starting.
    pub fn gone(&self) -> Vec<PathBuf> {
        let is_there = |folder: &PathBuf| {
            folder.is_dir() && folder.canonicalize().is_ok_and(|real| real == **folder)
        };
        self.all().filter(|folder| !is_there(folder)).cloned().collect()
    }

    pub fn without(&self, gone: &[PathBuf]) -> Self {
        let left = |folders: &[PathBuf]| -> Vec<PathBuf> {
            folders.iter().filter(|folder| !gone.contains(folder)).cloned().collect()
        };
        Self { read: left(&self.read), write: left(&self.write), links: self.links.clone() }
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
            ("projects/a", false, Workspace),
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
        assert_eq!(
            check_in(Path::new("Documents"), false, &workspace, &protect, Some(&home)),
            Err(CannotOpen::Relative)
        );
        assert_eq!(check_in(Path::new("/"), false, &workspace, &protect, None), Err(Home));
    }
}
