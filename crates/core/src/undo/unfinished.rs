//! An undo of which the audit has the beginning and not yet the end: a note of it beside the
//! snapshots of its workspace, and what is told of one that a kill has cut. Must not know how files
//! are put back, or who reads it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::place::SnapshotPlace;
use super::record::State;
use super::{Shared, TurnSnapshots, UndoError};
use crate::domain::{TurnId, audit_kind};
use crate::durable;
use crate::snapshot::{Plan, Snapshots};
use crate::store::AuditEntry;

const NAME: &str = "untold.json";
const OWNER_ONLY: u32 = 0o600;

/// It is written before the audit's first row of the undo, and goes behind the last one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UnfinishedUndo {
    /// A principal.
    pub(super) by: String,
    pub(super) turn: TurnId,
    pub(super) redo: bool,
    /// The record whose changes are put back: of the turn, or of the undo that is taken back.
    pub(super) record: u64,
    /// The record that is made of an undo; none for one that is taken back.
    pub(super) undo: Option<u64>,
    /// How many paths an undo that is taken back has changed.
    pub(super) paths: usize,
    /// The newest row of the audit before it began.
    pub(super) audit: i64,
}

/// An undo that a kill has cut, and that is finished now.
#[derive(Clone, Debug)]
pub struct Finished {
    pub turn: TurnId,
    pub workspace: PathBuf,
    pub redo: bool,
    /// How many paths are put back, before the kill and since.
    pub changed: usize,
    /// What is not: what could not be written, or all of it where no file was changed yet.
    pub rest: Plan,
}

impl UnfinishedUndo {
    pub(super) fn is_in(folder: &Path) -> bool {
        folder.join(NAME).exists()
    }

    pub(super) fn put(&self, folder: &Path) -> io::Result<()> {
        durable::replace(&folder.join(NAME), &serde_json::to_string(self)?, OWNER_ONLY)
    }

    pub(super) fn remove(folder: &Path) -> io::Result<()> {
        match fs::remove_file(folder.join(NAME)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn read(folder: &Path) -> io::Result<Option<Self>> {
        match fs::read(folder.join(NAME)) {
            Ok(text) => Ok(Some(serde_json::from_slice(&text)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl TurnSnapshots {
    /// Finishes the undos that a kill has cut, in every workspace, and says what came of each. One
    /// that is under way in another process is left to it.
    ///
    /// # Errors
    /// Every failure to read or to write; what was not finished is looked at again the next time.
    pub async fn finish_cut(&self) -> Result<Vec<Finished>, UndoError> {
        self.apart(|shared| {
            let mut finished = Vec::new();
            let places = SnapshotPlace::every(&shared.folder).into_iter();
            for place in places.filter(|place| place.is_cut() && place.workspace.is_dir()) {
                let Some(snapshots) = place.open_at_once(shared.limits())? else { continue };
                finished.extend(shared.tell(&place, &snapshots)?);
            }
            Ok(finished)
        })
        .await
    }
}

impl Shared {
    /// The snapshots of a workspace, when no other process works there and everything that a kill
    /// has cut is finished and in the audit.
    pub(super) fn open(&self, place: &SnapshotPlace) -> Result<Snapshots, UndoError> {
        let snapshots = place.open(self.limits())?;
        self.tell(place, &snapshots)?;
        Ok(snapshots)
    }

    /// The last row of an undo that was cut: at most once, and none without a first one.
    fn tell(
        &self,
        place: &SnapshotPlace,
        snapshots: &Snapshots,
    ) -> Result<Option<Finished>, UndoError> {
        let found = UnfinishedUndo::read(&place.folder).map_err(place.io())?;
        let Some(unfinished) = found else { return Ok(None) };
        let finished = finished(place, snapshots, &unfinished)?;
        let (since, turn) = (unfinished.audit, unfinished.turn.to_string());
        let body = json!({
            "by": unfinished.by, "turn": turn, "changed": finished.changed,
            "kept": finished.rest.kept.len() + finished.rest.changes.len(), "cut": true,
        });
        let written = self.store.write(move |tx| {
            let is_told = |kind| tx.is_audited_since(since, kind, &turn);
            if !is_told(audit_kind::UNDO_STARTED)? || is_told(audit_kind::UNDO_ENDED)? {
                return Ok(false);
            }
            tx.audit(&AuditEntry { kind: audit_kind::UNDO_ENDED, call: String::new(), body })?;
            Ok(true)
        });
        // This thread may wait: nothing else runs on it.
        let is_news = tokio::runtime::Handle::current().block_on(written)?;
        UnfinishedUndo::remove(&place.folder).map_err(place.io())?;
        Ok(is_news.then_some(finished))
    }
}

fn finished(
    place: &SnapshotPlace,
    snapshots: &Snapshots,
    unfinished: &UnfinishedUndo,
) -> Result<Finished, UndoError> {
    let record = place.records.numbered(unfinished.record).map_err(place.io())?;
    let rest = match record {
        Some(record) => snapshots.plan(&record.before(), &record.after())?,
        None => Plan { changes: Vec::new(), kept: Vec::new() },
    };
    let changed = match unfinished.undo {
        // One that has changed nothing is forgotten.
        Some(number) => match place.records.numbered(number).map_err(place.io())? {
            Some(undo) => match undo.state {
                State::Noted { changed, .. } => changed,
                _ => 0,
            },
            None => 0,
        },
        None => unfinished.paths.saturating_sub(rest.changes.len() + rest.kept.len()),
    };
    let UnfinishedUndo { turn, redo, .. } = unfinished.clone();
    Ok(Finished { turn, workspace: place.workspace.clone(), redo, changed, rest })
}
