//! The way back: which turns there are, what undoing one would change, doing it, and taking the
//! newest undo back. Must not know who is shown it or how it reads.

use std::path::PathBuf;

use serde_json::json;

use super::place::SnapshotPlace;
use super::record::{Record, State};
use super::unfinished::UnfinishedUndo;
use super::{Shared, TurnSnapshots, UndoError};
use crate::domain::{SessionId, TurnId, UnixMillis, audit_kind};
use crate::killpoint;
use crate::snapshot::{Change, KeptPath, Plan, Snapshots};
use crate::store::{AuditEntry, now_ms};

/// Which turn is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// The newest one of this workspace that is not undone; of one session, or of all.
    Newest(Option<SessionId>),
    /// This one, in whichever workspace it worked.
    Turn(TurnId),
    /// What the newest undo has changed is put back.
    Redo,
}

/// What an undo would change at this moment.
#[derive(Clone, Debug)]
pub struct Preview {
    pub turn: TurnId,
    pub began_ms: UnixMillis,
    pub workspace: PathBuf,
    /// The newest undo is taken back.
    pub redo: bool,
    pub plan: Plan,
}

/// What an undo has changed.
#[derive(Clone, Debug)]
pub struct UndoneFiles {
    pub turn: TurnId,
    pub workspace: PathBuf,
    pub redo: bool,
    pub changed: Vec<Change>,
    pub kept: Vec<KeptPath>,
}

/// A turn that is remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnRow {
    pub turn: TurnId,
    pub began_ms: UnixMillis,
    /// How many paths it has changed, if it has ended.
    pub changed: Option<usize>,
    /// Why it cannot be undone.
    pub refused: Option<String>,
    pub undone: bool,
}

/// A turn with its snapshots, which nobody else works on meanwhile.
struct Found {
    place: SnapshotPlace,
    snapshots: Snapshots,
    record: Record,
}

impl TurnSnapshots {
    /// The turns of this workspace that may have changed files, newest first.
    ///
    /// # Errors
    /// Their folder cannot be read.
    pub async fn turns(&self) -> Result<Vec<TurnRow>, UndoError> {
        self.apart(|shared| {
            let place = shared.place();
            let records = place.records.all().map_err(place.io())?;
            Ok(records.into_iter().filter(|record| record.undid.is_none()).map(row).collect())
        })
        .await
    }

    /// What undoing a turn would change now. Changes nothing.
    ///
    /// # Errors
    /// There is no such turn, it has not ended or cannot be undone, or its snapshots cannot be
    /// read.
    pub async fn preview(&self, which: Which) -> Result<Preview, UndoError> {
        self.apart(move |shared| {
            let Found { place, snapshots, record } = shared.find(&which)?;
            let plan = snapshots.plan(&record.before(), &record.after())?;
            Ok(Preview {
                redo: record.undid.is_some(),
                began_ms: record.began_ms,
                turn: record.turn,
                workspace: place.workspace,
                plan,
            })
        })
        .await
    }

    /// Undoes a turn in the name of `by`, a principal: what [`TurnSnapshots::preview`] says at this
    /// moment. What is there now is remembered first, so that the undo can be taken back. After a
    /// kill in the middle the next who opens the snapshots finishes it.
    ///
    /// # Errors
    /// As [`TurnSnapshots::preview`], and no room to remember what is there now. A path that cannot
    /// be put back is no error: it is among those that were kept.
    pub async fn undo(&self, which: Which, by: &str) -> Result<UndoneFiles, UndoError> {
        let principal = by.to_owned();
        let (found, undo) = self.apart(move |shared| shared.begin(&which, principal)).await?;
        let body = json!({
            "by": by, "turn": found.record.turn.to_string(), "redo": found.record.undid.is_some(),
            "workspace": found.place.workspace.display().to_string(),
        });
        self.audit(audit_kind::UNDO_STARTED, body).await?;
        killpoint::here("undo.files.begun");
        let (undone, found) = self.apart(move |_| carry_out(found, undo)).await?;
        killpoint::here("undo.files.done");
        let body = json!({
            "by": by, "turn": undone.turn.to_string(),
            "changed": undone.changed.len(), "kept": undone.kept.len(),
        });
        self.audit(audit_kind::UNDO_ENDED, body).await?;
        UnfinishedUndo::remove(&found.place.folder).map_err(found.place.io())?;
        // Nobody else has seen it without its end.
        drop(found);
        killpoint::here("undo.files.told");
        Ok(undone)
    }

    async fn audit(&self, kind: &'static str, body: serde_json::Value) -> Result<(), UndoError> {
        let entry = AuditEntry { kind, call: String::new(), body };
        Ok(self.shared.store.write(move |tx| tx.audit(&entry)).await?)
    }
}

impl Shared {
    /// The turn that is meant, if it can be undone now.
    fn find(&self, which: &Which) -> Result<Found, UndoError> {
        let (place, record) = self.meant(which)?;
        self.refuse_while_a_turn_is_open(&place)?;
        let snapshots = self.open(&place)?;
        // It may be another thing since it was looked for.
        let now = place.records.numbered(record.number).map_err(place.io())?;
        let mut record = now.ok_or_else(|| self.nothing(which))?;
        match &record.state {
            State::Refused { why } => {
                return Err(UndoError::Refused { turn: record.turn, why: why.clone() });
            }
            // It was killed, and its turn has ended otherwise.
            State::Remembered => {
                record.state = State::noted(place.changes_of(&snapshots, &record)?);
                place.records.put(&record).map_err(place.io())?;
                snapshots.drop_ledger(&record.before())?;
            }
            State::Noted { .. } | State::Redoing { .. } => {}
        }
        if record.undone {
            return Err(UndoError::Undone { turn: record.turn, claw: self.claw.clone() });
        }
        Ok(Found { place, snapshots, record })
    }

    fn meant(&self, which: &Which) -> Result<(SnapshotPlace, Record), UndoError> {
        let place = self.place();
        let records = place.records.all().map_err(place.io())?;
        let of_session = |record: &Record, session: &Option<SessionId>| {
            session.as_ref().is_none_or(|session| record.turn.session == *session)
        };
        let found = match which {
            Which::Newest(session) => records.into_iter().find(|record| {
                record.undid.is_none() && !record.undone && of_session(record, session)
            }),
            Which::Redo => records.into_iter().find(|record| {
                record.undid.is_some() && !record.undone && record.state != State::Remembered
            }),
            Which::Turn(turn) => return self.turn_anywhere(turn),
        };
        found.map(|record| (place, record)).ok_or_else(|| self.nothing(which))
    }

    fn turn_anywhere(&self, turn: &TurnId) -> Result<(SnapshotPlace, Record), UndoError> {
        let here = std::iter::once(self.place());
        for place in here.chain(SnapshotPlace::every(&self.folder)) {
            if let Some(record) = place.records.of_turn(turn).map_err(place.io())? {
                return Ok((place, record));
            }
        }
        Err(UndoError::Unknown { turn: turn.clone(), claw: self.claw.clone() })
    }

    /// The end of an open turn would take what an undo does for its own. A turn that has changed
    /// nothing yet is none: its first change waits for the undo.
    fn refuse_while_a_turn_is_open(&self, place: &SnapshotPlace) -> Result<(), UndoError> {
        let records = place.records.all().map_err(place.io())?;
        let has_no_end = |record: &&Record| {
            record.undid.is_none() && !matches!(record.state, State::Noted { .. })
        };
        for record in records.iter().filter(has_no_end) {
            let open = self.store.read(|tx| tx.open_turn(&record.turn.session))?;
            if open == Some(record.turn.seq) {
                return Err(self.why_open(record.turn.clone())?);
            }
        }
        Ok(())
    }

    fn nothing(&self, which: &Which) -> UndoError {
        match which {
            Which::Newest(None) => UndoError::Nothing { scope: "in this workspace".to_owned() },
            Which::Newest(Some(session)) => {
                UndoError::Nothing { scope: format!("of the session {session} in this workspace") }
            }
            Which::Turn(turn) => UndoError::Unknown { turn: turn.clone(), claw: self.claw.clone() },
            Which::Redo => UndoError::NothingToRedo,
        }
    }

    /// What an open turn waits for.
    fn why_open(&self, turn: TurnId) -> Result<UndoError, UndoError> {
        let asked = self.store.read(|tx| tx.open_approvals(Some(&turn.session)))?;
        let now = now_ms();
        // No turn waits for what is staged.
        let asked = asked.into_iter().filter(|row| row.question.staged.is_none());
        Ok(match asked.min_by_key(|row| row.is_overdue(now)) {
            None => UndoError::Open { turn },
            Some(row) if row.is_overdue(now) => UndoError::Overdue { turn, question: row.id },
            Some(row) => UndoError::Waits { turn, question: row.id, claw: self.claw.clone() },
        })
    }

    /// The turn, and the record by which its undo can be taken back; none if it is such a record.
    fn begin(&self, which: &Which, by: String) -> Result<(Found, Option<Record>), UndoError> {
        let mut found = self.find(which)?;
        let Found { place, snapshots, record } = &mut found;
        let mut unfinished = UnfinishedUndo {
            by,
            turn: record.turn.clone(),
            redo: record.undid.is_some(),
            record: record.number,
            undo: None,
            paths: match record.state {
                State::Noted { changed, .. } => changed,
                _ => 0,
            },
            audit: self.store.read(|tx| tx.newest_audit())?.number,
        };
        if record.undid.is_some() {
            unfinished.put(&place.folder).map_err(place.io())?;
            record.state = State::Redoing { changed: unfinished.paths };
            place.records.put(record).map_err(place.io())?;
            return Ok((found, None));
        }
        let undo = Record {
            number: place.records.next_number().map_err(place.io())?,
            turn: record.turn.clone(),
            undid: Some(record.number),
            began_ms: now_ms(),
            state: State::Remembered,
            undone: false,
        };
        snapshots
            .remember_before_undo(&undo.before(), &record.before(), &record.after())
            .map_err(UndoError::NotRemembered)?;
        unfinished.undo = Some(undo.number);
        unfinished.put(&place.folder).map_err(place.io())?;
        place.records.put(&undo).map_err(place.io())?;
        Ok((found, Some(undo)))
    }
}

/// What it has changed, and the snapshots, on which nobody else works until that is told.
fn carry_out(mut found: Found, undo: Option<Record>) -> Result<(UndoneFiles, Found), UndoError> {
    let Found { place, snapshots, record } = &mut found;
    let undone = snapshots.undo(&record.before(), &record.after())?;
    match undo {
        Some(mut undo) => place.end_undo(snapshots, &mut undo)?,
        None => place.end_redo(record)?,
    }
    let undone = UndoneFiles {
        redo: record.undid.is_some(),
        turn: record.turn.clone(),
        workspace: place.workspace.clone(),
        changed: undone.changed,
        kept: undone.kept,
    };
    Ok((undone, found))
}

fn row(record: Record) -> TurnRow {
    let (changed, refused) = match record.state {
        State::Noted { changed, .. } => (Some(changed), None),
        State::Refused { why } => (None, Some(why)),
        State::Remembered | State::Redoing { .. } => (None, None),
    };
    let Record { turn, began_ms, undone, .. } = record;
    TurnRow { turn, began_ms, changed, refused, undone }
}
