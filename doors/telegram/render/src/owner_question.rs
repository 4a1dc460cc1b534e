//! The message that asks an owner something beside the calls: what it shows, and which kind says
//! it. Must not know what an answer does.

mod new_server;
mod pinned;

use super::access_request;
use super::rich::Part;
use crate::api::access_request::AccessRequest;
use crate::api::callback::{Button, Callback};
use crate::domain::{
    OwnerAnswer, OwnerQuestion, OwnerQuestionAbout, OwnerQuestionState, UnixMillis,
};
use crate::doors::clock::Clock;
use new_server::NewServer;
use pinned::Changed;

/// What the message shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuestionView<'a> {
    Asked,
    Answered {
        answer: OwnerAnswer,
        by: &'a str,
        at_ms: UnixMillis,
    },
    /// It was settled elsewhere, or what it asks about is not so any more.
    Stale,
}

impl<'a> QuestionView<'a> {
    /// What the message of a question is to show; `by` is who answered, as its readers know them.
    pub fn of(question: &OwnerQuestion, by: &'a str) -> Self {
        match (question.state, question.answer) {
            (OwnerQuestionState::New | OwnerQuestionState::Told, _) => Self::Asked,
            (OwnerQuestionState::Decided, Some(answer)) => {
                Self::Answered { answer, by, at_ms: question.decided_ms }
            }
            _ => Self::Stale,
        }
    }
}

/// The message, with its buttons. `says` is what the question shows, without known secrets, and
/// `claw` are the first words of a command.
///
/// # Errors
/// Who asks for access cannot be read.
pub fn message(
    question: &OwnerQuestion,
    says: &str,
    shown: QuestionView<'_>,
    (clock, claw): (&Clock, &str),
) -> Result<(Part, Vec<Vec<Button>>), serde_json::Error> {
    let id = question.id.as_str();
    Ok(match &question.about {
        OwnerQuestionAbout::Access { .. } => {
            // Its update was cleared before it was kept.
            let request: AccessRequest = serde_json::from_str(&question.shown)?;
            access_request::message(&request, shown, clock)
        }
        OwnerQuestionAbout::NewServer { server, .. } => {
            let first_seen_ms = question.at_ms;
            NewServer { id, claw, server, says, first_seen_ms }.message(shown, clock)
        }
        OwnerQuestionAbout::ChangedTools { server, forms } => {
            Changed { id, server, count: forms.len(), differences: says }.message(shown, clock)
        }
    })
}

/// A button under such a message; `None` if its data would be no button's.
pub(super) fn button(label: &str, callback: Callback) -> Option<Button> {
    callback.encode().map(|data| Button { label: label.to_owned(), data })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Address, Trust};

    #[test]
    fn a_message_shows_how_far_its_question_is() {
        let about = OwnerQuestionAbout::NewServer { server: "docs".into(), launch: "one".into() };
        let mut question = OwnerQuestion {
            id: "k3v9".into(),
            about,
            shown: String::new(),
            state: OwnerQuestionState::New,
            answer: None,
            address: Address("telegram/7/5".into()),
            message: 4,
            decided_by: "telegram:5".into(),
            decided_ms: 9,
            at_ms: 1,
        };
        assert_eq!(QuestionView::of(&question, "you"), QuestionView::Asked);
        question.state = OwnerQuestionState::Stale;
        assert_eq!(QuestionView::of(&question, "you"), QuestionView::Stale);
        question.state = OwnerQuestionState::Decided;
        // An answer of a later claw.
        assert_eq!(QuestionView::of(&question, "you"), QuestionView::Stale);
        let answer = OwnerAnswer::Trust(Trust::Ask);
        question.answer = Some(answer);
        let answered = QuestionView::Answered { answer, by: "you", at_ms: 9 };
        assert_eq!(QuestionView::of(&question, "you"), answered);
    }
}
