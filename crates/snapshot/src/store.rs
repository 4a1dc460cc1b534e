//! The snapshots of one workspace: remembers it, compares it, puts it back. Owns the handle of the
//! workspace. Must not know turns or who asks.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::contents::{Contents, New};
use crate::entry::{Entry, RelPath};
use crate::error::SnapshotError;
use crate::folder::SnapshotFolder;
use crate::ignored::without_what_came_to_sight;
use crate::limits::Limits;
use crate::plan::Plan;
use crate::stat_cache::StatCache;
use crate::tree::{Changes, Tree};
use crate::undo::{self, Undone};
use crate::walk::Walk;

/// What is kept of one workspace, in a folder outside of it.
///
/// A snapshot has a name that the caller gives: letters, digits and `-`, at most 128 bytes. It is a
/// tree (`trees/NAME.json`); contents lie beside it by digest, each once.
pub struct Snapshots {
    /// Held (`flock`) as long as this value lives.
    folder: SnapshotFolder,
    workspace: PathBuf,
    root: Dir,
    limits: Limits,
}

impl Deref for Snapshots {
    type Target = SnapshotFolder;

    fn deref(&self) -> &SnapshotFolder {
        &self.folder
    }
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
        let snapshots = Self {
            folder: SnapshotFolder::open(folder)?,
            workspace: workspace.to_owned(),
            root: Dir::open_ambient_dir(workspace, ambient_authority())
                .map_err(SnapshotError::at(workspace))?,
            limits,
        };
        let undone = undo::resume(&snapshots)?;
        Ok((snapshots, undone))
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
    /// As [`Snapshots::remember`] and [`SnapshotFolder::tree`].
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
        let tree = self.walk(Some((self.contents(), &mut new)), also)?;
        self.contents().publish(new).map_err(SnapshotError::at(self.folder()))?;
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
        let tree = without_what_came_to_sight(&now, &before, self.contents()).into_owned();
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

    /// What undoing the turn between two snapshots would change now.
    ///
    /// # Errors
    /// As [`SnapshotFolder::tree`], and every failure to read the workspace.
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

    pub(crate) fn root(&self) -> &Dir {
        &self.root
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
        let path = self.folder().join("read.json");
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
}
