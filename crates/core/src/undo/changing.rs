//! The calls of a turn that may change the workspace: it is looked at when the first of those side
//! by side begins and when the last has ended. Must not know what a call does or how a turn ends.

use std::mem;
use std::sync::Arc;

use super::error::{sentence, why_not};
use super::record::{Record, State};
use super::{Shared, TurnSnapshots, UndoError};
use crate::domain::TurnId;
use crate::killpoint;
use crate::snapshot::AtWork;
use crate::store::now_ms;

/// A call that may change the workspace is under way. To be ended when it has, whatever came of it;
/// one that never is ends with its turn.
#[must_use]
pub struct Changing {
    snapshots: TurnSnapshots,
    turn: TurnId,
}

/// A turn of this process that has such calls.
pub(super) struct TurnAtWork {
    calls: usize,
    /// Others see by it that the turn is at work.
    _mark: AtWork,
}

/// The calls of a turn that are about to be counted, also those that nobody waits for any more.
#[derive(Default)]
pub(super) struct Beginning {
    calls: usize,
    /// The turn has ended meanwhile.
    is_too_late: bool,
}

/// One of them; goes with the work that counts it.
struct Begins {
    shared: Arc<Shared>,
    turn: TurnId,
}

impl Begins {
    fn new(shared: &Arc<Shared>, turn: &TurnId) -> Self {
        shared.known().beginning.entry(turn.clone()).or_default().calls += 1;
        Self { shared: shared.clone(), turn: turn.clone() }
    }
}

impl Drop for Begins {
    fn drop(&mut self) {
        let mut known = self.shared.known();
        if let Some(beginning) = known.beginning.get_mut(&self.turn) {
            beginning.calls -= 1;
            if beginning.calls == 0 {
                known.beginning.remove(&self.turn);
            }
        }
    }
}

/// How a call may begin.
enum Begun {
    Counted,
    /// The turn cannot be undone, as was said before.
    Refused,
    /// It cannot be undone from now on; the end of a sentence says why.
    RefusedNow(String),
    /// The turn has ended, and the call was cut with it.
    TooLate,
}

impl TurnSnapshots {
    /// Before a call of this turn that may change the workspace starts. Costs a look at the whole
    /// workspace, if no other one of the turn is under way. With a sentence for the person, once a
    /// turn, if the turn cannot be undone; it goes on anyway.
    pub async fn before_change(&self, turn: &TurnId) -> (Option<Changing>, Option<String>) {
        if self.shared.known().refused.contains_key(turn) {
            return (None, None);
        }
        let changing = || Changing { snapshots: self.clone(), turn: turn.clone() };
        if self.shared.joins_another_call(turn) {
            return (Some(changing()), None);
        }
        let (looking, begins) = (turn.clone(), Begins::new(&self.shared, turn));
        killpoint::here("undo.remember.before");
        let work = move |shared: &Shared| {
            let _begins = begins;
            shared.begin_change(&looking)
        };
        let begun = self.apart(work).await;
        killpoint::here("undo.remember.after");
        let why = match begun {
            Ok(Begun::Counted) => return (Some(changing()), None),
            Ok(Begun::TooLate) => return (None, None),
            Ok(Begun::Refused) => None,
            Ok(Begun::RefusedNow(why)) => Some(why),
            Err(error) => Some(self.shared.fail(turn, &error)),
        };
        // Of calls side by side one tells: the first that knows why, and not the one that is here
        // first, which may have found the turn refused by the other.
        let mut known = self.shared.known();
        let told = known.refused.entry(turn.clone()).or_default();
        let why = why.filter(|_| !mem::replace(told, true));
        (None, why.map(|why| sentence(&why)))
    }
}

impl Changing {
    /// Behind the call, before anybody acts on what came of it.
    pub async fn end(self) {
        let Self { snapshots, turn } = self;
        let of = turn.clone();
        if let Err(error) = snapshots.apart(move |shared| shared.end_change(&of)).await {
            snapshots.shared.refuse(&turn, &error);
            snapshots.shared.known().refused.entry(turn).or_default();
        }
    }
}

impl Shared {
    fn joins_another_call(&self, turn: &TurnId) -> bool {
        match self.known().at_work.get_mut(turn) {
            Some(at_work) => {
                at_work.calls += 1;
                true
            }
            None => false,
        }
    }

    /// A turn has its end: of its calls that are not counted yet none is from here on, but one may
    /// be just now. Says whether there are any.
    pub(super) fn begins_none(&self, turn: &TurnId) -> bool {
        match self.known().beginning.get_mut(turn) {
            Some(beginning) => {
                beginning.is_too_late = true;
                true
            }
            None => false,
        }
    }

    fn begin_change(&self, turn: &TurnId) -> Result<Begun, UndoError> {
        let place = self.place();
        let snapshots = self.open(&place)?;
        // Nobody would ever end it, and what others change would be taken for the turn's.
        if self.known().beginning.get(turn).is_some_and(|beginning| beginning.is_too_late) {
            return Ok(Begun::TooLate);
        }
        // A call beside this one may have been faster.
        if self.joins_another_call(turn) {
            return Ok(Begun::Counted);
        }
        // A turn that goes on after a kill keeps its beginning.
        let found = place.records.of_turn(turn).map_err(place.io())?;
        let is_new = found.is_none();
        let mut record = match found {
            Some(record) if snapshots.has_ledger(&record.before()) => record,
            Some(_) => return Ok(Begun::Refused),
            None => Record {
                number: place.records.next_number().map_err(place.io())?,
                turn: turn.clone(),
                undid: None,
                began_ms: now_ms(),
                state: State::Remembered,
                undone: false,
            },
        };
        if is_new {
            // A kill may have left one under this number.
            snapshots.drop_ledger(&record.before())?;
        }
        match snapshots.begin(&record.before()) {
            Ok(mark) => {
                if is_new {
                    place.records.put(&record).map_err(place.io())?;
                }
                let at_work = TurnAtWork { calls: 1, _mark: mark };
                self.known().at_work.insert(turn.clone(), at_work);
                Ok(Begun::Counted)
            }
            Err(error) => {
                let why = why_not(&error);
                record.state = State::Refused { why: why.clone() };
                place.records.put(&record).map_err(place.io())?;
                snapshots.drop_ledger(&record.before())?;
                Ok(Begun::RefusedNow(why))
            }
        }
    }

    fn end_change(&self, turn: &TurnId) -> Result<(), UndoError> {
        let is_last = |known: &mut super::Known| match known.at_work.get_mut(turn) {
            Some(at_work) if at_work.calls > 1 => {
                at_work.calls -= 1;
                None
            }
            Some(_) => Some(()),
            None => None,
        };
        if is_last(&mut self.known()).is_none() {
            return Ok(());
        }
        let place = self.place();
        let snapshots = self.open(&place)?;
        // Another call may have begun meanwhile. None begins as long as the snapshots are open.
        let ended = {
            let mut known = self.known();
            match is_last(&mut known) {
                Some(()) => known.at_work.remove(turn),
                None => None,
            }
        };
        let Some(_mark) = ended else { return Ok(()) };
        match place.records.of_turn(turn).map_err(place.io())? {
            Some(record) => Ok(snapshots.pause(&record.before())?),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
