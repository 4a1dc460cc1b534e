//! What is different in a turn that a heartbeat has begun: its own budget of a day, an end that
//! tells nobody, and a window that stays small. Must not know when a heartbeat fires.

use super::drive::Drive;
use super::worker::SessionError;
use crate::config::{HeartbeatBudget, end_of_day};
use crate::domain::{EventBody, TurnEnd, heartbeat_of};
use crate::store::{StoreError, Tx};

/// The whole answer of a model that has nothing to tell. OpenClaw's heartbeats have the same word.
pub const NOTHING_TO_TELL: &str = "HEARTBEAT_OK";
/// Earlier turns of its own that a heartbeat sees, those that told nothing left out.
const EXCHANGES_SEEN_MAX: usize = 5;

/// Something that is written down of a heartbeat.
#[derive(Clone, Debug)]
pub(super) enum Noted {
    /// A reply of a model, on this day.
    Request { day: String, tokens: u64 },
    /// The owner is told that it has stopped, up to this time in milliseconds.
    Stopped { until_ms: i64 },
    /// What the owner knows to be wrong with its turns; `None` when that is over.
    Fault(Option<String>),
    /// Its turn has told nothing of what its check found, which is new again at the next time.
    NotTold,
}

impl Noted {
    pub(super) fn write(&self, name: &str, tx: &Tx<'_>) -> Result<(), StoreError> {
        let mut state = tx.heartbeat(name)?;
        match self {
            Self::Request { day, tokens } => state.add_request(day, *tokens),
            Self::Stopped { until_ms } => state.stopped_until_ms = *until_ms,
            Self::Fault(fault) => state.turn_fault.clone_from(fault),
            Self::NotTold => state.check_digest = None,
        }
        tx.set_heartbeat(name, &state)
    }
}

impl Drive<'_> {
    /// The heartbeat that has begun the open turn.
    pub(super) fn heartbeat(&self) -> Option<String> {
        heartbeat_of(self.turn().principal).map(str::to_owned)
    }

    pub(super) fn note_heartbeat(&mut self, name: String, noted: Noted) {
        self.pending.heartbeats.push((name, noted));
    }

    /// Whether the heartbeat's own budget keeps the model from being asked. That ends the turn and
    /// says so, once: until the next day no other turn of it begins.
    pub(super) async fn heartbeat_stops(&mut self) -> Result<bool, SessionError> {
        let Some(name) = self.heartbeat() else { return Ok(false) };
        // What was taken in this turn is counted on the disk.
        self.flush_now().await?;
        let settings = self.settings.clone();
        let budget = settings.heartbeats.of(&name);
        let state = self.worker.store.read(|tx| tx.heartbeat(&name))?;
        let Some(what) = budget.used_up(state.used_on(&settings.budget.today())) else {
            return Ok(false);
        };
        let zone = &settings.budget.zone;
        let until_ms = end_of_day(jiff::Timestamp::now(), zone).as_millisecond();
        let text = HeartbeatBudget::stopped(&name, &what);
        self.note_heartbeat(name, Noted::Stopped { until_ms });
        self.push(EventBody::LimitReached { limit: "heartbeats.toml".to_owned(), text });
        Ok(true)
    }

    /// What is told at the end of a turn. A heartbeat tells nothing if its model has nothing to
    /// tell, and of a fault that lasts once.
    pub(super) fn told_at_end(
        &mut self,
        end: &TurnEnd,
        text: String,
    ) -> Result<Option<String>, SessionError> {
        let Some(name) = self.heartbeat() else { return Ok(Some(text)) };
        let known = self.worker.store.read(|tx| tx.heartbeat(&name))?.turn_fault;
        let is_fault = matches!(end, TurnEnd::Failed { .. }) || self.is_ended_by_the_day();
        let fault = is_fault.then(|| text.clone());
        let both = known.as_deref().zip(fault.as_deref());
        let is_known = both.is_some_and(|(known, fault)| is_same_fault(known, fault));
        if known != fault {
            self.note_heartbeat(name.clone(), Noted::Fault(fault));
        }
        if matches!(end, TurnEnd::Failed { .. } | TurnEnd::Limit { .. }) {
            self.note_heartbeat(name.clone(), Noted::NotTold);
        }
        let is_silent = *end == TurnEnd::Answered && tells_nothing(&text);
        Ok((!is_silent && !is_known).then(|| format!("*Heartbeat* `{name}`\n\n{text}")))
    }

    /// A heartbeat sees its newest exchanges and none older.
    pub(super) fn forget_old_exchanges(&mut self) {
        for _ in EXCHANGES_SEEN_MAX..self.log.exchanges() {
            let Some([first, .., last]) = self.log.oldest_exchange() else { return };
            let (from_seq, through_seq) = (first.seq, last.seq);
            self.push(EventBody::ExchangeDropped { from_seq, through_seq });
        }
    }
}

/// A fault that lasts names another time of day, or another sum, each time.
fn is_same_fault(one: &str, other: &str) -> bool {
    let letters = |text: &str| text.chars().filter(|c| c.is_alphabetic()).collect::<String>();
    letters(one) == letters(other)
}

/// Models like to dress a word up.
fn tells_nothing(text: &str) -> bool {
    text.trim_matches(|c: char| c.is_whitespace() || "*`\"'.!".contains(c)) == NOTHING_TO_TELL
}

#[cfg(test)]
mod tests {
    use super::tells_nothing;

    #[test]
    fn the_word_alone_tells_nothing() {
        for silent in ["HEARTBEAT_OK", " HEARTBEAT_OK.\n", "**HEARTBEAT_OK**", "`HEARTBEAT_OK`"] {
            assert!(tells_nothing(silent), "{silent}");
        }
        for told in ["", "OK", "HEARTBEAT_OK, but look at the mail", "heartbeat ok"] {
            assert!(!tells_nothing(told), "{told}");
        }
    }
}
