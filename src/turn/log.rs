//! A session's log in memory: the window of events that a turn needs. Owns the numbering of what is
//! appended; must not know how events are stored.

use crate::domain::{Event, EventBody, SessionId, UnixMillis};

/// The events from the newest boundary on, and the number that the next one gets.
#[derive(Clone, Debug)]
pub struct Log {
    session: SessionId,
    events: Vec<Event>,
    next_seq: u64,
}

impl Log {
    /// `last_seq` is the number of the newest stored event, 0 for none.
    pub fn new(session: SessionId, events: Vec<Event>, last_seq: u64) -> Self {
        let mut log = Self { session, events, next_seq: last_seq + 1 };
        log.prune();
        log
    }

    /// Forgets what no model will see again, so that the window never grows with the history.
    fn prune(&mut self) {
        let hidden_through = self.events.iter().rev().find_map(|event| match &event.body {
            EventBody::Summary { through_seq, .. }
            | EventBody::WindowDropped { through_seq, .. } => Some(*through_seq),
            EventBody::SessionCleared {} => Some(event.seq - 1),
            _ => None,
        });
        if let Some(through) = hidden_through {
            self.events.retain(|event| event.seq > through);
        }
        let undone = self.events.iter().filter_map(|event| match &event.body {
            // No event can drop what comes after it, whatever it says.
            EventBody::ExchangeDropped { from_seq, through_seq } => {
                Some(*from_seq..=(*through_seq).min(event.seq - 1))
            }
            _ => None,
        });
        let undone: Vec<_> = undone.collect();
        if !undone.is_empty() {
            let hidden = |event: &Event| undone.iter().any(|range| range.contains(&event.seq));
            self.events.retain(|event| outlives_its_exchange(&event.body) || !hidden(event));
        }
    }

    /// The newest ended turn that a model still sees: what `/undo` drops.
    pub fn last_exchange(&self) -> Option<&[Event]> {
        let ended = self
            .events
            .iter()
            .rposition(|event| matches!(event.body, EventBody::TurnEnded { .. }))?;
        let turn = self.events.get(..=ended)?;
        let started =
            turn.iter().rposition(|event| matches!(event.body, EventBody::TurnStarted { .. }))?;
        turn.get(started..)
    }

    /// The summary in force, if there is one.
    pub fn summary(&self) -> Option<&str> {
        let text = self.events.iter().rev().find_map(|event| match &event.body {
            EventBody::Summary { text, .. } => Some(text.as_str()),
            EventBody::WindowDropped { kept_summary, .. } => Some(kept_summary.as_str()),
            _ => None,
        });
        text.filter(|text| !text.is_empty())
    }

    pub fn session(&self) -> &SessionId {
        &self.session
    }

    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Numbers an event and keeps it. The caller stores what is returned.
    pub fn push(&mut self, at_ms: UnixMillis, body: EventBody) -> Event {
        let event = Event { seq: self.next_seq, at_ms, body };
        self.next_seq += 1;
        self.events.push(event.clone());
        self.prune();
        event
    }

    /// Takes in an event that is stored already, with its own number and time: a replay.
    pub fn follow(&mut self, event: Event) {
        self.next_seq = event.seq + 1;
        self.events.push(event);
        self.prune();
    }

    pub fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// The events of the open turn, from its `turn.started` on; `None` when no turn is open.
    pub fn open_turn(&self) -> Option<&[Event]> {
        let from =
            self.events.iter().rposition(|e| matches!(e.body, EventBody::TurnStarted { .. }))?;
        let turn = self.events.get(from..)?;
        let ended = turn.iter().any(|e| matches!(e.body, EventBody::TurnEnded { .. }));
        (!ended).then_some(turn)
    }
}

/// What says something about other exchanges than the one it was written in, and so is not dropped
/// with it.
fn outlives_its_exchange(body: &EventBody) -> bool {
    matches!(
        body,
        EventBody::Summary { .. }
            | EventBody::WindowDropped { .. }
            | EventBody::SessionCleared {}
            | EventBody::CompactRequested {}
            | EventBody::ExchangeDropped { .. }
            | EventBody::ActionAnswered { .. }
            | EventBody::ActionResult { .. }
    )
}

#[cfg(test)]
mod tests;
