//! What a question about a staged action has in place of "Allow this?": its head, what each button
//! does, and what became of it. Must not know the rest of the message.
//!
//! The summary is the server's own text, so it stands in a block quote under the server's name, and
//! nothing of ours does.

use super::keyboard;
use super::value::shown_value;
use super::{CallStatus, Closed, short};
use crate::clean::cleaned_line;
use crate::domain::{Answer, Choice, Question, Staged};
use crate::doors::clock::Clock;
use crate::doors::staged_questions::{self, group, head, in_our_words};
use crate::rich::{Rich, Style};

const QUOTE: Style = Style { quote: Some(0), ..Style::PLAIN };

/// The first lines; `brief` where there is only room for the beginning of what the server says.
pub(super) fn heading(rich: &mut Rich, question: &Question, staged: &Staged, brief: bool) {
    rich.push(&head(staged), Style::BOLD);
    if let Some(group) = group(staged) {
        rich.push(&format!("\nGroup: {}", short(&group)), Style::PLAIN);
    }
    if let Staged::Item { summary, .. } = staged {
        rich.push(&format!("\n{} says:\n", short(&question.server)), Style::PLAIN);
        // A preview shows no quote, so that a line of the server's would look like one of ours.
        let said = if brief {
            short(summary)
        } else {
            shown_value(&summary.replace("\r\n", "\n").replace('\n', " ⏎ "))
        };
        rich.push(if said.is_empty() { "(nothing)" } else { &said }, QUOTE);
    }
    if has_title(staged) || brief {
        rich.push("\n\n", Style::PLAIN);
    }
}

/// The same as plain text, each line of the server's behind a bar.
pub(super) fn document_heading(question: &Question, staged: &Staged) -> String {
    let mut text = format!("{}\n", head(staged));
    if let Some(group) = group(staged) {
        text.push_str(&format!("Group: {}\n", cleaned_line(&group)));
    }
    if let Staged::Item { summary, .. } = staged {
        text.push_str(&format!(
            "{} says:\n{}",
            cleaned_line(&question.server),
            super::value::document_value(summary)
        ));
    }
    text
}

/// Whether the call has a name that says something: a row that stands for several calls is ours.
pub(super) fn has_title(staged: &Staged) -> bool {
    matches!(staged, Staged::Item { .. })
}

/// Each button with what it does, and what its server calls it, in quotation marks.
pub(super) fn legend(question: &Question, staged: &Staged) -> Vec<(String, String)> {
    let (yes, no) = match staged {
        Staged::Item { .. } => ("runs exactly this call, once", "it is not run"),
        Staged::All { .. } => (
            "runs each of them once, exactly as it is shown in its own message",
            "none of them is run",
        ),
        // What each button runs stands among the arguments.
        Staged::Buttons { .. } => return Vec::new(),
    };
    let row = |choice: &Choice| {
        let does = if matches!(choice.answer, Answer::Allow { .. }) { yes } else { no };
        let quoted = staged_questions::label(question, choice).and_then(|label| label.quoted);
        let quoted = quoted.map_or(String::new(), |own| {
            format!(" (its server calls the button “{}”)", short(&own))
        });
        (keyboard::label(question, choice), format!("{does}{quoted}"))
    };
    question.choices.iter().map(row).collect()
}

/// What became of it, in one line: `✅ Confirmed`, and `by you, 14:03 · done`.
pub(super) fn outcome(
    question: &Question,
    staged: &Staged,
    how: &Closed,
    clock: &Clock,
) -> (String, String) {
    match how {
        Closed::Answered { answer, by, at_ms, end } => {
            let end_of_call = match answer {
                Answer::Deny { .. } | Answer::Never => None,
                _ => *end,
            };
            let end = match end_of_call {
                // Its own words say so.
                Some(CallStatus::Ok) if in_our_words(question) => String::new(),
                end => end.map_or(String::new(), |end| format!(" · {}", end_words(end))),
            };
            let decision = match in_our_words(question) {
                true => decision_on_a_note(answer, end_of_call),
                false => decision(question, staged, answer),
            };
            (decision, format!(" by {}, {}{end}", short(by), clock.at(*at_ms)))
        }
        Closed::Expired { at_ms } => {
            let not =
                if in_our_words(question) { "nothing was remembered" } else { "it was not run" };
            let at = clock.at(*at_ms);
            ("Expired".to_owned(), format!(" at {at}: nobody answered, and {not}."))
        }
        Closed::Superseded { at_ms, .. } => (
            "Closed".to_owned(),
            format!(" at {}: nothing of it waits any more.", clock.at(*at_ms)),
        ),
        Closed::AskedAgain => {
            ("Asked again".to_owned(), "\nThe buttons are under a newer message.".to_owned())
        }
    }
}

/// What our own memory server has proposed is remembered or skipped.
fn decision_on_a_note(answer: &Answer, end: Option<CallStatus>) -> String {
    let said = match (answer, end) {
        (Answer::Allow { .. }, Some(CallStatus::Ok)) => "✅ Remembered",
        (Answer::Allow { .. }, _) => "✅ Remember",
        _ => "❌ Skipped",
    };
    said.to_owned()
}

fn decision(question: &Question, staged: &Staged, answer: &Answer) -> String {
    match (answer, staged) {
        (Answer::Allow { .. }, Staged::All { of }) => format!("✅ Confirmed all {of}"),
        (Answer::Allow { .. }, _) => "✅ Confirmed".to_owned(),
        (Answer::Press { .. }, _) => {
            let pressed = question.choices.iter().find(|choice| choice.answer == *answer);
            pressed.map_or_else(
                || "Pressed".to_owned(),
                |choice| format!("Pressed “{}”", keyboard::label(question, choice)),
            )
        }
        (_, Staged::All { of }) => format!("❌ Cancelled all {of}"),
        (_, _) => "❌ Cancelled".to_owned(),
    }
}

fn end_words(end: CallStatus) -> &'static str {
    match end {
        CallStatus::Ok => "done",
        CallStatus::Failed => "failed",
        CallStatus::Denied => "not run",
        CallStatus::Unknown => "unknown: it may or may not have run, and is not run again",
    }
}

#[cfg(test)]
mod tests;
