//! Questions about servers that were seen for the first time, as a door shows them. Must not know
//! what an answer does.

use super::Mail;
use super::rows::{MailError, TrustQuestion, all, one};
use crate::domain::Address;

impl Mail {
    pub fn trust_question(&self, id: &str) -> Result<Option<TrustQuestion>, MailError> {
        one(self.read(|tx| tx.trust_question(id)))
    }

    /// Those that no owner has seen yet, and those whose message does not show yet what became of
    /// them.
    pub fn trust_questions_to_show(&self) -> Result<Vec<TrustQuestion>, MailError> {
        all(self.read(|tx| tx.trust_questions_to_show()))
    }

    /// Notes which message shows a question.
    pub async fn trust_question_told(
        &self,
        id: &str,
        at: Address,
        message: i64,
    ) -> Result<(), MailError> {
        let id = id.to_owned();
        self.write(move |tx| tx.trust_question_told(&id, &at, message)).await
    }

    /// Notes that the message shows what became of the question.
    pub async fn close_trust_question(&self, id: &str) -> Result<(), MailError> {
        let id = id.to_owned();
        self.write(move |tx| tx.close_trust_question(&id)).await
    }
}
