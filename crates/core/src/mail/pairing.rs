//! Access requests of unknown users, and the users whom an owner has allowed. Must not know chat
//! wires or wordings.

use futures::future::BoxFuture;
use serde_json::json;

use super::Mail;
use super::MailError;
use crate::domain::{Address, Outbound, OwnerAnswer, OwnerQuestionAbout};
use crate::store::{AccessRequested, AuditEntry};

/// Access requests are announced to the owner at most so many times in 24 hours.
pub const ACCESS_REQUESTS_DAY_MAX: u32 = 20;
/// How often the owner is told that there were more.
const TOO_MANY_EVERY_MS: i64 = 24 * 3_600_000;

/// Somebody to be let in.
#[derive(Clone, Debug)]
pub struct AllowedUser {
    pub chat: i64,
    /// Already made visible.
    pub name: String,
}

impl Mail {
    /// Notes the number that a chat has now. The messages at its address are of the old one.
    pub fn chat_moved(
        &self,
        to: Address,
        bot: i64,
        chat: i64,
        now: i64,
    ) -> BoxFuture<'_, Result<(), MailError>> {
        Box::pin(async move {
            let note = move |tx: &crate::store::Tx<'_>| {
                tx.add_moved_chat(bot, chat, now)?;
                tx.end_numbering(&to)
            };
            self.write(note).await
        })
    }

    /// The chats that have another number now.
    pub fn moved_chats(&self, bot: i64) -> Result<Vec<(i64, i64)>, MailError> {
        self.read(|tx| tx.moved_chats(bot))
    }

    /// Is done with the update of an unknown user, whose first request is kept in the
    /// same transaction. `too_many` is said once a day, when there were too many of them.
    pub fn request_access(
        &self,
        (bot, update): (i64, i64),
        chat: i64,
        body: String,
        too_many: Outbound,
    ) -> BoxFuture<'_, Result<AccessRequested, MailError>> {
        Box::pin(async move {
            let request = move |tx: &crate::store::Tx<'_>| {
                let requested = tx.request_access(bot, chat, &body, ACCESS_REQUESTS_DAY_MAX)?;
                if requested == AccessRequested::TooMany
                    && tx.may_tell("strangers", TOO_MANY_EVERY_MS)?
                {
                    tx.add_outbound(&too_many)?;
                }
                tx.finish_update(bot, update, "unknown user")?;
                Ok(requested)
            };
            self.write(request).await
        })
    }

    pub fn is_allowed_user(&self, bot: i64, chat: i64) -> Result<bool, MailError> {
        self.read(|tx| tx.is_allowed_user(bot, chat))
    }

    /// Allows an unknown user, with the audit row and the `welcome`, in one transaction. False when
    /// that was answered before.
    pub fn let_in<'a>(
        &'a self,
        bot: i64,
        user: AllowedUser,
        by: &'a str,
        welcome: Outbound,
    ) -> BoxFuture<'a, Result<bool, MailError>> {
        Box::pin(async move {
            let by = by.to_owned();
            let let_in = move |tx: &crate::store::Tx<'_>| {
                let id = OwnerQuestionAbout::access_id(bot, user.chat);
                if !tx.decide_owner_question(&id, OwnerAnswer::LetIn, &by)? {
                    return Ok(false);
                }
                tx.add_allowed_user(bot, user.chat, &user.name, &by)?;
                tx.add_outbound(&welcome)?;
                let body = json!({"bot": bot, "chat": user.chat, "name": user.name, "by": by});
                tx.audit(&AuditEntry { kind: "guest.in", call: String::new(), body })?;
                Ok(true)
            };
            self.write(let_in).await
        })
    }

    /// Answers an access request with silence. False when it was answered before.
    pub fn ignore_access_request<'a>(
        &'a self,
        bot: i64,
        chat: i64,
        by: &'a str,
    ) -> BoxFuture<'a, Result<bool, MailError>> {
        Box::pin(async move {
            let (id, by) = (OwnerQuestionAbout::access_id(bot, chat), by.to_owned());
            self.write(move |tx| tx.decide_owner_question(&id, OwnerAnswer::Ignore, &by)).await
        })
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
    async fn unknown_users_are_announced_once_each_and_not_too_many_a_day() {
        let dir = tempfile::tempdir().unwrap();
        let mail = Mail::new(Store::open(&dir.path().join("claw.db")).unwrap(), 64);
        let request = |chat| mail.request_access((7, chat), chat, "{}".into(), said("many"));
        for chat in 1..=i64::from(ACCESS_REQUESTS_DAY_MAX) {
            assert_eq!(request(chat).await.unwrap(), AccessRequested::First);
            assert_eq!(request(chat).await.unwrap(), AccessRequested::Again);
        }
        for chat in 100..103 {
            assert_eq!(request(chat).await.unwrap(), AccessRequested::TooMany);
        }
        assert_eq!(
            mail.waiting_at("telegram").unwrap().len(),
            1,
            "one sentence stands for the rest"
        );
        assert_eq!(
            mail.owner_questions_to_show(7).unwrap().len() as u32,
            ACCESS_REQUESTS_DAY_MAX,
            "the table is bounded"
        );
    }

    #[tokio::test]
    async fn an_unknown_user_is_let_in_once_and_not_before_the_owner_was_told() {
        let dir = tempfile::tempdir().unwrap();
        let mail = Mail::new(Store::open(&dir.path().join("claw.db")).unwrap(), 64);
        mail.request_access((7, 1), 9, "{}".into(), said("many")).await.unwrap();
        let let_in = || {
            mail.let_in(
                7,
                AllowedUser { chat: 9, name: "Ann".into() },
                "telegram:5",
                said("welcome"),
            )
        };
        assert!(!let_in().await.unwrap(), "nobody has seen a button yet");
        let id = OwnerQuestionAbout::access_id(7, 9);
        mail.owner_question_told(&id, Address("telegram/7/5".into()), 3).await.unwrap();
        assert!(let_in().await.unwrap() && mail.is_allowed_user(7, 9).unwrap());
        assert!(
            !let_in().await.unwrap()
                && !mail.ignore_access_request(7, 9, "telegram:5").await.unwrap()
        );
        assert_eq!(mail.waiting_at("telegram").unwrap().len(), 1, "one welcome");
    }
}
