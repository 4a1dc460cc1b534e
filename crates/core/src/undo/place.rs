//! The folder of one workspace: its snapshots, its records, its lock, and which workspace it is
//! of. Must not know turns' ends or who asks.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::UndoError;
use super::record::{Record, Records, State};
use super::unfinished::UnfinishedUndo;
use crate::domain::canonical;
use crate::durable;
use crate::snapshot::{Changes, Limits, RelPath, SnapshotError, SnapshotFolder, Snapshots};

/// How long another process may be at work before a turn goes on without a snapshot.
const WAIT: Duration = Duration::from_secs(60);
const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// Digits of the digest of a workspace's path that name its folder.
const NAME_DIGITS: usize = 16;
const OWNER_ONLY: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;

pub(super) struct SnapshotPlace {
    pub(super) folder: PathBuf,
    pub(super) workspace: PathBuf,
    pub(super) records: Records,
}

impl SnapshotPlace {
    pub(super) fn of(all: &Path, workspace: &Path) -> Self {
        let digest = canonical::sha256_hex(workspace.as_os_str().as_bytes());
        let folder = all.join(digest.get(..NAME_DIGITS).unwrap_or(&digest));
        Self::at(folder, workspace.to_owned())
    }

    fn at(folder: PathBuf, workspace: PathBuf) -> Self {
        let records = Records::new(folder.join("turns"));
        Self { folder, workspace, records }
    }

    /// Of every workspace that was ever remembered.
    pub(super) fn every(all: &Path) -> Vec<Self> {
        let entries = fs::read_dir(all).into_iter().flatten().filter_map(Result::ok);
        let place = |folder: PathBuf| {
            let text = fs::read(folder.join("workspace.json")).ok()?;
            let workspace: RelPath = serde_json::from_slice(&text).ok()?;
            Some(Self::at(folder, workspace.as_path().to_owned()))
        };
        entries.filter_map(|entry| place(entry.path())).collect()
    }

    /// Waits until no other process works here. Whatever a kill has cut is finished then.
    pub(super) fn open(&self, limits: Limits) -> Result<Snapshots, UndoError> {
        self.says_whose_it_is().map_err(self.io())?;
        waited(|| self.open_at_once(limits))
    }

    /// The same while the workspace is not there. What a kill has cut stays as it is.
    pub(super) fn open_folder(&self) -> Result<SnapshotFolder, UndoError> {
        waited(|| match SnapshotFolder::open(&self.folder) {
            Err(SnapshotError::Busy) => Ok(None),
            opened => Ok(Some(opened?)),
        })
    }

    /// The same without waiting. `None` if another process works here.
    pub(super) fn open_at_once(&self, limits: Limits) -> Result<Option<Snapshots>, UndoError> {
        let (snapshots, undone) = match Snapshots::open(&self.folder, &self.workspace, limits) {
            Err(SnapshotError::Busy) => return Ok(None),
            opened => opened?,
        };
        if undone.is_some() {
            tracing::warn!(workspace = %self.workspace.display(), "an undo that was cut is finished");
        }
        self.finish_what_was_cut(&snapshots)?;
        Ok(Some(snapshots))
    }

    pub(super) fn io(&self) -> impl FnOnce(io::Error) -> UndoError {
        let path = self.folder.clone();
        move |source| SnapshotError::Io { path, source }.into()
    }

    /// Whether an undo was begun here and has no end, among the files or in the audit.
    pub(super) fn is_cut(&self) -> bool {
        SnapshotFolder::is_cut(&self.folder) || UnfinishedUndo::is_in(&self.folder)
    }

    /// Forgets all of it.
    pub(super) fn remove(&self) -> Result<(), UndoError> {
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.io()(error)),
            _ => Ok(()),
        }
    }

    fn says_whose_it_is(&self) -> io::Result<()> {
        let path = self.folder.join("workspace.json");
        if path.exists() {
            return Ok(());
        }
        durable::create_dirs(&self.folder, FOLDER_MODE)?;
        let text = serde_json::to_string(&RelPath::from(self.workspace.clone()))?;
        durable::replace(&path, &text, OWNER_ONLY)
    }

    /// The files are put back when the snapshots are open; what is missing is the note of it.
    fn finish_what_was_cut(&self, snapshots: &Snapshots) -> Result<(), UndoError> {
        let Some(mut undo) = self.records.newest_undo().map_err(self.io())? else { return Ok(()) };
        match undo.state {
            State::Remembered => self.end_undo(snapshots, &mut undo),
            // A kill before the first file has left the undo as it was: it can be taken back still.
            State::Redoing { changed } if !self.is_taken_back(snapshots, &undo)? => {
                undo.state = State::Noted { changed, files: None };
                self.records.put(&undo).map_err(self.io())
            }
            State::Redoing { .. } => self.end_redo(&mut undo),
            State::Noted { .. } | State::Refused { .. } => Ok(()),
        }
    }

    /// What an undo has changed is noted, so that it can be taken back; one that has changed
    /// nothing is forgotten.
    pub(super) fn end_undo(
        &self,
        snapshots: &Snapshots,
        undo: &mut Record,
    ) -> Result<(), UndoError> {
        let changed = snapshots.note_changes(&undo.after(), &undo.before())?;
        if changed.paths == 0 {
            return self.forget(snapshots, undo);
        }
        undo.state = State::noted(changed);
        self.set_undone(undo.undid, true)?;
        self.records.put(undo).map_err(self.io())
    }

    fn is_taken_back(&self, snapshots: &Snapshots, undo: &Record) -> Result<bool, UndoError> {
        Ok(snapshots.plan(&undo.before(), &undo.after())?.changes.is_empty())
    }

    pub(super) fn end_redo(&self, undo: &mut Record) -> Result<(), UndoError> {
        (undo.state, undo.undone) = (State::noted(Changes::default()), true);
        self.set_undone(undo.undid, false)?;
        self.records.put(undo).map_err(self.io())
    }

    fn set_undone(&self, number: Option<u64>, undone: bool) -> Result<(), UndoError> {
        let Some(number) = number else { return Ok(()) };
        let Some(mut of) = self.records.numbered(number).map_err(self.io())? else {
            return Ok(());
        };
        of.undone = undone;
        self.records.put(&of).map_err(self.io())
    }

    /// What the calls of a turn have changed. A turn that an earlier claw has begun has no ledger:
    /// all that is another thing than before is taken for its own.
    pub(super) fn changes_of(
        &self,
        snapshots: &Snapshots,
        record: &Record,
    ) -> Result<Changes, UndoError> {
        let (before, after) = (record.before(), record.after());
        match snapshots.settle(&before, &after)? {
            Some(changes) => Ok(changes),
            None => Ok(snapshots.note_changes(&after, &before)?),
        }
    }

    /// Nothing was changed, so there is nothing to come back to. The contents go with retention.
    pub(super) fn forget(&self, snapshots: &Snapshots, record: &Record) -> Result<(), UndoError> {
        self.records.remove(record).map_err(self.io())?;
        snapshots.drop_ledger(&record.before())?;
        snapshots.forget(&record.before())?;
        Ok(snapshots.forget(&record.after())?)
    }
}

/// What `open` gives as soon as no other process works there.
fn waited<T>(mut open: impl FnMut() -> Result<Option<T>, UndoError>) -> Result<T, UndoError> {
    let deadline = Instant::now() + WAIT;
    loop {
        match open()? {
            Some(opened) => return Ok(opened),
            // This thread may wait: nothing else runs on it.
            None if Instant::now() < deadline => std::thread::sleep(LOOK_AGAIN),
            None => return Err(SnapshotError::Busy.into()),
        }
    }
}
