//! What chat services hand over: kept before the service may forget it, and done with together with what it brings in. Must
//! not know what an update says.

use super::Mail;
use crate::domain::Inbound;
use crate::killpoint;
use crate::store::StoreError;

/// How long a handled update is remembered, in milliseconds. Telegram hands an update over again for 24 hours.
const REMEMBERED_MS: i64 = 3 * 24 * 3_600_000;

impl Mail {
    /// Commits updates, each with its id. What is here already is passed over. When this returns, the service may forget them.
    pub async fn keep_updates(&self, bot: i64, updates: Vec<(i64, String)>) -> Result<usize, StoreError> {
        let keep = move |tx: &crate::store::Tx<'_>| {
            let mut new = 0;
            for (id, body) in &updates {
                new += usize::from(tx.keep_update(bot, *id, body)?);
            }
            Ok(new)
        };
        killpoint::here("updates.kept.before");
        let kept = self.store.write(keep).await;
        killpoint::here("updates.kept.after");
        kept
    }

    /// The updates that wait to be handled, in the order in which they came.
    pub fn kept_updates(&self, bot: i64) -> Result<Vec<(i64, String)>, StoreError> {
        self.store.read(|tx| tx.kept_updates(bot))
    }

    /// Puts what an update says into the inbox and is done with the update, in one transaction. False when the update was
    /// handled before; then nothing comes in.
    ///
    /// # Errors
    /// `QueueFull` when too many messages wait already; the update is still there. Otherwise the store's own.
    pub async fn accept_update(&self, bot: i64, update: i64, inbound: Inbound) -> Result<bool, StoreError> {
        let limit = self.queued_messages_max;
        let accept = move |tx: &crate::store::Tx<'_>| {
            if !tx.finish_update(bot, update, "accepted")? {
                return Ok(false);
            }
            tx.add_inbound(&inbound, limit)?;
            Ok(true)
        };
        killpoint::here("updates.accepted.before");
        let accepted = self.store.write(accept).await;
        killpoint::here("updates.accepted.after");
        accepted
    }

    /// Is done with an update that brings nothing into a session; `how` in one word.
    pub async fn finish_update(&self, bot: i64, update: i64, how: &'static str) -> Result<bool, StoreError> {
        killpoint::here("updates.finished.before");
        let finished = self.store.write(move |tx| tx.finish_update(bot, update, how)).await;
        killpoint::here("updates.finished.after");
        finished
    }

    /// Forgets what was handled long ago.
    pub async fn tidy_updates(&self, now_ms: i64) -> Result<usize, StoreError> {
        self.store.write_relaxed(move |tx| tx.forget_updates(now_ms - REMEMBERED_MS)).await
    }
}
