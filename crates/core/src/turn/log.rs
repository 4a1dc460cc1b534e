//! A session's log in memory: the window of events that a turn needs. Owns the numbering of what is
//! appended; must not know how events are stored.

use super::kinds::{CompactionRequest, InWindow, PartOf, meaning};
use super::state::Turn;
use super::totals::Totals;
use crate::domain::{
    Action, Address, CallId, Event, EventBody, KeptWords, PromptAccount, SessionId, ShellKeeps,
    ShellStands, UnixMillis,
};

/// What stands for the part of a conversation that is not in the window any more.
#[derive(Clone, Copy, Debug)]
pub struct Standing<'a> {
    /// May be empty.
    pub summary: &'a str,
    pub kept: &'a KeptWords,
}

/// The events from the newest boundary on, and the number that the next one gets.
#[derive(Clone, Debug)]
pub struct Log {
    session: SessionId,
    events: Vec<Event>,
    /// Of these very events.
    totals: Totals,
    next_seq: u64,
}

impl Log {
    /// `last_seq` is the number of the newest stored event, 0 for none.
    pub fn new(session: SessionId, events: Vec<Event>, last_seq: u64) -> Self {
        let totals = Totals::default();
        let mut log = Self { session, events, totals, next_seq: last_seq + 1 };
        log.prune();
        log.totals = Totals::of(&log.events);
        log
    }

    /// Forgets what no model will see again, so that the window never grows with the history.
    fn prune(&mut self) {
        let hidden_through = self.events.iter().rev().find_map(|event| match window(event) {
            InWindow::BeginsBehind { through_seq, .. } => Some(through_seq),
            InWindow::BeginsHere => Some(event.seq - 1),
            _ => None,
        });
        if let Some(through) = hidden_through {
            self.events.retain(|event| event.seq > through);
        }
        let undone = self.events.iter().filter_map(|event| match window(event) {
            // No event can drop what comes after it, whatever it says.
            InWindow::Hides { from_seq, through_seq } => {
                Some(from_seq..=through_seq.min(event.seq - 1))
            }
            _ => None,
        });
        let undone: Vec<_> = undone.collect();
        if !undone.is_empty() {
            let hidden = |event: &Event| undone.iter().any(|range| range.contains(&event.seq));
            let of_session = |event: &Event| meaning(event).part_of == PartOf::Session;
            self.events.retain(|event| of_session(event) || !hidden(event));
        }
    }

    /// The newest ended turn that a model still sees: what `/undo` drops.
    pub fn last_exchange(&self) -> Option<&[Event]> {
        let ended = self.events.iter().rposition(ends_a_turn)?;
        let turn = self.events.get(..=ended)?;
        turn.get(turn.iter().rposition(begins_a_turn)?..)
    }

    /// The oldest ended turn that a model still sees.
    pub fn oldest_exchange(&self) -> Option<&[Event]> {
        let turn = self.events.get(self.events.iter().position(begins_a_turn)?..)?;
        turn.get(..=turn.iter().position(ends_a_turn)?)
    }

    /// What the model was last told of where the calls run, as far as it still sees that.
    pub fn context(&self) -> Option<&str> {
        self.events.iter().rev().find_map(|event| match &event.body {
            EventBody::TurnContext { text } => Some(text.as_str()),
            _ => None,
        })
    }

    /// The summary in force, if there is one.
    pub fn summary(&self) -> Option<&str> {
        self.standing().map(|standing| standing.summary).filter(|text| !text.is_empty())
    }

    /// What stands for the part of the conversation before the window.
    pub fn standing(&self) -> Option<Standing<'_>> {
        match window(self.events.get(self.totals.standing_at?)?) {
            InWindow::BeginsBehind { summary, made, .. } => {
                Some(Standing { summary, kept: &made.kept })
            }
            _ => None,
        }
    }

    /// Where shells stand behind the part of the conversation before the window.
    pub(super) fn shells(&self) -> &[ShellStands] {
        let standing = self.totals.standing_at.and_then(|at| self.events.get(at));
        match standing.map(window) {
            Some(InWindow::BeginsBehind { made, .. }) => &made.shells,
            _ => &[],
        }
    }

    /// What shells keep behind the part of the conversation before the window.
    pub(super) fn shell_variables(&self) -> &[ShellKeeps] {
        let standing = self.totals.standing_at.and_then(|at| self.events.get(at));
        match standing.map(window) {
            Some(InWindow::BeginsBehind { made, .. }) => &made.shell_variables,
            _ => &[],
        }
    }

    /// What `next` asks of the whole window.
    pub(super) fn totals(&self) -> &Totals {
        &self.totals
    }

    /// The results that are long enough to be cut.
    pub(super) fn long_results(&self) -> impl Iterator<Item = &Event> {
        self.totals.long_results.iter().filter_map(|at| self.events.get(*at))
    }

    /// What stood beside the conversation when a model was asked last, as far as the
    /// window says it.
    pub(super) fn beside(&self) -> Option<&PromptAccount> {
        match &self.events.get(self.totals.beside_at?)?.body {
            EventBody::PromptPacked { account, .. } => account.as_deref(),
            _ => None,
        }
    }

    /// The request for a summary that is still open.
    pub(super) fn requested_compaction(&self) -> Option<CompactionRequest> {
        self.totals.request
    }

    /// Everybody who has asked by `/compact` since the last compaction, once each.
    pub fn asked_to_compact(&self) -> Vec<Address> {
        let mut asked = Vec::new();
        for event in &self.events {
            match (&event.body, window(event)) {
                (EventBody::CompactRequested { from: Some(from) }, _) if !asked.contains(from) => {
                    asked.push(from.clone());
                }
                (_, InWindow::BeginsBehind { .. } | InWindow::NotCompacted) => asked.clear(),
                _ => {}
            }
        }
        asked
    }

    /// When a model was asked for summaries, as the newest compaction says.
    pub fn summaries_asked_ms(&self) -> &[UnixMillis] {
        let newest = self.totals.asked_at.and_then(|at| self.events.get(at));
        let newest = newest.and_then(|event| match &event.body {
            EventBody::CompactionFailed { asked_ms, .. } => Some(asked_ms),
            EventBody::Summary { made, .. } | EventBody::WindowDropped { made, .. } => {
                Some(&made.asked_ms)
            }
            _ => None,
        });
        newest.map_or(&[], Vec::as_slice)
    }

    /// How many turns have begun in the window.
    pub fn exchanges(&self) -> usize {
        self.events.iter().filter(|event| begins_a_turn(event)).count()
    }

    pub fn has_ended_turn(&self) -> bool {
        self.events.iter().any(ends_a_turn)
    }

    /// The staged actions that were confirmed and have no result, in the order of their answers.
    pub fn confirmed(&self) -> Vec<(CallId, Action)> {
        self.totals.confirmed.clone()
    }

    /// Whether a staged action has its answer.
    pub fn has_answer_to(&self, action: &CallId) -> bool {
        self.events.iter().any(
            |event| matches!(&event.body, EventBody::ActionAnswered { call, .. } if call == action),
        )
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
        self.follow(event.clone());
        event
    }

    /// Takes in an event that is stored already, with its own number and time: a replay.
    pub fn follow(&mut self, event: Event) {
        self.next_seq = event.seq + 1;
        let hides = matches!(
            window(&event),
            InWindow::BeginsBehind { .. } | InWindow::BeginsHere | InWindow::Hides { .. }
        );
        let holds = !hides && Totals::hold_with(&event);
        self.events.push(event);
        // What older events hide is hidden already.
        if hides {
            self.prune();
        }
        match self.events.iter().enumerate().next_back() {
            Some((at, event)) if holds => self.totals.add(at, event),
            _ => self.totals = Totals::of(&self.events),
        }
    }

    pub fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// The open turn as far as it is; `None` when no turn is open.
    pub fn open_turn(&self) -> Option<Turn<'_>> {
        self.newest_turn().filter(|turn| turn.end.is_none())
    }

    /// The newest turn of the window, open or ended.
    pub fn newest_turn(&self) -> Option<Turn<'_>> {
        Some(Turn::of(&self.session, self.newest_turn_events()?))
    }

    /// Its events, and those behind its end.
    pub fn newest_turn_events(&self) -> Option<&[Event]> {
        self.events.get(self.totals.turn_at?..)
    }
}

fn window(event: &Event) -> InWindow<'_> {
    meaning(event).window
}

fn begins_a_turn(event: &Event) -> bool {
    window(event) == InWindow::TurnBegins
}

fn ends_a_turn(event: &Event) -> bool {
    window(event) == InWindow::TurnEnds
}

#[cfg(test)]
mod tests;
