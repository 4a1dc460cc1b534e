//! What a person is told of the questions that are open beside what they have typed. Must not know
//! what a line means.

use super::{ChatState, about};

impl ChatState {
    /// What is said beside a message that answers nothing.
    pub(super) fn still_open(&self) -> String {
        match &self.open[..] {
            [one] if one.question.input.is_some() => format!(
                "Your message goes in when the question of {} is answered: type the answer, or \
                 decline.",
                about(&one.question)
            ),
            [one] => format!(
                "Your message goes in when the question about {} is answered: type y or n.",
                about(&one.question)
            ),
            many => {
                format!(
                    "Your message goes in when {} questions are answered: type `y 2`, for example.",
                    many.len()
                )
            }
        }
    }
}
