//! A turn is remembered before its first change, and noted at its end. Must not know what a call
//! does or how a turn ends.

use super::error::{sentence, why_not};
use super::record::{Record, State};
use super::{FAILED_MAX, Shared, TurnSnapshots, UndoError};
use crate::domain::TurnId;
use crate::killpoint;
use crate::store::now_ms;

/// What a turn has left, as far as it can be undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Left {
    /// So many files are another thing than before; 0: folders alone are.
    Changed { files: usize },
    /// It cannot be undone; the end of a sentence says why.
    CannotBeUndone(String),
}

impl TurnSnapshots {
    /// Before a call of this turn that may change the workspace starts. The first one costs a look
    /// at the whole workspace, all others nothing. A sentence for the person, once a turn, if the
    /// turn cannot be undone; it goes on anyway.
    pub async fn before_change(&self, turn: &TurnId) -> Option<String> {
        if self.shared.known().looked.contains(turn) {
            return None;
        }
        let (of, looking) = (turn.clone(), turn.clone());
        killpoint::here("undo.remember.before");
        let remembered = self.apart(move |shared| shared.remember(&looking)).await;
        killpoint::here("undo.remember.after");
        let told = match remembered {
            Ok(told) => told,
            Err(error) => Some(self.shared.fail(&of, &error)),
        };
        // Of two calls side by side the first one tells.
        let is_first = self.shared.known().looked.insert(of);
        told.filter(|_| is_first).map(|why| sentence(&why))
    }

    /// At the end of a turn: what is there now is what the turn has left.
    pub async fn note(&self, turn: &TurnId) {
        let of = turn.clone();
        let noted = self.apart(move |shared| shared.note(&of)).await;
        if let Err(error) = noted {
            self.shared.refuse(turn, &error);
        }
        self.shared.known().looked.remove(turn);
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
    /// Why the turn was refused, if that was just now.
    fn remember(&self, turn: &TurnId) -> Result<Option<String>, UndoError> {
        let place = self.place();
        // A turn that goes on after a kill keeps its beginning.
        if place.records.of_turn(turn).map_err(place.io())?.is_some() {
            return Ok(None);
        }
        let snapshots = self.open(&place)?;
        // A call beside this one may have been faster.
        if place.records.of_turn(turn).map_err(place.io())?.is_some() {
            return Ok(None);
        }
        let mut record = Record {
            number: place.records.next_number().map_err(place.io())?,
            turn: turn.clone(),
            undid: None,
            began_ms: now_ms(),
            state: State::Remembered,
            undone: false,
        };
        let remembered = snapshots.remember(&record.before());
        let told = remembered.err().map(|error| why_not(&error));
        if let Some(why) = &told {
            record.state = State::Refused { why: why.clone() };
        }
        place.records.put(&record).map_err(place.io())?;
        Ok(told)
    }

    fn note(&self, turn: &TurnId) -> Result<(), UndoError> {
        let place = self.place();
        let is_open = |record: &Record| record.state == State::Remembered;
        let found = place.records.of_turn(turn).map_err(place.io())?;
        let Some(mut record) = found.filter(is_open) else { return Ok(()) };
        let snapshots = self.open(&place)?;
        let changed = snapshots.note_changes(&record.after(), &record.before())?;
        if changed.paths == 0 {
            return place.forget(&snapshots, &record);
        }
        record.state = State::noted(changed);
        place.records.put(&record).map_err(place.io())
    }

    /// The disk takes no note of it, so this process knows it alone.
    fn fail(&self, turn: &TurnId, error: &UndoError) -> String {
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
    fn refuse(&self, turn: &TurnId, error: &UndoError) {
        let why = self.fail(turn, error);
        let place = self.place();
        if let Ok(Some(mut record)) = place.records.of_turn(turn) {
            record.state = State::Refused { why };
            if let Err(error) = place.records.put(&record) {
                tracing::warn!(%turn, %error, "that a turn cannot be undone could not be noted");
            }
        }
    }
}
