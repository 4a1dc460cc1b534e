//! A workspace at one moment: every path with its entry, and what was left out. Pure. Must not know
//! where a tree is kept.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::entry::{Entry, RelPath};

/// All that was found. The workspace itself is no entry, nor is what `.gitignore` names, nor
/// `.git`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tree {
    #[serde(with = "rows")]
    pub entries: BTreeMap<RelPath, Entry>,
    pub left_out: Vec<LeftOut>,
    /// What others have changed while the one was at work whose tree this is.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub others: BTreeSet<RelPath>,
}

/// A path that was seen and not remembered. Nothing about it is changed when a turn is undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    pub path: RelPath,
    pub why: Why,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Why {
    /// Larger than [`crate::Limits::file_bytes_max`].
    TooLarge { bytes: u64 },
    /// The owner of the process may not read it.
    Unreadable,
    /// A socket, a pipe or a device.
    Special,
}

/// At how many paths two trees have another thing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    pub paths: usize,
    /// Of these, those that are or were no folder.
    pub files: usize,
}

impl Tree {
    /// The files, folders and links that it has.
    pub fn files(&self) -> usize {
        self.entries.len()
    }

    /// Of all files together.
    pub fn bytes(&self) -> u64 {
        let bytes = |entry: &Entry| if let Entry::File { bytes, .. } = entry { *bytes } else { 0 };
        self.entries.values().map(bytes).sum()
    }

    /// Where the two have another thing.
    pub(crate) fn differs_from(&self, other: &Self) -> Changes {
        let is_file = |entry: Option<&Entry>| entry.is_some_and(|entry| !entry.is_folder());
        let only_there = other.entries.keys().filter(|path| !self.entries.contains_key(*path));
        let mut changes = Changes::default();
        for path in self.entries.keys().chain(only_there) {
            let (here, there) = (self.entries.get(path), other.entries.get(path));
            changes.paths += usize::from(here != there);
            changes.files += usize::from(here != there && (is_file(here) || is_file(there)));
        }
        changes
    }

    /// Whether what is above a path is a folder, and no link to one.
    pub(crate) fn has_folder_above(&self, path: &RelPath) -> bool {
        path.above().is_none_or(|above| self.entries.get(&above).is_some_and(Entry::is_folder))
    }

    /// Counts what an undo that was cut has left at `paths` as what the turn left there: nothing in
    /// the place of what it had to remove first, or a folder that has not got its mode yet.
    pub(crate) fn take_over(&mut self, paths: &BTreeSet<RelPath>, before: &Self, now: &Self) {
        for path in paths {
            let Some(was) = before.entries.get(path) else { continue };
            let is = now.entries.get(path);
            let left = self.entries.get(path).map(Entry::is_folder);
            let was_removed = is.is_none() && left == Some(!was.is_folder());
            let has_no_mode = was.is_folder() && is.is_some_and(Entry::is_folder);
            if was_removed {
                self.entries.remove(path);
            } else if let (true, Some(is)) = (has_no_mode, is) {
                self.entries.insert(path.clone(), is.clone());
            }
        }
    }

    /// What that one leaves out, this one does, too.
    pub(crate) fn leave_out_also(&mut self, other: &Self) {
        self.left_out.extend(other.left_out.iter().cloned());
        self.left_out.sort_by(|one, other| one.path.cmp(&other.path));
        self.left_out.dedup();
    }

    /// Whether the path, or a folder above it, was seen and not remembered.
    pub(crate) fn leaves_out(&self, path: &RelPath) -> bool {
        self.left_out.iter().any(|left| path.as_path().starts_with(left.path.as_path()))
    }
}

/// JSON has no maps with such keys that every reader takes, so an entry is a row.
mod rows {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::entry::{Entry, RelPath};

    #[derive(Serialize)]
    struct Row<'a> {
        path: &'a RelPath,
        #[serde(flatten)]
        entry: &'a Entry,
    }

    #[derive(Deserialize)]
    struct Read {
        path: RelPath,
        #[serde(flatten)]
        entry: Entry,
    }

    pub(super) fn serialize<S: Serializer>(
        entries: &BTreeMap<RelPath, Entry>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(entries.iter().map(|(path, entry)| Row { path, entry }))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<RelPath, Entry>, D::Error> {
        let rows = Vec::<Read>::deserialize(deserializer)?;
        Ok(rows.into_iter().map(|row| (row.path, row.entry)).collect())
    }
}
