//! The folder of the snapshots of one workspace: trees and contents, also while the workspace is
//! not there. Owns that one process at a time works in it. Must not know what is in a workspace.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use claw_kit::durable;

use crate::contents::Contents;
use crate::entry::Entry;
use crate::error::SnapshotError;
use crate::tree::Tree;

pub(crate) const OWNER_ONLY: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;
const NAME_BYTES_MAX: usize = 128;
/// The tree that was seen last, as long as somebody is at work.
pub(crate) const SEEN: &str = "seen";
/// The note of an undo that is under way.
const JOURNAL: &str = "undo.json";

/// What is kept by name. It can be read and forgotten without the workspace.
pub struct SnapshotFolder {
    folder: PathBuf,
    contents: Contents,
    /// Held (`flock`) as long as this value lives.
    _lock: File,
}

impl SnapshotFolder {
    /// Opens or makes it. An undo that was cut stays as it is.
    ///
    /// # Errors
    /// [`SnapshotError::Busy`] if another process works there; a folder that cannot be opened.
    pub fn open(folder: &Path) -> Result<Self, SnapshotError> {
        let trees = folder.join("trees");
        durable::create_dirs(&trees, FOLDER_MODE).map_err(SnapshotError::at(&trees))?;
        let lock = folder.join("lock");
        let held = File::create(&lock).map_err(SnapshotError::at(&lock))?;
        durable::hold(&held).map_err(|_| SnapshotError::Busy)?;
        let contents = folder.join("contents");
        Ok(Self {
            folder: folder.to_owned(),
            contents: Contents::open(contents.clone()).map_err(SnapshotError::at(contents))?,
            _lock: held,
        })
    }

    /// Whether an undo was begun in this folder and has no end. One that is under way counts, too.
    pub fn is_cut(folder: &Path) -> bool {
        folder.join(JOURNAL).exists()
    }

    /// Forgets one tree, also one that there is not. Its contents stay until
    /// [`SnapshotFolder::retain`].
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn forget(&self, name: &str) -> Result<(), SnapshotError> {
        let path = self.tree_path(name)?;
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(SnapshotError::at(path)(error))
            }
            _ => Ok(()),
        }
    }

    /// A tree as it was remembered or noted.
    ///
    /// # Errors
    /// [`SnapshotError::Unknown`], [`SnapshotError::Damaged`].
    pub fn tree(&self, name: &str) -> Result<Tree, SnapshotError> {
        let text = match fs::read(self.tree_path(name)?) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(SnapshotError::Unknown { name: name.to_owned() });
            }
            Err(error) => return Err(SnapshotError::at(&self.folder)(error)),
        };
        serde_json::from_slice(&text).map_err(|error| SnapshotError::Damaged {
            name: name.to_owned(),
            why: error.to_string(),
        })
    }

    /// Forgets all snapshots but those that `keep` names, and the contents that only they had.
    /// Gives the bytes that were freed.
    ///
    /// # Errors
    /// Every failure to read or remove. Nothing that is kept is touched.
    pub fn retain(&self, keep: impl Fn(&str) -> bool) -> Result<u64, SnapshotError> {
        let mut named = BTreeSet::new();
        for name in self.names()? {
            if name == SEEN || keep(&name) {
                named.extend(digests(&self.tree(&name)?));
            } else {
                let path = self.tree_path(&name)?;
                fs::remove_file(&path).map_err(SnapshotError::at(path))?;
            }
        }
        for name in self.ledger_names()? {
            if keep(&name) {
                named.extend(digests(self.ledger(&name)?.was()));
            } else {
                self.drop_ledger(&name)?;
            }
        }
        self.contents.sweep(&named).map_err(SnapshotError::at(&self.folder))
    }

    /// All names, sorted.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn names(&self) -> Result<Vec<String>, SnapshotError> {
        let trees = self.folder.join("trees");
        let found = fs::read_dir(&trees).map_err(SnapshotError::at(&trees))?;
        let name = |entry: fs::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            name.strip_suffix(".json").filter(|name| is_name(name)).map(str::to_owned)
        };
        let mut names: Vec<String> = found.filter_map(Result::ok).filter_map(name).collect();
        names.sort();
        Ok(names)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn contents(&self) -> &Contents {
        &self.contents
    }

    /// The note of an undo that is under way.
    pub(crate) fn journal(&self) -> PathBuf {
        self.folder.join(JOURNAL)
    }

    pub(crate) fn write(&self, path: &Path, tree: &Tree) -> Result<(), SnapshotError> {
        let text =
            serde_json::to_string(tree).map_err(|error| SnapshotError::at(path)(error.into()))?;
        durable::replace(path, &text, OWNER_ONLY).map_err(SnapshotError::at(path))
    }

    pub(crate) fn tree_path(&self, name: &str) -> Result<PathBuf, SnapshotError> {
        if !is_name(name) {
            return Err(SnapshotError::Name { name: name.to_owned() });
        }
        Ok(self.folder.join("trees").join(format!("{name}.json")))
    }
}

fn digests(tree: &Tree) -> impl Iterator<Item = String> + '_ {
    tree.entries.values().filter_map(|entry| match entry {
        Entry::File { digest, .. } => Some(digest.clone()),
        Entry::Folder { .. } | Entry::Link { .. } => None,
    })
}

pub(crate) fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    !name.is_empty() && name.len() <= NAME_BYTES_MAX && name.bytes().all(plain)
}
