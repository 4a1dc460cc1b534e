//! Puts a workspace back, path by path, so that a kill at any moment leaves each path either as it
//! was or as it was remembered, and the next start goes on. Must not know how a plan is made.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use cap_std::fs::{
    Dir, MetadataExt as _, OpenOptions, OpenOptionsExt as _, Permissions, PermissionsExt as _,
};
use claw_kit::attributes::{self, Rights};
use claw_kit::{durable, killpoint};
use serde::{Deserialize, Serialize};

use crate::entry::{Entry, MODE_BITS, RelPath};
use crate::error::SnapshotError;
use crate::plan::{Change, KeptBecause, KeptPath, Plan};
use crate::store::Snapshots;
use crate::sync::Sync;
use crate::walk;

const OWNER_ONLY: u32 = 0o600;
/// What an owner needs to change what is in a folder.
const OWNER_WRITES: u32 = 0o700;

/// What an undo has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undone {
    pub changed: Vec<Change>,
    pub kept: Vec<KeptPath>,
}

/// An undo that is under way. Doing it twice is doing it once: what is back already is no change
/// any more.
#[derive(Debug, Serialize, Deserialize)]
struct Journal {
    before: String,
    after: String,
    /// A folder in the workspace in which files are made ready.
    staging: String,
    /// Folders that were opened for writing, with the modes that they had.
    opened: BTreeMap<RelPath, u32>,
    /// What is put back. A kill can leave it in between: gone, or a folder without its mode.
    paths: BTreeSet<RelPath>,
}

/// Goes on with an undo that was cut.
pub(crate) fn resume(snapshots: &Snapshots) -> Result<Option<Undone>, SnapshotError> {
    let path = snapshots.journal();
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(SnapshotError::at(path)(error)),
    };
    let journal: Journal = serde_json::from_slice(&text).map_err(|error| {
        SnapshotError::Damaged { name: "undo".to_owned(), why: error.to_string() }
    })?;
    for (folder, mode) in &journal.opened {
        let _ = set_mode(snapshots.root(), folder.as_path(), *mode);
    }
    clear_staging(snapshots.root(), &journal.staging);
    begin(snapshots, &journal.before, &journal.after, &journal.paths).map(Some)
}

/// `under_way` are paths that may stand in between, because an undo of this turn was cut.
pub(crate) fn begin(
    snapshots: &Snapshots,
    before: &str,
    after: &str,
    under_way: &BTreeSet<RelPath>,
) -> Result<Undone, SnapshotError> {
    let plan = snapshots.plan_of(before, after, under_way)?;
    let path = snapshots.journal();
    let staging = durable::random().map_err(SnapshotError::at(&path))?;
    let journal = Journal {
        before: before.to_owned(),
        after: after.to_owned(),
        staging: format!(".undo.{staging}.part"),
        opened: closed_folders(snapshots, &plan),
        paths: plan.changes.iter().map(|change| change.path.clone()).collect(),
    };
    let text =
        serde_json::to_string(&journal).map_err(|error| SnapshotError::at(&path)(error.into()))?;
    durable::replace(&path, &text, OWNER_ONLY).map_err(SnapshotError::at(&path))?;
    killpoint::here("undo-noted");
    let staged = stage(snapshots, &journal.staging, &plan.changes);
    let undone = staged
        .map_err(SnapshotError::at(&journal.staging))
        .and_then(|()| perform(snapshots, &journal, plan));
    clear_staging(snapshots.root(), &journal.staging);
    if undone.is_ok() {
        killpoint::here("undo-done");
        fs::remove_file(&path).map_err(SnapshotError::at(&path))?;
    }
    undone
}

/// Writes all files beside the workspace's own, and brings them to the disk in one step: a rename
/// that a power loss keeps without its content would leave an empty file that nobody can tell from
/// somebody's work.
fn stage(snapshots: &Snapshots, staging: &str, changes: &[Change]) -> io::Result<()> {
    let root = snapshots.root();
    root.create_dir(staging)?;
    set_mode(root, staging.as_ref(), OWNER_WRITES)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(OWNER_ONLY);
    let mut sync = Sync::default();
    for (number, change) in changes.iter().enumerate() {
        let Some(Entry::File { digest, mode, .. }) = &change.before else { continue };
        let mut content = snapshots.contents().read(digest)?;
        let mut file = root.open_with(staged(staging, number), &options)?;
        io::copy(&mut content, &mut file)?;
        // What the file has beside its text is not remembered, so the present one says it.
        match walk::open(root, change.path.as_path()) {
            Ok(now) => {
                let of = now.metadata()?;
                let rights = Rights { user: of.uid(), group: of.gid(), mode: *mode };
                attributes::copy(rights, Some(now.as_fd()), file.as_fd())?;
            }
            Err(_) => file.set_permissions(Permissions::from_mode(*mode))?,
        }
        sync.add(file.into_std());
        killpoint::here("undo-step");
    }
    sync.finish(&root.open(".")?.into_std())
}

fn staged(staging: &str, number: usize) -> PathBuf {
    Path::new(staging).join(number.to_string())
}

fn perform(snapshots: &Snapshots, journal: &Journal, plan: Plan) -> Result<Undone, SnapshotError> {
    let root = snapshots.root();
    for (folder, mode) in &journal.opened {
        let _ = set_mode(root, folder.as_path(), mode | OWNER_WRITES);
    }
    let Plan { changes, mut kept } = plan;
    let mut failed: BTreeSet<&RelPath> = BTreeSet::new();
    // What is in a folder goes first, and a folder comes first.
    for change in changes.iter().rev().filter(|change| !stays_in_place(change)) {
        killpoint::here("undo-step");
        if !remove(snapshots, change) {
            failed.insert(&change.path);
        }
    }
    for (number, change) in changes.iter().enumerate() {
        killpoint::here("undo-step");
        let staged = staged(&journal.staging, number);
        if !failed.contains(&change.path) && !put_back(snapshots, change, &staged) {
            failed.insert(&change.path);
        }
    }
    let is_back: BTreeSet<&RelPath> =
        changes.iter().map(|change| &change.path).filter(|path| !failed.contains(path)).collect();
    for (folder, mode) in journal.opened.iter().filter(|(folder, _)| !is_back.contains(folder)) {
        let _ = set_mode(root, folder.as_path(), *mode);
    }
    for change in changes.iter().rev().filter(|change| is_back.contains(&change.path)) {
        if let Some(Entry::Folder { mode }) = change.before {
            let _ = set_mode(root, change.path.as_path(), mode);
        }
    }
    sync_names(root, &is_back).map_err(SnapshotError::at("the workspace"))?;
    let failed: BTreeSet<RelPath> = failed.into_iter().cloned().collect();
    let (changed, not): (Vec<_>, Vec<_>) =
        changes.into_iter().partition(|change| !failed.contains(&change.path));
    kept.extend(
        not.into_iter().map(|change| KeptPath { path: change.path, why: KeptBecause::Failed }),
    );
    Ok(Undone { changed, kept })
}

/// Whether a change needs nothing to be removed first: nothing is there, a file or link is replaced
/// by one in a single step, or a folder stays a folder.
fn stays_in_place(change: &Change) -> bool {
    match (&change.now, &change.before) {
        (None, _) => true,
        (Some(now), Some(before)) => now.is_folder() == before.is_folder(),
        (Some(_), None) => false,
    }
}

/// Folders in which something changes and into which their owner may not write now.
fn closed_folders(snapshots: &Snapshots, plan: &Plan) -> BTreeMap<RelPath, u32> {
    let above = plan.changes.iter().filter_map(|change| change.path.above());
    let closed = above.filter_map(|folder| match snapshots.look(&folder)? {
        Entry::Folder { mode } if mode & OWNER_WRITES != OWNER_WRITES => Some((folder, mode)),
        _ => None,
    });
    closed.collect()
}

/// Whether it is what the plan saw. The mode of a folder that was opened for this does not count.
fn is_as_planned(snapshots: &Snapshots, change: &Change) -> bool {
    match (snapshots.look(&change.path), &change.now) {
        (Some(now), Some(planned)) => now == *planned || now.is_folder() && planned.is_folder(),
        (now, planned) => now.is_none() && planned.is_none(),
    }
}

fn remove(snapshots: &Snapshots, change: &Change) -> bool {
    let (root, path) = (snapshots.root(), change.path.as_path());
    if !is_as_planned(snapshots, change) {
        return false;
    }
    match &change.now {
        Some(Entry::Folder { .. }) => root.remove_dir(path).is_ok(),
        Some(_) => root.remove_file(path).is_ok(),
        None => true,
    }
}

fn put_back(snapshots: &Snapshots, change: &Change, staged: &Path) -> bool {
    let (root, path) = (snapshots.root(), change.path.as_path());
    let Some(before) = &change.before else { return true };
    // What was in its place has been removed, or is replaced in one step.
    let is_free = || snapshots.look(&change.path).is_none();
    if !if stays_in_place(change) { is_as_planned(snapshots, change) } else { is_free() } {
        return false;
    }
    match before {
        // It gets its mode when all that is in it is back.
        Entry::Folder { .. } => match root.create_dir(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => false,
            _ => set_mode(root, path, OWNER_WRITES).is_ok(),
        },
        Entry::File { mode, .. }
            if change.now.as_ref().is_some_and(|now| now.holds_the_same(before)) =>
        {
            set_mode(root, path, *mode).is_ok()
        }
        Entry::File { .. } => root.rename(staged, root, path).is_ok(),
        Entry::Link { target } => {
            let link = staged.with_extension("link");
            root.symlink_contents(target.as_path(), &link).is_ok()
                && root.rename(&link, root, path).is_ok()
        }
    }
}

fn clear_staging(root: &Dir, staging: &str) {
    // Gone already, or in the way of nobody.
    let _ = root.remove_dir_all(staging);
}

/// Brings what stands in the folders of `paths` to the disk.
fn sync_names(root: &Dir, paths: &BTreeSet<&RelPath>) -> io::Result<()> {
    let top = RelPath::from(PathBuf::from("."));
    let folders: BTreeSet<RelPath> =
        paths.iter().map(|path| path.above().unwrap_or_else(|| top.clone())).collect();
    let mut sync = Sync::default();
    // A folder that is gone has taken its names with it.
    for folder in folders.iter().filter_map(|folder| root.open(folder.as_path()).ok()) {
        sync.add(folder.into_std());
    }
    sync.finish(&root.open(".")?.into_std())
}

fn set_mode(root: &Dir, path: &Path, mode: u32) -> io::Result<()> {
    root.set_permissions(path, Permissions::from_mode(mode & MODE_BITS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    /// Somebody may work there while an undo runs.
    #[test]
    fn what_changes_behind_the_plan_is_left_as_it_is() {
        let (folder, workspace) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let at = |name: &str| workspace.path().join(name);
        let (snapshots, _) =
            Snapshots::open(folder.path(), workspace.path(), Limits::default()).unwrap();
        fs::write(at("changed"), "before").unwrap();
        fs::write(at("removed"), "before").unwrap();
        snapshots.remember("before").unwrap();
        fs::write(at("changed"), "turn").unwrap();
        fs::write(at("made"), "turn").unwrap();
        fs::remove_file(at("removed")).unwrap();
        snapshots.note("after", "before").unwrap();
        let plan = snapshots.plan("before", "after").unwrap();
        assert_eq!(plan.changes.len(), 3);
        let journal = Journal {
            before: "before".to_owned(),
            after: "after".to_owned(),
            staging: ".undo.test.part".to_owned(),
            opened: BTreeMap::new(),
            paths: BTreeSet::new(),
        };
        stage(&snapshots, &journal.staging, &plan.changes).unwrap();
        let names = ["changed", "made", "removed"];
        for name in names {
            fs::write(at(name), "somebody").unwrap();
        }
        let undone = perform(&snapshots, &journal, plan).unwrap();
        assert_eq!(undone.changed, []);
        let kept = |name: &str| KeptPath {
            path: RelPath::from(PathBuf::from(name)),
            why: KeptBecause::Failed,
        };
        assert_eq!(undone.kept, names.map(kept));
        for name in names {
            assert_eq!(fs::read_to_string(at(name)).unwrap(), "somebody", "{name}");
        }
    }
}
