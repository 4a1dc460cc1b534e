//! How firings are written down: each id once, in the transaction that puts its words into the
//! outbox or its turn into the inbox. Must not know what is due, or where a job is told.

use super::behind::BeforeTask;
use super::due::Firing;
use super::words;
use super::{JobLimits, Jobs};
use crate::domain::{Block, Inbound, InboundBody, Origin, Outbound};
use crate::killpoint;
use crate::store::{FiringBecame, NewFiring, StoreError, Tx, now_ms};

/// In which no more turns begin than `turns_minute_max`.
const MINUTE_MS: i64 = 60_000;

/// What became of writing one down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteOutcome {
    /// Now, or before, by whichever process.
    Yes,
    /// As many turns as may have begun in this minute, or somebody may come back to the turn before
    /// it: to be tried after so many milliseconds.
    NotBefore(i64),
    /// Its session is in a turn. It stays due until that is over, so that its job can be cancelled.
    BehindTurn,
}

pub(super) fn row(firing: &Firing, became: FiringBecame, title: String) -> NewFiring {
    NewFiring {
        id: firing.id.clone(),
        job: firing.job.clone(),
        revision: firing.revision,
        session: firing.session(),
        became,
        title,
        schedule: firing.schedule(),
        said: None,
    }
}

impl Jobs {
    /// Firings that become one message. Those that are known already stay out of it, so the words
    /// are made in the transaction.
    pub(super) async fn keep_words(
        &self,
        rows: Vec<NewFiring>,
        say: impl FnOnce(&[NewFiring]) -> Option<Outbound> + Send + 'static,
    ) -> Result<(), StoreError> {
        let write = move |tx: &Tx<'_>| {
            let mut new = Vec::new();
            for row in rows {
                if tx.add_firing(&row)? {
                    new.push(row);
                }
            }
            if !new.is_empty()
                && let Some(outbound) = say(&new)
            {
                tx.add_outbound(&outbound)?;
            }
            Ok(())
        };
        killpoint::here("jobs.row.before");
        let written = self.0.store.write(write).await;
        killpoint::here("jobs.row.after");
        written
    }

    /// A firing that becomes a turn.
    pub(super) async fn keep_turn(
        &self,
        row: NewFiring,
        inbound: Inbound,
        limits: JobLimits,
    ) -> Result<WriteOutcome, StoreError> {
        let before = self.before_a_task(&inbound.session)?;
        let write = move |tx: &Tx<'_>| {
            if tx.knows_firing(&row.id)? {
                return Ok(WriteOutcome::Yes);
            }
            // Something may have come since.
            let is_queued = !tx.queued_inbound(&inbound.session)?.is_empty();
            if is_queued || before != BeforeTask::now(tx.open_turn(&inbound.session)?) {
                return Ok(WriteOutcome::BehindTurn);
            }
            let now = now_ms();
            let begun = tx.job_turns_since(now - MINUTE_MS)?;
            // Those of a clock that was set back are none of this minute.
            let begun: Vec<_> = begun.into_iter().filter(|at| *at <= now).collect();
            let most = limits.turns_minute_max.max(1) as usize;
            if begun.len() >= most {
                let frees = begun[begun.len() - most] + MINUTE_MS;
                return Ok(WriteOutcome::NotBefore((frees - now).max(1)));
            }
            tx.add_inbound(&inbound, limits.queued_messages_max)?;
            tx.add_firing(&row)?;
            Ok(WriteOutcome::Yes)
        };
        killpoint::here("jobs.row.before");
        let written = self.0.store.write(write).await;
        killpoint::here("jobs.row.after");
        written
    }

    /// The message that begins the turn of a job. Known secrets in it are replaced.
    pub(super) fn message(&self, firing: &Firing, text: &str, late_ms: Option<i64>) -> InboundBody {
        let text = words::instruction(text, firing, late_ms);
        let text = self.0.gate.redactor().redact(&text).into_owned();
        InboundBody::message(vec![Block::Text { text }])
    }

    pub(super) fn redacted(&self, text: &str) -> String {
        self.0.gate.redactor().redact(text).into_owned()
    }
}

/// What a job puts into the inbox.
pub(super) fn inbound(firing: &Firing, spot: super::Spot, body: InboundBody) -> Inbound {
    Inbound {
        session: spot.session,
        from: spot.at,
        principal: firing.principal(),
        origin: Origin::Schedule,
        body,
    }
}
