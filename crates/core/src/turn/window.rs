//! How large a window is for a model: tokens and messages, with what stands for the part before it,
//! and how much room there is. Pure. Must not know what is done about it.

use super::counted::Ratio;
use super::estimate;
use super::kinds::{ModelView, meaning};
use super::log::Log;
use super::next::Bounds;
use super::prompt;
use crate::domain::{Event, KeptWords};

/// Frames and headings around what stands for the earlier part.
const STANDING_BYTES: usize = 400;
/// Frame of one line in a list.
const LINE_BYTES: usize = 3;

/// The size of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    pub tokens: u64,
    /// Of persons, of the model, and results of tools: each is one on the wires that count most.
    pub messages: u64,
}

/// The size of all that a model sees of this log: the estimate, corrected by what the provider of
/// the model has counted for requests of this window.
pub fn size(log: &Log) -> Size {
    let estimated = estimated(log);
    Size { tokens: Ratio::of(log).of_tokens(estimated.tokens), ..estimated }
}

/// The same by the estimate alone.
pub fn estimated(log: &Log) -> Size {
    let totals = log.totals();
    Size { tokens: standing(log) + totals.size.tokens, messages: totals.size.messages }
}

/// The tokens that a window may have. What stands beside the conversation in each request, as the
/// log says it, is taken from what the model takes at once, as far as a quarter is left.
pub(super) fn room(log: &Log, bounds: &Bounds) -> u64 {
    let beside = prompt::beside(log).map_or(0, |account| account.tokens());
    let beside = Ratio::of(log).of_tokens(beside);
    let quarter = bounds.model_tokens / 4;
    bounds.window_tokens.min((quarter * 3).saturating_sub(beside).max(quarter))
}

/// Whether an event is a message of a person, of the model or of a tool.
pub(super) fn is_message(event: &Event) -> bool {
    let seen = meaning(event).seen;
    matches!(seen, ModelView::Person(_) | ModelView::Model(_) | ModelView::Result(..))
}

/// Estimated tokens of what stands for the part before the window.
pub(super) fn standing(log: &Log) -> u64 {
    log.totals().standing_tokens
}

/// The same of a summary that is not in a log yet.
pub fn of_standing(summary: &str, kept: &KeptWords) -> u64 {
    let lines = kept.rules.iter().chain(&kept.identifiers);
    let bytes: usize = lines.map(|line| line.len() + LINE_BYTES).sum();
    estimate::of_bytes(STANDING_BYTES + bytes + summary.len())
}

/// Estimated tokens that an event of this log adds to what a model sees.
pub(super) fn tokens(log: &Log, event: &Event) -> u64 {
    log.totals().cut_sizes().tokens(event)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{EventBody, PromptAccount, PromptPart};
    use crate::turn::next::tests::{BOUNDS, log, said, started};

    #[test]
    fn what_stands_beside_the_conversation_takes_its_room() {
        let asked_with = |tokens| {
            let tools = PromptPart { tokens, ..PromptPart::default() };
            let account = Some(Box::new(PromptAccount { tools, ..PromptAccount::default() }));
            let (from_seq, dropped_events, estimated_tokens) = (1, 0, 100);
            log(vec![
                started(),
                said("a"),
                EventBody::PromptPacked { from_seq, dropped_events, estimated_tokens, account },
            ])
        };
        let of = |window_tokens, model_tokens, beside| {
            room(&asked_with(beside), &Bounds { window_tokens, model_tokens, ..BOUNDS })
        };
        assert_eq!(of(100_000, u64::MAX, 7_000), 100_000, "a model whose window nobody knows");
        assert_eq!(of(96_000, 128_000, 7_000), 89_000);
        assert_eq!(of(50_000, 128_000, 7_000), 50_000);
        assert_eq!(of(6_144, 8_192, 7_000), 2_048, "a quarter is always left");
    }
}
