//! How many tokens a day may take, over all sessions of a home. Must not know models or prices.

use jiff::tz::TimeZone;

use super::drive::Drive;
use super::worker::SessionError;
use crate::domain::EventBody;

/// The limit, and where its day begins.
#[derive(Clone, Debug)]
pub struct Budget {
    /// Tokens in and out, cached ones included.
    pub tokens_day_max: u64,
    pub zone: TimeZone,
}

impl Budget {
    /// The day that it is for the owner.
    pub fn today(&self) -> String {
        jiff::Zoned::now().with_time_zone(self.zone.clone()).date().to_string()
    }
}

impl Drive<'_> {
    /// Whether today's tokens are used up; the turn then ends with that. What is under way in other sessions is not counted
    /// yet, so the limit may be passed by the replies in flight.
    pub(super) fn is_out_of_tokens(&mut self) -> Result<bool, SessionError> {
        let (budget, store) = (&self.worker.parts.budget, &self.worker.parts.store);
        let used = store.read(|tx| tx.day_tokens(&budget.today()))?;
        if used < budget.tokens_day_max {
            return Ok(false);
        }
        let text = format!(
            "Today's tokens are used up: {used} of {} (limits.tokens_day_max). Write again after midnight, or raise the limit \
             in claw.toml and start claw again.",
            budget.tokens_day_max
        );
        self.push(EventBody::LimitReached { limit: "tokens_day_max".into(), text });
        Ok(true)
    }
}
