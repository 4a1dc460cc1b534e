//! What `next` asks of a whole window, kept in step with it event by event: so a step costs as much
//! in a window of thousands of events as in one of ten, and a replay is linear in its log. Pure.
//! Must not know what is decided from it.

use super::counted::Counting;
use super::cut::{self, CutSizes};
use super::estimate;
use super::kinds::{CompactionRequest, InWindow, ModelView, meaning};
use super::window::{self, Size};
use crate::domain::{Action, Answer, CallId, Event, EventBody, Outcome};

/// The totals of one window. They live as long as their log, and are made anew whenever something
/// changes what a model sees of earlier events.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Totals {
    /// Of all events.
    pub(super) size: Size,
    /// Estimated tokens of what stands for the part before the window.
    pub(super) standing_tokens: u64,
    pub(super) counting: Counting,
    /// The staged actions that were confirmed and have no result, in the order of their answers.
    pub(super) confirmed: Vec<(CallId, Action)>,
    /// The request for a summary that is still open.
    pub(super) request: Option<CompactionRequest>,
    /// The ended turns, oldest first.
    pub(super) ended: Vec<EndedTurn>,
    /// The places of results that are long enough to be cut.
    pub(super) long_results: Vec<usize>,
    /// Places of the newest event of a kind: the beginning of a turn, what stands for the earlier
    /// part, what says when summaries were asked for, what stood beside the conversation.
    pub(super) turn_at: Option<usize>,
    pub(super) standing_at: Option<usize>,
    pub(super) asked_at: Option<usize>,
    pub(super) beside_at: Option<usize>,
    cuts: CutSizes,
}

/// The end of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EndedTurn {
    pub(super) seq: u64,
    /// The size of the window up to the end of the turn before this one.
    pub(super) before: Size,
    /// The same up to its own end.
    pub(super) through: Size,
}

impl Totals {
    pub(super) fn of(events: &[Event]) -> Self {
        let cuts = CutSizes::of(events);
        let mut totals = Self { cuts, ..Self::default() };
        for (at, event) in events.iter().enumerate() {
            totals.add(at, event);
        }
        totals
    }

    /// Whether these totals still hold when this event follows.
    pub(super) fn hold_with(event: &Event) -> bool {
        !matches!(event.body, EventBody::ResultsCut { .. })
    }

    pub(super) fn cut_sizes(&self) -> &CutSizes {
        &self.cuts
    }

    /// Takes in the event that stands at this place.
    pub(super) fn add(&mut self, at: usize, event: &Event) {
        let means = meaning(event);
        self.size.tokens += self.cuts.tokens(event);
        self.size.messages += u64::from(window::is_message(event));
        match means.window {
            InWindow::TurnBegins => self.turn_at = Some(at),
            InWindow::TurnEnds => {
                let before = self.ended.last().map_or(Size::default(), |turn| turn.through);
                self.ended.push(EndedTurn { seq: event.seq, before, through: self.size });
            }
            InWindow::BeginsBehind { summary, made, .. } => {
                self.standing_at = Some(at);
                self.standing_tokens = window::of_standing(summary, &made.kept);
                self.request = None;
            }
            InWindow::Compacts(request) => self.request = Some(request),
            InWindow::NotCompacted => self.request = None,
            InWindow::Stays | InWindow::BeginsHere | InWindow::Hides { .. } => {}
        }
        if let ModelView::Result(_, Outcome::Ended { output }) = means.seen
            && output.text.len() > cut::WORTH_BYTES
        {
            self.long_results.push(at);
        }
        self.counting.add(&event.body);
        self.notes(at, &event.body);
    }

    fn notes(&mut self, at: usize, body: &EventBody) {
        match body {
            EventBody::PromptPacked { account: Some(_), .. } => self.beside_at = Some(at),
            EventBody::CompactionFailed { .. }
            | EventBody::Summary { .. }
            | EventBody::WindowDropped { .. } => self.asked_at = Some(at),
            EventBody::ActionAnswered {
                call,
                action,
                answer: Some(Answer::Allow { .. } | Answer::Press { .. }),
                ..
            } if !self.confirmed.iter().any(|(id, _)| id == call) => {
                self.confirmed.push((call.clone(), Action::clone(action)));
            }
            EventBody::ActionResult { call, .. } => self.confirmed.retain(|(id, _)| id != call),
            _ => {}
        }
    }
}

impl CutSizes {
    /// Estimated tokens that an event adds to what a model sees.
    pub(super) fn tokens(&self, event: &Event) -> u64 {
        let whole = estimate::of_event(event);
        match meaning(event).seen {
            ModelView::Result(call, Outcome::Ended { output }) => {
                let seen = self.seen_bytes(call, &output.text);
                whole - estimate::of_text(&output.text) + estimate::of_bytes(seen)
            }
            _ => whole,
        }
    }
}

#[cfg(test)]
mod tests;
