//! Notices about open questions, beside what a person has typed. Must not know
//! what a line means.

use super::{ChatState, OpenQuestion, about};
use crate::doors::clean::clean_line;

/// The most questions that are named by their numbers.
const NUMBERS_MAX: usize = 4;

impl ChatState {
    /// An answer that could be for any of several.
    pub(super) fn name_one(&self, answer: &str) -> String {
        let answer = clean_line(answer);
        let each =
            self.open.iter().take(NUMBERS_MAX).map(|open| format!("`{answer} {}`", open.number));
        let mut each: Vec<String> = each.collect();
        let more = if self.open.len() > NUMBERS_MAX { ", …" } else { "" };
        let last = if more.is_empty() { each.pop() } else { None };
        let last = last.map(|last| format!(" or {last}")).unwrap_or_default();
        format!(
            "{} questions are open, so this answers none of them. Name one: {}{last}{more}.",
            self.open.len(),
            each.join(", "),
        )
    }

    /// What is said beside a message that answers nothing, and waits for an answer.
    pub(super) fn still_open(&self) -> Option<String> {
        let holds_up = |open: &&OpenQuestion| open.question.session.as_ref() == Some(&self.session);
        let here: Vec<&OpenQuestion> = self.open.iter().filter(holds_up).collect();
        Some(match &here[..] {
            [] => return None,
            [one] if one.question.input.is_some() => format!(
                "Your message goes in when the question of {} is answered: type the answer, or \
                 decline.",
                about(&one.question)
            ),
            [one] => {
                let number =
                    if self.open.len() > 1 { format!(" {}", one.number) } else { String::new() };
                format!(
                    "Your message goes in when the question about {} is answered: type y{number} or \
                     n{number}.",
                    about(&one.question)
                )
            }
            [first, ..] => format!(
                "Your message goes in when {} questions are answered: type `y {}`, for example.",
                here.len(),
                first.number
            ),
        })
    }
}
