//! What a turn has left is noted at its end. Must not know what a call does or how a turn ends.

use super::error::why_not;
use super::record::{Record, State};
use super::{FAILED_MAX, Shared, TurnSnapshots, UndoError};
use crate::domain::TurnId;

/// What a turn has left, as far as it can be undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Left {
    /// So many files are another thing than before; 0: folders alone are.
    Changed { files: usize },
    /// It cannot be undone; the end of a sentence says why.
    CannotBeUndone(String),
}

impl TurnSnapshots {
    /// At the end of a turn: what its calls have changed is what it has left.
    pub async fn note(&self, turn: &TurnId) {
        let of = turn.clone();
        let noted = self.apart(move |shared| shared.note(&of)).await;
        if let Err(error) = noted {
            self.shared.refuse(turn, &error);
        }
        self.shared.known().refused.remove(turn);
    }

    /// What a turn that has ended has left. `None` if it has changed nothing.
    pub fn left(&self, turn: &TurnId) -> Option<Left> {
        if let Some(why) = self.shared.known().failed.get(turn) {
            return Some(Left::CannotBeUndone(why.clone()));
        }
        match self.shared.place().records.of_turn(turn).ok()??.state {
            State::Noted { changed, files } => {
                Some(Left::Changed { files: files.unwrap_or(changed) })
            }
            State::Refused { why } => Some(Left::CannotBeUndone(why)),
            State::Remembered | State::Redoing { .. } => None,
        }
    }
}

impl Shared {
    fn note(&self, turn: &TurnId) -> Result<(), UndoError> {
        let place = self.place();
        // A call that was cut may be at its beginning still. It has the snapshots open until its
        // record is there.
        let early = self.begins_none(turn).then(|| self.open(&place)).transpose()?;
        let is_open = |record: &Record| record.state == State::Remembered;
        let found = place.records.of_turn(turn).map_err(place.io())?;
        let Some(mut record) = found.filter(is_open) else { return Ok(()) };
        let snapshots = early.map_or_else(|| self.open(&place), Ok)?;
        // A call may have been cut, or its end never been heard of.
        let _mark = self.known().at_work.remove(turn);
        let changed = place.changes_of(&snapshots, &record)?;
        if changed.paths == 0 {
            return place.forget(&snapshots, &record);
        }
        record.state = State::noted(changed);
        place.records.put(&record).map_err(place.io())?;
        Ok(snapshots.drop_ledger(&record.before())?)
    }

    /// The disk takes no note of it, so this process knows it alone.
    pub(super) fn fail(&self, turn: &TurnId, error: &UndoError) -> String {
        let why = match error {
            UndoError::Snapshot(error) => why_not(error),
            other => other.to_string(),
        };
        tracing::warn!(%turn, %error, "the workspace could not be remembered");
        let mut known = self.known();
        if known.failed.len() >= FAILED_MAX {
            known.failed.clear();
        }
        known.failed.insert(turn.clone(), why.clone());
        why
    }

    /// What a turn has left could not be noted, so nobody can tell it from what others do.
    pub(super) fn refuse(&self, turn: &TurnId, error: &UndoError) {
        let why = self.fail(turn, error);
        let place = self.place();
        if let Ok(Some(mut record)) = place.records.of_turn(turn) {
            record.state = State::Refused { why };
            if let Err(error) = place.records.put(&record) {
                tracing::warn!(%turn, %error, "that a turn cannot be undone could not be noted");
            }
            // Nothing is counted for it any more.
            let dropped = self.open(&place).map(|open| open.drop_ledger(&record.before()));
            if !matches!(dropped, Ok(Ok(()))) {
                tracing::warn!(%turn, "the ledger of a turn could not be dropped");
            }
        }
    }
}
