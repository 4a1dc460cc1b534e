//! What chat services hand over: kept before the service may forget it, and done with together with
//! what it brings in. Must not know what an update says.

use futures::future::BoxFuture;

use super::Mail;
use super::rows::{MailError, Overheard, WaitingUpdate, all};
use crate::domain::{Address, Inbound, Outbound};
use crate::killpoint;

/// How long a handled update is remembered, in milliseconds. Telegram hands an update over again
/// for 24 hours.
const REMEMBERED_MS: i64 = 3 * 24 * 3_600_000;

/// What comes in with updates.
#[derive(Clone, Debug)]
pub struct Accepted {
    pub inbound: Inbound,
    /// What the person has to know about it.
    pub notices: Vec<Outbound>,
    /// What was overheard at this place went in with it.
    pub forget_overheard: bool,
}

impl Mail {
    /// Commits updates, each with its id. What is here already is passed over. When this returns,
    /// the service may forget them.
    pub fn keep_updates(
        &self,
        bot: i64,
        updates: Vec<(i64, String)>,
    ) -> BoxFuture<'_, Result<usize, MailError>> {
        Box::pin(async move {
            let keep = move |tx: &crate::store::Tx<'_>| {
                let mut new = 0;
                for (id, body) in &updates {
                    new += usize::from(tx.keep_update(bot, *id, body)?);
                }
                Ok(new)
            };
            killpoint::here("updates.kept.before");
            let kept = self.write(keep).await;
            killpoint::here("updates.kept.after");
            kept
        })
    }

    /// The updates that wait to be handled and were kept after number `after`, in the order in
    /// which they came.
    pub fn kept_updates(&self, bot: i64, after: i64) -> Result<Vec<WaitingUpdate>, MailError> {
        all(self.read(|tx| tx.kept_updates(bot, after)))
    }

    /// Puts what updates say into the inbox as one row and is done with all of them, in one
    /// transaction. False when they were handled before; then nothing comes in.
    ///
    /// # Errors
    /// `QueueFull` when too many messages wait already; the updates are still there. Otherwise the
    /// store's own.
    pub fn accept_updates<'a>(
        &'a self,
        bot: i64,
        updates: &'a [i64],
        accepted: Accepted,
    ) -> BoxFuture<'a, Result<bool, MailError>> {
        Box::pin(async move {
            let (limit, updates) = (self.queued_messages_max(), updates.to_vec());
            let accept = move |tx: &crate::store::Tx<'_>| {
                let mut new = false;
                for update in &updates {
                    new |= tx.finish_update(bot, *update, "accepted")?;
                }
                if !new {
                    return Ok(false);
                }
                tx.add_inbound(&accepted.inbound, limit)?;
                for notice in &accepted.notices {
                    tx.add_outbound(notice)?;
                }
                if accepted.forget_overheard {
                    tx.forget_overheard(&accepted.inbound.from)?;
                }
                Ok(true)
            };
            killpoint::here("updates.accepted.before");
            let accepted = self.write(accept).await;
            killpoint::here("updates.accepted.after");
            accepted
        })
    }

    /// What was overheard at a place since claw was last spoken to there, oldest first.
    pub fn overheard(&self, at: &Address) -> Result<Vec<Overheard>, MailError> {
        all(self.read(|tx| tx.overheard(at)))
    }

    /// Keeps what was said to others, the newest `keep` of its place, and is done with the update,
    /// in one transaction.
    pub fn overhear(
        &self,
        (bot, update): (i64, i64),
        said: Overheard,
        keep: u32,
    ) -> BoxFuture<'_, Result<(), MailError>> {
        Box::pin(async move {
            self.write(move |tx| {
                if tx.finish_update(bot, update, "overheard")? {
                    tx.add_overheard(&said.into(), keep)?;
                }
                Ok(())
            })
            .await
        })
    }

    /// The text of an update that waits to be handled.
    pub fn kept_update(&self, bot: i64, update: i64) -> Result<Option<String>, MailError> {
        self.read(|tx| tx.kept_update(bot, update))
    }

    /// Is done with an update that brings nothing into a session; `how` in one word.
    pub fn finish_update(
        &self,
        bot: i64,
        update: i64,
        how: &'static str,
    ) -> BoxFuture<'_, Result<bool, MailError>> {
        Box::pin(async move {
            killpoint::here("updates.finished.before");
            let finished = self.write(move |tx| tx.finish_update(bot, update, how)).await;
            killpoint::here("updates.finished.after");
            finished
        })
    }

    /// Is done with an update by an answer, in one transaction, so that it is answered once. False
    /// when it was handled before; then nothing goes out.
    pub fn answer_update(
        &self,
        bot: i64,
        update: i64,
        how: &'static str,
        answer: Outbound,
    ) -> BoxFuture<'_, Result<bool, MailError>> {
        Box::pin(async move { self.answer_update_with(bot, update, how, vec![answer]).await })
    }

    /// The same with an answer of several parts, in their order.
    pub fn answer_update_with(
        &self,
        bot: i64,
        update: i64,
        how: &'static str,
        answers: Vec<Outbound>,
    ) -> BoxFuture<'_, Result<bool, MailError>> {
        Box::pin(async move {
            let answered = move |tx: &crate::store::Tx<'_>| {
                let first = tx.finish_update(bot, update, how)?;
                if first {
                    answers.iter().try_for_each(|answer| tx.add_outbound(answer).map(drop))?;
                }
                Ok(first)
            };
            killpoint::here("updates.answered.before");
            let answered = self.write(answered).await;
            killpoint::here("updates.answered.after");
            answered
        })
    }

    /// Forgets what was handled long ago.
    pub fn tidy_updates(&self, now_ms: i64) -> BoxFuture<'_, Result<usize, MailError>> {
        Box::pin(async move {
            let before_ms = now_ms - REMEMBERED_MS;
            self.write_relaxed(move |tx| {
                tx.forget_overheard_before(before_ms / 1000)?;
                tx.forget_updates(before_ms)
            })
            .await
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Address, OutboundBody, SessionId};
    use crate::store::Store;

    #[tokio::test]
    async fn an_update_is_answered_once_however_often_it_is_handled() {
        let dir = tempfile::tempdir().unwrap();
        let mail = Mail::new(Store::open(&dir.path().join("claw.db")).unwrap(), 64);
        mail.keep_updates(7, vec![(1, "{}".into())]).await.unwrap();
        let answer = Outbound {
            session: SessionId::new("telegram.7.5").unwrap(),
            to: Address("telegram/7/5".into()),
            body: OutboundBody::Notice { text: "yes".into() },
        };
        assert!(mail.answer_update(7, 1, "command", answer.clone()).await.unwrap());
        assert!(
            !mail.answer_update(7, 1, "command", answer.clone()).await.unwrap(),
            "handled again after a kill"
        );
        assert!(
            !mail.answer_update(7, 2, "command", answer).await.unwrap(),
            "an update that was never kept"
        );
        assert_eq!(mail.waiting_at("telegram").unwrap().len(), 1);
        assert!(mail.kept_updates(7, 0).unwrap().is_empty());
    }
}
