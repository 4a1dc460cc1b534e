//! How large a window is for a model: estimated tokens and messages, with what stands for the part
//! before it. Pure. Must not know what is done about it.

use super::cut::Cuts;
use super::estimate;
use super::kinds::{Seen, meaning};
use super::log::Log;
use crate::domain::{Event, Kept, Outcome};

/// Frames and headings around what stands for the earlier part.
const STANDING_BYTES: usize = 400;
/// Frame of one line in a list.
const LINE_BYTES: usize = 3;

/// The size of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    pub tokens: u64,
    /// Of persons and of the model.
    pub messages: u64,
}

/// The size of all that a model sees of this log.
pub fn size(log: &Log) -> Size {
    let measure = Measure::of(log.events());
    let mut size = Size { tokens: standing(log), messages: 0 };
    for event in log.events() {
        size.tokens += measure.tokens(event);
        size.messages += u64::from(is_message(event));
    }
    size
}

/// Whether an event is a message of a person or of the model.
pub(super) fn is_message(event: &Event) -> bool {
    matches!(meaning(event).seen, Seen::Person(_) | Seen::Model(_))
}

/// Estimated tokens of what stands for the part before the window.
pub(super) fn standing(log: &Log) -> u64 {
    log.standing().map_or(0, |standing| of_standing(standing.summary, standing.kept))
}

/// The same of a summary that is not in a log yet.
pub fn of_standing(summary: &str, kept: &Kept) -> u64 {
    let lines = kept.rules.iter().chain(&kept.identifiers);
    let bytes: usize = lines.map(|line| line.len() + LINE_BYTES).sum();
    estimate::of_bytes(STANDING_BYTES + bytes + summary.len())
}

/// Measures the events of one window.
pub(super) struct Measure<'a> {
    cuts: Cuts<'a>,
}

impl<'a> Measure<'a> {
    pub(super) fn of(events: &'a [Event]) -> Self {
        Self { cuts: Cuts::of(events) }
    }

    /// Estimated tokens that an event adds to what a model sees.
    pub(super) fn tokens(&self, event: &Event) -> u64 {
        let whole = estimate::of_event(event);
        match meaning(event).seen {
            Seen::Result(call, Outcome::Ended { output }) => {
                let seen = self.cuts.seen_bytes(call, &output.text);
                whole - estimate::of_text(&output.text) + estimate::of_bytes(seen)
            }
            _ => whole,
        }
    }
}
