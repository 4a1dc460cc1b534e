//! What a person has to hear of claw itself, each kind not too often; the chats that do not
//! let a bot write; and how the gateway last ended. Must not know how any of it is said.

use futures::future::BoxFuture;

use super::Mail;
use super::rows::MailError;
use crate::domain::Outbound;
use crate::store::DaySpent;

impl Mail {
    /// Puts a notice of one kind into the outbox, unless there was one less than `every_ms` ago.
    /// True if it goes out.
    pub fn notify<'a>(
        &'a self,
        kind: &'a str,
        every_ms: i64,
        notice: Outbound,
    ) -> BoxFuture<'a, Result<bool, MailError>> {
        Box::pin(async move {
            let kind = kind.to_owned();
            let notify = move |tx: &crate::store::Tx<'_>| {
                let first = tx.may_tell(&kind, every_ms)?;
                if first {
                    tx.add_outbound(&notice)?;
                }
                Ok(first)
            };
            self.write(notify).await
        })
    }

    /// Whether something of this kind was told less than `every_ms` ago.
    pub fn told_within(&self, kind: &str, every_ms: i64) -> Result<bool, MailError> {
        self.read(|tx| tx.told_within(kind, every_ms))
    }

    /// With what row the audit ends today: its number and its digest.
    pub fn audit_head(&self) -> Result<(i64, String), MailError> {
        let head = self.read(|tx| tx.newest_audit())?;
        Ok((head.number, head.digest))
    }

    /// Why the provider refused the model's key, if it did since this was last passed on.
    pub fn key_refused(&self) -> Result<Option<(String, String)>, MailError> {
        let noted = self.read(|tx| tx.key_refused())?;
        Ok(noted.split_once('\n').map(|(session, text)| (session.to_owned(), text.to_owned())))
    }

    pub fn key_refusal_passed_on(&self) -> BoxFuture<'_, Result<(), MailError>> {
        Box::pin(async move { self.write_relaxed(|tx| tx.set_key_refused("")).await })
    }

    /// What was counted on a day.
    pub fn day_spent(&self, day: &str) -> Result<DaySpent, MailError> {
        self.read(|tx| tx.day_spent(day))
    }

    /// Notes that a chat does not let the bot write. False when it was known.
    pub fn block_chat<'a>(
        &'a self,
        bot: i64,
        chat: i64,
        why: &'a str,
    ) -> BoxFuture<'a, Result<bool, MailError>> {
        Box::pin(async move {
            let why = why.to_owned();
            self.write(move |tx| tx.add_blocked(bot, chat, &why)).await
        })
    }

    pub fn unblock_chat(&self, bot: i64, chat: i64) -> BoxFuture<'_, Result<bool, MailError>> {
        Box::pin(async move { self.write(move |tx| tx.remove_blocked(bot, chat)).await })
    }

    pub fn blocked_chats(&self, bot: i64) -> Result<Vec<i64>, MailError> {
        self.read(|tx| tx.blocked(bot))
    }

    /// Marks the gateway as running. If its last run did not end in order: how many turns of the
    /// sessions with this prefix it left in the middle, and which calls.
    pub async fn begin_gateway(
        &self,
        prefix: String,
    ) -> Result<Option<(usize, Vec<String>)>, MailError> {
        let begin = move |tx: &crate::store::Tx<'_>| {
            Ok(if tx.begin_gateway()? { None } else { Some(tx.in_the_middle(&prefix)?) })
        };
        self.write(begin).await
    }

    pub fn end_gateway(&self) -> BoxFuture<'_, Result<(), MailError>> {
        Box::pin(async move { self.write(|tx| tx.end_gateway()).await })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Address, OutboundBody, SessionId};
    use crate::store::Store;

    fn mail(dir: &tempfile::TempDir) -> Mail {
        Mail::new(Store::open(&dir.path().join("claw.db")).unwrap(), 64)
    }

    #[tokio::test]
    async fn each_kind_is_told_once_in_its_time_also_by_the_next_process() {
        let dir = tempfile::tempdir().unwrap();
        let notice = Outbound {
            session: SessionId::new("telegram.7.5").unwrap(),
            to: Address("telegram/7/5".into()),
            body: OutboundBody::Notice { text: "the key is refused".into() },
        };
        assert!(mail(&dir).notify("key", 60_000, notice.clone()).await.unwrap());
        assert!(!mail(&dir).notify("key", 60_000, notice.clone()).await.unwrap());
        assert!(mail(&dir).notify("disk", 60_000, notice.clone()).await.unwrap(), "another kind");
        assert!(mail(&dir).notify("key", 0, notice).await.unwrap(), "its time is over");
    }

    #[tokio::test]
    async fn only_an_end_in_order_counts_as_one() {
        let dir = tempfile::tempdir().unwrap();
        let begin = async || mail(&dir).begin_gateway("telegram.".into()).await.unwrap();
        assert_eq!(begin().await, None, "the first run of all");
        assert_eq!(begin().await, Some((0, Vec::new())), "that one has not ended");
        mail(&dir).end_gateway().await.unwrap();
        assert_eq!(begin().await, None);
    }
}
