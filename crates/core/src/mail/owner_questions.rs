//! What an owner is asked beside the calls, as a door shows it. Must not know what a question is
//! about, or what an answer does.

use futures::future::BoxFuture;

use super::{Mail, MailError};
use crate::domain::{Address, OwnerQuestion};

impl Mail {
    pub fn owner_question(&self, id: &str) -> Result<Option<OwnerQuestion>, MailError> {
        self.read(|tx| tx.owner_question(id))
    }

    /// Those that no owner has seen yet, and those whose message does not show yet what became of
    /// them.
    pub fn owner_questions_to_show(&self, bot: i64) -> Result<Vec<OwnerQuestion>, MailError> {
        self.read(|tx| tx.owner_questions_to_show(bot))
    }

    /// Notes which message shows a question.
    pub fn owner_question_told<'a>(
        &'a self,
        id: &'a str,
        at: Address,
        message: i64,
    ) -> BoxFuture<'a, Result<(), MailError>> {
        Box::pin(async move {
            let id = id.to_owned();
            self.write(move |tx| tx.owner_question_told(&id, &at, message)).await
        })
    }

    /// Notes that the message shows what became of the question.
    pub fn close_owner_question<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), MailError>> {
        Box::pin(async move {
            let id = id.to_owned();
            self.write(move |tx| tx.close_owner_question(&id)).await
        })
    }
}
