//! How much models may take in a day, over all sessions of a home: the limit, and the pause before
//! it, in which a human is asked. Must not know models, doors, or how a question is asked.

use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::drive::Drive;
use super::worker::SessionError;
use crate::config::Prices;
use crate::domain::{CallId, EventBody, OutboundBody, PauseCause};
use crate::store::DaySpent;

/// From this part of a limit on the owner is asked before a turn goes on.
pub const ASK_PERCENT: u64 = 90;
const MICRO_USD_OF_A_CENT: u64 = 10_000;
/// What the two limits are called in the log.
const TOKENS_LIMIT: &str = "tokens_day_max";
const CENTS_LIMIT: &str = "usd_cents_day_max";

/// The limits, and where their day begins.
#[derive(Clone, Debug)]
pub struct Budget {
    /// Tokens in and out, cached ones included.
    pub tokens_day_max: u64,
    /// As far as prices are known.
    pub usd_cents_day_max: Option<u64>,
    pub prices: Prices,
    pub zone: TimeZone,
}

/// How far one of the limits is used up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Used {
    pub percent: u64,
    /// As a person reads it: what of what, and by which setting.
    pub text: String,
    details: Value,
    limit: &'static str,
}

impl Used {
    fn is_up(&self) -> bool {
        self.percent >= 100
    }
}

impl Budget {
    /// The day that it is for the owner.
    pub fn today(&self) -> String {
        jiff::Timestamp::now().to_zoned(self.zone.clone()).date().to_string()
    }

    /// What an event has taken, if it is the end of a round-trip to a model.
    pub(super) fn spent(&self, body: &EventBody) -> Option<DaySpent> {
        let (usage, _, model) = body.spent()?;
        let usd = self.prices.usd(model, usage).unwrap_or_default();
        Some(DaySpent {
            tokens: usage.input_tokens + usage.output_tokens,
            micro_usd: (usd * 1e6).ceil() as u64,
            is_lost: false,
        })
    }

    /// The limit of which the greatest part is used.
    pub fn used(&self, spent: DaySpent) -> Used {
        let percent =
            |used: u64, limit: u64| used.saturating_mul(100).checked_div(limit).unwrap_or(100);
        let limit = self.tokens_day_max;
        let tokens = Used {
            percent: percent(spent.tokens, limit),
            text: format!("{} of {limit} tokens (limits.tokens_day_max)", spent.tokens),
            details: json!({"tokens_today": spent.tokens, "tokens_day_max": limit}),
            limit: TOKENS_LIMIT,
        };
        let Some(limit) = self.usd_cents_day_max else { return tokens };
        let cents = spent.micro_usd / MICRO_USD_OF_A_CENT;
        let money = Used {
            percent: percent(spent.micro_usd, limit.saturating_mul(MICRO_USD_OF_A_CENT)),
            text: format!("{cents} of {limit} US cents (limits.usd_cents_day_max)"),
            details: json!({"usd_cents_today": cents, "usd_cents_day_max": limit}),
            limit: CENTS_LIMIT,
        };
        if money.percent > tokens.percent { money } else { tokens }
    }
}

impl Drive<'_> {
    /// What the day has taken, and how far its budget is used up.
    fn used_today(&self) -> Result<(DaySpent, Used), SessionError> {
        let budget = &self.settings.budget;
        let spent = self.worker.store.read(|tx| tx.day_spent(&budget.today()))?;
        Ok((spent, budget.used(spent)))
    }

    /// Whether the day's budget is used up. That ends the turn and says so.
    fn day_stops(&mut self, used: &Used) -> bool {
        if !used.is_up() {
            return false;
        }
        let text = format!(
            "Today's budget is used up: {}. Write again after midnight, or after you have raised \
             the limit in claw.toml.",
            used.text
        );
        self.push(EventBody::LimitReached { limit: used.limit.into(), text });
        true
    }

    /// Whether a budget is used up that a summary would be taken from. An open turn ends with that,
    /// as it does before each of its requests; between turns the window stays as it is.
    pub(super) async fn no_summary(&mut self) -> Result<bool, SessionError> {
        if self.log.open_turn().is_some() {
            if self.heartbeat_stops().await? || self.client_stops().await? {
                return Ok(true);
            }
            let (_, used) = self.used_today()?;
            return Ok(self.day_stops(&used));
        }
        let of_client = self.client_limit()?.map(|limit| limit.why);
        let (_, used) = self.used_today()?;
        let Some(why) = of_client.or(used.is_up().then_some("today's budget is used up")) else {
            return Ok(false);
        };
        self.not_summarised(why.to_owned(), None);
        Ok(true)
    }

    /// Whether the day's budget keeps the model from being asked: it is used up, which ends the
    /// turn; or nearly, which parks it with a question. What is under way in other sessions is not
    /// counted yet, so a limit may be passed by the replies in flight.
    pub(super) async fn budget_stops(&mut self) -> Result<bool, SessionError> {
        let (spent, used) = self.used_today()?;
        if self.day_stops(&used) {
            return Ok(true);
        }
        if used.percent < ASK_PERCENT && !spent.is_lost {
            return Ok(false);
        }
        let today = self.settings.budget.today();
        if self.worker.store.read(|tx| tx.day_goes_on(&today))? {
            return Ok(false);
        }
        let call = self.next_pause(PauseCause::Budget);
        let behalf = self.behalf();
        let why = match spent.is_lost {
            true => format!(
                "What models have taken today could not be read. The last 24 hours took {}; what \
                 that cost is not known. May turns go on to the limit today?",
                used.text
            ),
            false => format!(
                "{} % of today's budget are used: {}. May turns go on to the limit today?",
                used.percent, used.text
            ),
        };
        let gate = &self.worker.gate;
        let label = "go on, today and up to the limit";
        let asked = gate
            .calls()
            .ask_to_go_on(&call, behalf.origin, &behalf.principal, &used.details, why, label)
            .await?;
        let (approval, turn_seq) = (asked.approval.clone(), self.turn_seq());
        self.tell(&OutboundBody::Question { turn_seq, question: Box::new(asked) });
        self.push(EventBody::CallParked { call, approval });
        Ok(true)
    }

    /// Whether the day's budget has ended the open turn.
    pub(super) fn is_ended_by_the_day(&self) -> bool {
        self.turn().limits.iter().any(|limit| [TOKENS_LIMIT, CENTS_LIMIT].contains(limit))
    }

    /// What the next pause of the open turn is called that has this cause. The same after a kill,
    /// so that nobody is asked twice.
    pub(super) fn next_pause(&self, cause: PauseCause) -> CallId {
        let (session, turn_seq) = (self.session.clone(), self.turn_seq());
        let nth = self.turn().pauses.iter().filter(|pause| pause.cause == cause).count() as u32;
        CallId::Pause { session, turn_seq, cause, nth }
    }

    /// A turn that ends asks nothing any more, also not what a kill has kept out of its log.
    pub(super) async fn close_pauses(&self, reason: &'static str) -> Result<(), SessionError> {
        let gate = &self.worker.gate;
        let next = [PauseCause::Budget, PauseCause::Deaths].map(|cause| self.next_pause(cause));
        let pauses = self.turn().pauses.into_iter();
        for call in
            pauses.filter(|pause| pause.goes_on.is_none()).map(|pause| pause.call).chain(next)
        {
            if gate.calls().knows(&call)? {
                gate.abandon(&call, reason).await?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_that_is_nearest_counts() {
        let mut budget = Budget {
            tokens_day_max: 1000,
            usd_cents_day_max: None,
            prices: Prices::default(),
            zone: TimeZone::UTC,
        };
        let spent = DaySpent { tokens: 899, micro_usd: 950_000, is_lost: false };
        assert_eq!(budget.used(spent).percent, 89);
        budget.usd_cents_day_max = Some(100);
        let used = budget.used(spent);
        assert_eq!((used.percent, used.limit), (95, "usd_cents_day_max"));
        assert_eq!(used.text, "95 of 100 US cents (limits.usd_cents_day_max)");
    }
}
