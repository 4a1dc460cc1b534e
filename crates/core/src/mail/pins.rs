//! Questions about tools that have changed, as a door shows them. Must not know what a pin is, or
//! what an answer does.

use super::Mail;
use super::rows::{MailError, PinQuestion, all, one};
use crate::domain::Address;

impl Mail {
    pub fn pin_question(&self, id: &str) -> Result<Option<PinQuestion>, MailError> {
        one(self.read(|tx| tx.pin_question(id)))
    }

    /// Those that no owner has seen yet, and those whose message does not show yet what became of
    /// them.
    pub fn pin_questions_to_show(&self) -> Result<Vec<PinQuestion>, MailError> {
        all(self.read(|tx| tx.pin_questions_to_show()))
    }

    /// Notes which message shows a question.
    pub async fn pin_question_told(
        &self,
        id: &str,
        at: Address,
        message: i64,
    ) -> Result<(), MailError> {
        let id = id.to_owned();
        self.write(move |tx| tx.pin_question_told(&id, &at, message)).await
    }

    /// Notes that the message shows what became of the question.
    pub async fn close_pin_question(&self, id: &str) -> Result<(), MailError> {
        let id = id.to_owned();
        self.write(move |tx| tx.close_pin_question(&id)).await
    }
}
