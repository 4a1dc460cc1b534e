//! The snapshots of one workspace: remembers it, compares it, puts it back. Owns the folder they
//! lie in, and that one process at a time works there. Must not know turns or who asks.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use claw_kit::durable;

use crate::contents::{Contents, New};
use crate::entry::{Entry, RelPath};
use crate::error::SnapshotError;
use crate::ignored::without_what_came_to_sight;
use crate::limits::Limits;
use crate::plan::Plan;
use crate::stat_cache::StatCache;
use crate::tree::{Changes, Tree};
use crate::undo::{self, Undone};
use crate::walk::Walk;

pub(crate) const OWNER_ONLY: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;
const NAME_BYTES_MAX: usize = 128;
/// The tree that was seen last, as long as somebody is at work.
pub(crate) const SEEN: &str = "seen";
/// The note of an undo that is under way.
const JOURNAL: &str = "undo.json";

/// What is kept of one workspace, in a folder outside of it.
///
/// A snapshot has a name that the caller gives: letters, digits and `-`, at most 128 bytes. It is a
/// tree (`trees/NAME.json`); contents lie beside it by digest, each once.
pub struct Snapshots {
    folder: PathBuf,
    workspace: PathBuf,
    root: Dir,
    contents: Contents,
    limits: Limits,
    /// Held (`flock`) as long as this value lives.
    _lock: File,
}

impl Snapshots {
    /// Opens or makes `folder`, and goes on with an undo that a kill or a power loss has cut.
    ///
    /// # Errors
    /// [`SnapshotError::Busy`] if another process works there; a folder that cannot be opened.
    pub fn open(
        folder: &Path,
        workspace: &Path,
        limits: Limits,
    ) -> Result<(Self, Option<Undone>), SnapshotError> {
        let trees = folder.join("trees");
        durable::create_dirs(&trees, FOLDER_MODE).map_err(SnapshotError::at(&trees))?;
        let lock = folder.join("lock");
        let held = File::create(&lock).map_err(SnapshotError::at(&lock))?;
        durable::hold(&held).map_err(|_| SnapshotError::Busy)?;
        let contents = folder.join("contents");
        let snapshots = Self {
            folder: folder.to_owned(),
            workspace: workspace.to_owned(),
            root: Dir::open_ambient_dir(workspace, ambient_authority())
                .map_err(SnapshotError::at(workspace))?,
            contents: Contents::open(contents.clone()).map_err(SnapshotError::at(contents))?,
            limits,
            _lock: held,
        };
        let undone = undo::resume(&snapshots)?;
        Ok((snapshots, undone))
    }

    /// Whether an undo was begun in this folder and has no end. One that is under way counts, too.
    pub fn is_cut(folder: &Path) -> bool {
        folder.join(JOURNAL).exists()
    }

    /// Remembers the workspace under `name`: with all contents. It is on the disk when this
    /// returns.
    ///
    /// # Errors
    /// A workspace over the limits, and every failure to read or write. Then there is no such
    /// snapshot.
    pub fn remember(&self, name: &str) -> Result<Tree, SnapshotError> {
        self.remember_with(name, [].iter())
    }

    /// The same before the turn between two snapshots is undone: also what it has changed and
    /// `.gitignore` names meanwhile, because the undo changes that.
    ///
    /// # Errors
    /// As [`Snapshots::remember`] and [`Snapshots::tree`].
    pub fn remember_before_undo(
        &self,
        name: &str,
        before: &str,
        after: &str,
    ) -> Result<Tree, SnapshotError> {
        let (before, after) = (self.tree(before)?, self.tree(after)?);
        self.remember_with(name, before.entries.keys().chain(after.entries.keys()))
    }

    fn remember_with<'b>(
        &self,
        name: &str,
        also: impl Iterator<Item = &'b RelPath>,
    ) -> Result<Tree, SnapshotError> {
        let path = self.tree_path(name)?;
        let mut new = New::default();
        let tree = self.walk(Some((&self.contents, &mut new)), also)?;
        self.contents.publish(new).map_err(SnapshotError::at(&self.folder))?;
        self.write(&path, &tree)?;
        Ok(tree)
    }

    /// Notes under `name` what the workspace is now, without contents: what a turn has left, so
    /// that later changes of others are told from it. `before` is the snapshot to compare with;
    /// what its `.gitignore` files named is no change, also if it is in sight now.
    ///
    /// # Errors
    /// As [`Snapshots::remember`].
    pub fn note(&self, name: &str, before: &str) -> Result<Tree, SnapshotError> {
        let path = self.tree_path(name)?;
        let before = self.tree(before)?;
        let now = self.walk(None, before.entries.keys())?;
        let tree = without_what_came_to_sight(&now, &before, &self.contents).into_owned();
        self.write(&path, &tree)?;
        Ok(tree)
    }

    /// The same, and says how much is another thing than before.
    ///
    /// # Errors
    /// As [`Snapshots::remember`].
    pub fn note_changes(&self, name: &str, before: &str) -> Result<Changes, SnapshotError> {
        let after = self.note(name, before)?;
        Ok(self.tree(before)?.differs_from(&after))
    }

    /// Forgets one tree, also one that there is not. Its contents stay until [`Snapshots::retain`].
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

    /// What undoing the turn between two snapshots would change now.
    ///
    /// # Errors
    /// As [`Snapshots::tree`], and every failure to read the workspace.
    pub fn plan(&self, before: &str, after: &str) -> Result<Plan, SnapshotError> {
        self.plan_of(before, after, &BTreeSet::new())
    }

    /// Undoes the turn between two snapshots: what [`Snapshots::plan`] says at this moment. After
    /// a kill in the middle the next [`Snapshots::open`] goes on.
    ///
    /// # Errors
    /// As [`Snapshots::plan`]. A path that cannot be put back is no error; it is among those kept.
    pub fn undo(&self, before: &str, after: &str) -> Result<Undone, SnapshotError> {
        undo::begin(self, before, after, &BTreeSet::new())
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

    pub(crate) fn root(&self) -> &Dir {
        &self.root
    }

    pub(crate) fn contents(&self) -> &Contents {
        &self.contents
    }

    /// The note of an undo that is under way.
    pub(crate) fn journal(&self) -> PathBuf {
        self.folder.join(JOURNAL)
    }

    pub(crate) fn plan_of(
        &self,
        before: &str,
        after: &str,
        under_way: &BTreeSet<RelPath>,
    ) -> Result<Plan, SnapshotError> {
        let (before, mut after) = (self.tree(before)?, self.tree(after)?);
        let now = self.walk(None, before.entries.keys().chain(after.entries.keys()))?;
        after.take_over(under_way, &before, &now);
        Ok(Plan::new(&before, &after, &now))
    }

    /// What is at one path now.
    pub(crate) fn look(&self, path: &RelPath) -> Option<Entry> {
        let mut cache = StatCache::default();
        let found = self.walker(&mut cache, None).look(path);
        found.ok().flatten().and_then(Result::ok)
    }

    pub(crate) fn walk<'b>(
        &self,
        contents: Option<(&Contents, &mut New)>,
        also: impl Iterator<Item = &'b RelPath>,
    ) -> Result<Tree, SnapshotError> {
        let path = self.folder.join("read.json");
        let mut cache = StatCache::load(&path);
        let tree = self.walker(&mut cache, contents).tree(also)?;
        cache.save(&path, |path| tree.entries.contains_key(path));
        Ok(tree)
    }

    fn walker<'a>(
        &'a self,
        cache: &'a mut StatCache,
        contents: Option<(&'a Contents, &'a mut New)>,
    ) -> Walk<'a> {
        Walk { workspace: &self.workspace, root: &self.root, limits: self.limits, cache, contents }
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
