//! What whoever tapped a button reads at once, and what they read when it was tapped before. Must
//! not know who may tap, or how it is said.

use crate::domain::{Answer, ApprovalState, Outcome, Question, Staged};
use crate::mail::{AnsweredCall, AskedQuestion};

/// An answer that has counted.
pub(super) fn decided(answer: &Answer, question: &Question) -> &'static str {
    let staged = question.staged.is_some();
    if question.is_to_remember() {
        return match (answer, takes_out(question)) {
            (Answer::Allow { .. }, false) => "Remembered.",
            (Answer::Allow { .. }, true) => "Taken out.",
            (_, false) => "Skipped.",
            (_, true) => "Kept.",
        };
    }
    match (&question.input, answer) {
        (Some(_), Answer::Deny { .. } | Answer::Never) => "Declined.",
        (Some(_), Answer::Skip) => "Left out.",
        (Some(_), _) => "Answered.",
        (None, answer) => in_words(answer, staged),
    }
}

/// Whether what is remembered becomes less by it: nothing comes.
fn takes_out(question: &Question) -> bool {
    let lines = question.effect.as_ref().map(|effect| effect.difference.as_str());
    !lines.unwrap_or_default().lines().any(|line| line.starts_with('+'))
}

/// The same of an answer that is no tap.
pub(super) fn in_words(answer: &Answer, staged: bool) -> &'static str {
    match answer {
        Answer::Allow { .. } if staged => "Confirmed.",
        Answer::Allow { .. } => "Allowed.",
        Answer::Deny { .. } | Answer::Never if staged => "Cancelled.",
        Answer::Deny { .. } => "Denied.",
        Answer::Never => "Denied, and never again.",
        Answer::Press { .. } => "On its way.",
        Answer::Pick { .. } => "Answered; the others stay open.",
        Answer::Give { .. } | Answer::Skip => "Answered.",
    }
}

/// A question that is not open any more.
pub(super) fn closed(row: &AskedQuestion, call: Option<&AnsweredCall>) -> String {
    let Some(staged) = &row.question.staged else {
        return match (row.state, &row.decided_by) {
            (ApprovalState::Expired, _) => "This question has expired.".to_owned(),
            (state @ (ApprovalState::Approved | ApprovalState::Denied), Some(by)) => {
                format!("This was already {state} by {by}.")
            }
            _ => "This question is closed.".to_owned(),
        };
    };
    let outcome = call.and_then(|call| call.outcome.as_ref());
    let text = match (&row.answer, outcome) {
        _ if row.state == ApprovalState::Expired => "This has expired, and was not run.",
        (Some(Answer::Deny { .. } | Answer::Never), _) if row.question.is_to_remember() => {
            "Already skipped."
        }
        (Some(Answer::Deny { .. } | Answer::Never), _) => "Already cancelled.",
        (Some(_), _) if matches!(staged, Staged::All { .. }) => "Already confirmed.",
        (Some(_), Some(Outcome::Ended { output })) if output.is_error => {
            "Already confirmed: it failed."
        }
        (Some(_), Some(Outcome::Ended { .. })) => "Already done.",
        (Some(_), Some(Outcome::Denied { .. })) => "Already confirmed, and not run.",
        (Some(_), Some(Outcome::Unknown { .. })) => {
            "Already confirmed; it may or may not have run."
        }
        (Some(_), _) => "Already confirmed: it is on its way.",
        (None, _) => "Nothing of this waits any more.",
    };
    text.to_owned()
}
