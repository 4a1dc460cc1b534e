//! What undoing a turn means for each path: from the workspace before the turn, behind it, and now.
//! Pure. Must not know how a file is put back.

use std::collections::{BTreeMap, BTreeSet};

use crate::entry::{Entry, RelPath};
use crate::tree::Tree;

/// What an undo would do. Nothing is in both lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// In the order of paths, so that a folder stands before what is in it.
    pub changes: Vec<Change>,
    /// What the turn changed and stays as it is now.
    pub kept: Vec<KeptPath>,
}

/// One path that is put back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub path: RelPath,
    /// What is there now, which is what the turn left.
    pub now: Option<Entry>,
    /// What was there before the turn.
    pub before: Option<Entry>,
}

/// One path that the turn changed and that an undo leaves alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptPath {
    pub path: RelPath,
    pub why: KeptBecause,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptBecause {
    /// Somebody has changed it since the turn.
    ChangedSince,
    /// Somebody else has changed it while the turn was under way, or may have.
    ChangedMeanwhile,
    /// A folder that the turn made holds something that the turn did not make.
    NotEmpty,
    /// What is above it is kept, and is no folder.
    NoFolderAbove,
    /// The snapshot does not have its content: it was too large, or nobody could read it.
    NotRemembered,
    /// It changed while the undo ran, or could not be written; what it is now was not touched.
    Failed,
}

impl Plan {
    pub fn new(before: &Tree, after: &Tree, now: &Tree) -> Self {
        let mut plan = Self::default();
        // What each planned or kept path will be, for those below it.
        let mut will_be: BTreeMap<RelPath, Option<Entry>> = BTreeMap::new();
        let paths: BTreeSet<&RelPath> = before.entries.keys().chain(after.entries.keys()).collect();
        for path in paths {
            let (was, left) = (before.entries.get(path), after.entries.get(path));
            let is = now.entries.get(path);
            if was == left || is == was {
                continue;
            }
            let why = if [before, after, now].iter().any(|tree| tree.leaves_out(path)) {
                Some(KeptBecause::NotRemembered)
            } else if after.others.contains(path) {
                Some(KeptBecause::ChangedMeanwhile)
            } else if is != left {
                Some(KeptBecause::ChangedSince)
            } else if was.is_some() && !has_folder_above(path, now, &will_be) {
                Some(KeptBecause::NoFolderAbove)
            } else {
                None
            };
            will_be.insert(path.clone(), if why.is_some() { is } else { was }.cloned());
            match why {
                Some(why) => plan.kept.push(KeptPath { path: path.clone(), why }),
                None => plan.changes.push(Change {
                    path: path.clone(),
                    now: is.cloned(),
                    before: was.cloned(),
                }),
            }
        }
        plan.keep_folders_in_use(now);
        plan.name_others(after, now);
        plan
    }

    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.kept.is_empty()
    }

    /// What is there of others is named, although nothing of it was to be put back.
    fn name_others(&mut self, after: &Tree, now: &Tree) {
        let named: BTreeSet<&RelPath> = self.kept.iter().map(|kept| &kept.path).collect();
        let is_there = |path: &&RelPath| now.entries.contains_key(*path) && !named.contains(path);
        let others: Vec<KeptPath> = after
            .others
            .iter()
            .filter(is_there)
            .map(|path| KeptPath { path: path.clone(), why: KeptBecause::ChangedMeanwhile })
            .collect();
        self.kept.extend(others);
        self.kept.sort_by(|one, other| one.path.cmp(&other.path));
    }

    /// A folder goes only with all that is in it.
    fn keep_folders_in_use(&mut self, now: &Tree) {
        let mut stays: Vec<RelPath> = Vec::new();
        for at in (0..self.changes.len()).rev() {
            let Some(change) = self.changes.get(at) else { continue };
            let goes = change.now.as_ref().is_some_and(Entry::is_folder)
                && !change.before.as_ref().is_some_and(Entry::is_folder);
            if !goes {
                continue;
            }
            let folder = change.path.as_path();
            let removed = |path: &RelPath| {
                self.changes.iter().any(|other| other.path == *path && other.before.is_none())
            };
            let in_use =
                now.entries.keys().chain(now.left_out.iter().map(|left| &left.path)).any(|path| {
                    path.as_path() != folder
                        && path.as_path().starts_with(folder)
                        && (!removed(path) || stays.contains(path))
                });
            if in_use {
                stays.push(change.path.clone());
            }
        }
        for path in stays {
            // What was to stand in its place, and below that, cannot.
            let (kept, changes) =
                std::mem::take(&mut self.changes).into_iter().partition(|change| {
                    change.path == path
                        || change.before.is_some()
                            && change.path.as_path().starts_with(path.as_path())
                });
            self.changes = changes;
            let because =
                |change: Change| KeptPath { path: change.path, why: KeptBecause::NotEmpty };
            self.kept.extend(Vec::into_iter(kept).map(because));
        }
        self.kept.sort_by(|one, other| one.path.cmp(&other.path));
    }
}

/// Whether what is above a path will be a folder when it is put back.
fn has_folder_above(
    path: &RelPath,
    now: &Tree,
    will_be: &BTreeMap<RelPath, Option<Entry>>,
) -> bool {
    match path.above().and_then(|above| will_be.get(&above)) {
        Some(entry) => entry.as_ref().is_some_and(Entry::is_folder),
        None => now.has_folder_above(path),
    }
}

#[cfg(test)]
mod tests;
