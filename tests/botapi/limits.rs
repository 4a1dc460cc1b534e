//! How much a bot may send:
//! <https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this>. Owns the
//! counting. Must not know what is sent.

use std::collections::{HashMap, VecDeque};

use super::refusal::Refusal;

/// `None` is no limit. Off altogether unless a test turns them on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    pub in_chat_per_s: Option<usize>,
    pub in_group_per_min: Option<usize>,
    pub overall_per_s: Option<usize>,
}

impl Limits {
    /// As documented. The real server forgives short bursts, this one does not.
    pub const TELEGRAM: Self =
        Self { in_chat_per_s: Some(1), in_group_per_min: Some(20), overall_per_s: Some(30) };
}

#[derive(Default)]
pub struct Gauge {
    limits: Limits,
    overall: VecDeque<u64>,
    chats: HashMap<i64, VecDeque<u64>>,
}

impl Gauge {
    pub fn set(&mut self, limits: Limits) {
        *self = Self { limits, ..Self::default() };
    }

    /// Counts a message of the bot, or refuses it, which is not counted.
    pub fn count(&mut self, chat: i64, is_group: bool, now_ms: u64) -> Result<(), Refusal> {
        let limits = self.limits;
        if limits.in_chat_per_s.or(limits.in_group_per_min).or(limits.overall_per_s).is_none() {
            return Ok(());
        }
        let sent = self.chats.entry(chat).or_default();
        let waits = [
            wait_ms(sent, limits.in_chat_per_s, 1_000, now_ms),
            wait_ms(sent, limits.in_group_per_min.filter(|_| is_group), 60_000, now_ms),
            wait_ms(&self.overall, limits.overall_per_s, 1_000, now_ms),
        ];
        if let Some(wait) = waits.into_iter().flatten().max() {
            return Err(Refusal::too_many(wait.div_ceil(1_000).max(1)));
        }
        for times in [sent, &mut self.overall] {
            times.push_back(now_ms);
            while times.front().is_some_and(|first| first + 60_000 < now_ms) {
                times.pop_front();
            }
        }
        Ok(())
    }
}

/// How long until there is room for one more in the window.
fn wait_ms(
    times: &VecDeque<u64>,
    limit: Option<usize>,
    window_ms: u64,
    now_ms: u64,
) -> Option<u64> {
    let limit = limit?;
    let oldest = times.len().checked_sub(limit).and_then(|index| times.get(index))?;
    (oldest + window_ms > now_ms).then(|| oldest + window_ms - now_ms)
}
