//! An answer that names its question and the key of one of its choices. Must not know a door, or
//! what an answer does.

use super::shared::DoorState;
use crate::domain::{Answer, ApprovalId};
use crate::mail::MailError;
use crate::router::Visitor;

/// Gives the answer, with a word to the model beside a no. What is given back says why it does not
/// count.
///
/// # Errors
/// The question cannot be read.
pub async fn answer<T>(
    shared: &DoorState<T>,
    visitor: &Visitor,
    id: &ApprovalId,
    (key, why): (&str, Option<&str>),
) -> Result<Option<String>, MailError> {
    let row = shared.mail().asked_question(id)?;
    let choices = row.iter().flat_map(|row| &row.question.choices);
    let Some(choice) = choices.into_iter().find(|choice| choice.key == key) else {
        return Ok(Some("This answer is not offered.".to_owned()));
    };
    let mut meant = choice.answer.clone();
    if let (Answer::Deny { word }, Some(why)) = (&mut meant, why) {
        *word = Some(why.to_owned());
    }
    let answered = shared.context.router.answer(visitor, id, &meant).await;
    shared.wake();
    Ok(answered.err().map(|refused| refused.to_string()))
}
