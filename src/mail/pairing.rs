//! Strangers at a door and the guests that an owner has let in. Must not know chat wires or
//! wordings.

use serde_json::json;

use super::Mail;
use crate::domain::{Address, Outbound};
use crate::store::{AuditEntry, StoreError};

pub use crate::store::{Knocked, StrangerRow};

/// Strangers are announced to the owner so many times in 24 hours.
pub const STRANGERS_DAY_MAX: u32 = 20;
/// How often the owner is told that there were more.
const TOO_MANY_EVERY_MS: i64 = 24 * 3_600_000;

/// Somebody to be let in.
#[derive(Clone, Debug)]
pub struct Guest {
    pub chat: i64,
    /// Already made visible.
    pub name: String,
}

impl Mail {
    /// Notes the number that a chat has now. The messages at its address are of the old one.
    pub async fn chat_moved(
        &self,
        to: Address,
        bot: i64,
        chat: i64,
        now: i64,
    ) -> Result<(), StoreError> {
        let note = move |tx: &crate::store::Tx<'_>| {
            tx.add_moved_chat(bot, chat, now)?;
            tx.end_numbering(&to)
        };
        self.store.write(note).await
    }

    /// The chats that have another number now.
    pub fn moved_chats(&self, bot: i64) -> Result<Vec<(i64, i64)>, StoreError> {
        self.store.read(|tx| tx.moved_chats(bot))
    }

    /// Is done with the update of a stranger, who is kept in the same transaction if they are new.
    /// `too_many` is said once a day when there were too many of them.
    pub async fn knock(
        &self,
        (bot, update): (i64, i64),
        chat: i64,
        body: String,
        too_many: Outbound,
    ) -> Result<Knocked, StoreError> {
        let knock = move |tx: &crate::store::Tx<'_>| {
            let knocked = tx.knock(bot, chat, &body, STRANGERS_DAY_MAX)?;
            if knocked == Knocked::TooMany && tx.may_tell("strangers", TOO_MANY_EVERY_MS)? {
                tx.add_outbound(&too_many)?;
            }
            tx.finish_update(bot, update, "stranger")?;
            Ok(knocked)
        };
        self.store.write(knock).await
    }

    pub fn is_guest(&self, bot: i64, chat: i64) -> Result<bool, StoreError> {
        self.store.read(|tx| tx.is_guest(bot, chat))
    }

    pub fn stranger(&self, bot: i64, chat: i64) -> Result<Option<StrangerRow>, StoreError> {
        self.store.read(|tx| tx.stranger(bot, chat))
    }

    /// Those whom the owner's screen does not show as they are.
    pub fn strangers_to_show(&self, bot: i64) -> Result<Vec<StrangerRow>, StoreError> {
        self.store.read(|tx| tx.strangers_to_show(bot))
    }

    pub async fn stranger_told(
        &self,
        bot: i64,
        chat: i64,
        at: Address,
        message: i64,
    ) -> Result<(), StoreError> {
        self.store.write_relaxed(move |tx| tx.stranger_told(bot, chat, &at, message)).await
    }

    /// Lets a stranger in, with the audit row and the `welcome`, in one transaction. False when
    /// that was answered before.
    pub async fn let_in(
        &self,
        bot: i64,
        guest: Guest,
        by: &str,
        welcome: Outbound,
    ) -> Result<bool, StoreError> {
        let by = by.to_owned();
        let let_in = move |tx: &crate::store::Tx<'_>| {
            if !tx.decide_stranger(bot, guest.chat, true, &by)? {
                return Ok(false);
            }
            tx.add_guest(bot, guest.chat, &guest.name, &by)?;
            tx.add_outbound(&welcome)?;
            let body = json!({"bot": bot, "chat": guest.chat, "name": guest.name, "by": by});
            tx.audit(&AuditEntry { kind: "guest.in", call: String::new(), body })?;
            Ok(true)
        };
        self.store.write(let_in).await
    }

    /// Answers a stranger's knock with silence. False when it was answered before.
    pub async fn ignore_stranger(&self, bot: i64, chat: i64, by: &str) -> Result<bool, StoreError> {
        let by = by.to_owned();
        self.store.write(move |tx| tx.decide_stranger(bot, chat, false, &by)).await
    }

    pub async fn stranger_shown(&self, bot: i64, chat: i64) -> Result<(), StoreError> {
        self.store.write_relaxed(move |tx| tx.close_stranger(bot, chat)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{OutboundBody, SessionId};
    use crate::store::Store;

    fn said(text: &str) -> Outbound {
        let session = SessionId::new("telegram.7.5").unwrap();
        Outbound {
            session,
            to: Address("telegram/7/5".into()),
            body: OutboundBody::Notice { text: text.into() },
        }
    }

    #[tokio::test]
    async fn strangers_are_announced_once_each_and_not_too_many_a_day() {
        let dir = tempfile::tempdir().unwrap();
        let mail = Mail::new(Store::open(&dir.path().join("claw.db")).unwrap(), 64);
        let knock = |chat| mail.knock((7, chat), chat, "{}".into(), said("many"));
        for chat in 1..=i64::from(STRANGERS_DAY_MAX) {
            assert_eq!(knock(chat).await.unwrap(), Knocked::First);
            assert_eq!(knock(chat).await.unwrap(), Knocked::Again);
        }
        for chat in 100..103 {
            assert_eq!(knock(chat).await.unwrap(), Knocked::TooMany);
        }
        assert_eq!(
            mail.waiting_at("telegram").unwrap().len(),
            1,
            "one sentence stands for the rest"
        );
        assert_eq!(
            mail.strangers_to_show(7).unwrap().len() as u32,
            STRANGERS_DAY_MAX,
            "the table is bounded"
        );
    }

    #[tokio::test]
    async fn a_stranger_is_let_in_once_and_not_before_the_owner_was_told() {
        let dir = tempfile::tempdir().unwrap();
        let mail = Mail::new(Store::open(&dir.path().join("claw.db")).unwrap(), 64);
        mail.knock((7, 1), 9, "{}".into(), said("many")).await.unwrap();
        let let_in =
            || mail.let_in(7, Guest { chat: 9, name: "Ann".into() }, "telegram:5", said("welcome"));
        assert!(!let_in().await.unwrap(), "nobody has seen a button yet");
        mail.stranger_told(7, 9, Address("telegram/7/5".into()), 3).await.unwrap();
        assert!(let_in().await.unwrap() && mail.is_guest(7, 9).unwrap());
        assert!(
            !let_in().await.unwrap() && !mail.ignore_stranger(7, 9, "telegram:5").await.unwrap()
        );
        assert_eq!(mail.waiting_at("telegram").unwrap().len(), 1, "one welcome");
    }
}
