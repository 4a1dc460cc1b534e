//! What a provider counts, beside the estimate: how much more or less it came to for the model that
//! answered last. From the log alone, so that `next` stays pure and a replay decides the same. Must
//! not know providers.

use std::collections::{HashMap, VecDeque};

use super::log::Log;
use crate::domain::{EventBody, Usage};

/// A ratio outside of these, in percent, says that a field counts something else than all tokens.
const PERCENT_LEAST: u64 = 60;
const PERCENT_MOST: u64 = 300;
/// So many of the newest replies of the model count.
const REPLIES_MAX: usize = 8;
/// Of a smaller request the frames around it, which nobody estimates, are too large a part.
const ESTIMATED_MIN: u64 = 500;

/// Tokens that were counted for tokens that were estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    counted: u64,
    estimated: u64,
}

impl Default for Ratio {
    fn default() -> Self {
        Self { counted: 1, estimated: 1 }
    }
}

/// What was counted in a window so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Counting {
    /// What stood beside the conversation, as the log said it last.
    beside: Option<u64>,
    /// Of the request whose reply has not come yet.
    estimated: Option<u64>,
    /// The newest replies of each model, the oldest of them first.
    replies: HashMap<String, VecDeque<Ratio>>,
    /// The model that answered last.
    newest: String,
}

impl Counting {
    pub(super) fn add(&mut self, body: &EventBody) {
        match body {
            EventBody::PromptPacked { estimated_tokens, account, .. } => {
                self.beside = account.as_ref().map(|account| account.tokens()).or(self.beside);
                self.estimated = self.beside.map(|beside| beside + estimated_tokens);
            }
            EventBody::ModelReply { usage, model, .. } => {
                let Some((counted, estimated)) = counted(usage).zip(self.estimated.take()) else {
                    return;
                };
                let percent = counted * 100 / estimated.max(1);
                if estimated < ESTIMATED_MIN || !(PERCENT_LEAST..=PERCENT_MOST).contains(&percent) {
                    return;
                }
                if self.newest != *model {
                    self.newest.clone_from(model);
                }
                let replies = self.replies.entry(self.newest.clone()).or_default();
                replies.push_back(Ratio { counted, estimated });
                if replies.len() > REPLIES_MAX {
                    replies.pop_front();
                }
            }
            _ => {}
        }
    }
}

impl Ratio {
    /// Of the model that answered last in this window. Without a reply whose provider has counted,
    /// or in a log that does not say what stood beside the conversation, the estimate counts.
    pub fn of(log: &Log) -> Self {
        let counting = &log.totals().counting;
        let Some(replies) = counting.replies.get(&counting.newest) else { return Self::default() };
        replies.iter().fold(Self { counted: 0, estimated: 0 }, |sum, reply| Self {
            counted: sum.counted + reply.counted,
            estimated: sum.estimated + reply.estimated,
        })
    }

    /// What a provider is likely to count for so many estimated tokens.
    pub fn of_tokens(self, estimated: u64) -> u64 {
        let counted = u128::from(estimated) * u128::from(self.counted);
        u64::try_from(counted / u128::from(self.estimated.max(1))).unwrap_or(u64::MAX)
    }

    /// In percent of the estimate.
    #[cfg(test)]
    pub fn percent(self) -> u64 {
        self.of_tokens(100)
    }
}

/// All tokens that went in. A provider that counts cached ones apart from the others says fewer
/// than were cached, and then nothing is known.
fn counted(usage: &Usage) -> Option<u64> {
    let is_whole = usage.input_tokens >= usage.cached_tokens + usage.cache_write_tokens;
    (is_whole && usage.input_tokens > 0).then_some(usage.input_tokens)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Finish, PromptAccount, PromptPart};
    use crate::turn::next::tests::{log, said, started};

    fn packed(estimated_tokens: u64, beside: Option<u64>) -> EventBody {
        let account = beside.map(|tokens| {
            let tools = PromptPart { tokens, ..PromptPart::default() };
            Box::new(PromptAccount { tools, ..PromptAccount::default() })
        });
        EventBody::PromptPacked { from_seq: 1, dropped_events: 0, estimated_tokens, account }
    }

    fn answered(model: &str, usage: Usage) -> EventBody {
        EventBody::ModelReply {
            blocks: Vec::new(),
            finish: Finish::Complete,
            usage,
            provider: "p".into(),
            model: model.into(),
            notice: None,
        }
    }

    fn of(pairs: &[(&str, u64, u64)]) -> u64 {
        let mut bodies = vec![started(), said("a")];
        for (at, (model, conversation, input_tokens)) in pairs.iter().enumerate() {
            bodies.push(packed(*conversation, (at == 0).then_some(1_000)));
            bodies.push(answered(model, Usage { input_tokens: *input_tokens, ..Usage::default() }));
        }
        Ratio::of(&log(bodies)).percent()
    }

    #[test]
    fn what_was_counted_corrects_what_is_estimated_for_each_model() {
        assert_eq!(of(&[]), 100);
        assert_eq!(of(&[("a", 1_000, 2_500)]), 125);
        assert_eq!(of(&[("a", 1_000, 2_500), ("a", 2_000, 4_500)]), 140);
        assert_eq!(of(&[("a", 1_000, 4_000), ("b", 1_000, 1_600)]), 80, "another one counts so");
    }

    #[test]
    fn a_field_that_counts_something_else_changes_nothing() {
        for odd in [0, 7, 1_100, 60_000] {
            assert_eq!(of(&[("a", 1_000, odd)]), 100, "{odd}");
            assert_eq!(of(&[("a", 1_000, 2_400), ("a", 1_000, odd)]), 120, "{odd}");
        }
        let apart = Usage { input_tokens: 1_900, cached_tokens: 1_950, ..Usage::default() };
        let bodies = vec![started(), said("a"), packed(1_000, Some(1_000)), answered("a", apart)];
        assert_eq!(Ratio::of(&log(bodies)).percent(), 100);
        // A log of before says nothing of what stood beside the conversation.
        let usage = Usage { input_tokens: 2_500, ..Usage::default() };
        let bodies = vec![started(), said("a"), packed(2_000, None), answered("a", usage)];
        assert_eq!(Ratio::of(&log(bodies)).percent(), 100);
    }
}
