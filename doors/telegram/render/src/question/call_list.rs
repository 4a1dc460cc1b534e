//! A question about several calls as a message: its lines, and its buttons. Must not know what a
//! tap does, or which lines there is room for (`doors/call_list.rs`).

use super::brief_question::push_sentence;
use super::keyboard::{button, choices};
use super::value::shown_value;
use super::{cleaned_line, short};
use crate::api::callback::{Button, Tap};
use crate::domain::{Answer, ApprovalState, CallList, Choice, Question, Scope, Term};
use crate::doors::call_list::{ListBrief, always_for, texts_left_out};
use crate::doors::clock::Clock;
use crate::doors::door::Closed;
use crate::rich::{Rich, Style};

/// So many numbers stand in a row of buttons.
const NUMBERS_IN_A_ROW: usize = 6;

/// The lines of a list with what stands above and below them.
pub(super) fn push(rich: &mut Rich, list: &ListBrief) {
    rich.push(&cleaned_line(&list.title), Style::BOLD);
    if let Some(asker) = &list.asker {
        rich.push("\n", Style::PLAIN);
        rich.push(&short(asker), Style::ITALIC);
    }
    for line in &list.lines {
        let mark = match line.mark {
            "" => "",
            "yes" => "✅ ",
            _ => "❌ ",
        };
        let danger = if line.danger { "⚠️ " } else { "" };
        rich.push(&format!("\n{mark}{}. {danger}", line.number), Style::PLAIN);
        push_sentence(rich, &line.sentence, if line.danger { Style::BOLD } else { Style::PLAIN });
        for text in &line.text {
            let shown = shown_value(&text.lines.join("\n"));
            if !shown.is_empty() {
                rich.push("\n", Style::PLAIN);
                rich.push_pre(&shown, text.is_difference.then_some("diff"), None);
            }
        }
    }
    if list.left_out > 0 {
        rich.push("\n", Style::PLAIN);
        rich.push(&format!("… and {} more of this kind", list.left_out), Style::ITALIC);
    }
    if let Some(text) = texts_left_out(list) {
        rich.push("\n", Style::PLAIN);
        rich.push(&text, Style::ITALIC);
    }
    for note in &list.notes {
        rich.push("\n", Style::PLAIN);
        rich.push(&short(note), Style::ITALIC);
    }
}

/// The buttons under a list. Once something of it was chosen, the others are chosen from.
pub(super) fn keyboard(question: &Question, list: &CallList) -> Vec<Vec<Button>> {
    if list.open().len() == list.items.len() {
        first(question, list)
    } else {
        numbers(question, list)
    }
}

pub(super) fn first(question: &Question, list: &CallList) -> Vec<Vec<Button>> {
    let choose = button(question, "Choose…".to_owned(), Tap::Choose);
    let mut rows = vec![yes(question).chain(choose).collect::<Vec<_>>()];
    let stands = |answer: &Answer| match answer {
        Answer::Allow { term, scope } => {
            *term == Term::Always || matches!(scope, Scope::Mode { .. })
        }
        _ => false,
    };
    rows.extend(choices(question, stands).map(|button| vec![button]));
    rows.push(no(question).chain(with_word(question)).chain(more(question, list)).collect());
    rows.retain(|row| !row.is_empty());
    rows
}

/// A button for each call that is open: a tap is the yes to it.
pub(super) fn numbers(question: &Question, list: &CallList) -> Vec<Vec<Button>> {
    let open = list.open();
    let is_open = |answer: &Answer| match answer {
        Answer::Pick { yes, .. } => yes.iter().all(|number| open.contains(number)),
        _ => false,
    };
    let numbers: Vec<Button> = choices(question, is_open).collect();
    let mut rows: Vec<Vec<Button>> =
        numbers.chunks(NUMBERS_IN_A_ROW).map(<[Button]>::to_vec).collect();
    rows.push(yes(question).chain(no(question)).collect());
    let untouched = open.len() == list.items.len();
    let back = untouched.then(|| button(question, "Back".to_owned(), Tap::Back)).flatten();
    rows.push(back.into_iter().chain(more(question, list)).collect());
    rows.retain(|row| !row.is_empty());
    rows
}

/// What a choice of a list is called on its button. `None` for one that is called as everywhere.
pub(super) fn label(question: &Question, list: &CallList, choice: &Choice) -> Option<String> {
    let (open, all) = (list.open().len(), list.items.len());
    Some(match &choice.answer {
        Answer::Allow { scope: Scope::Mode { mode }, .. } => {
            format!("All, and mode {mode} this session")
        }
        Answer::Allow { term: Term::Always, .. } => {
            format!("All, {}", always_for(question))
        }
        Answer::Allow { .. } if open < all => format!("Allow the other {open}"),
        Answer::Allow { .. } => format!("Allow all {open}"),
        Answer::Deny { .. } if open < all => "None of the others".to_owned(),
        Answer::Deny { .. } => "None".to_owned(),
        Answer::Pick { yes, .. } => format!("✓ {}", yes.first()?),
        Answer::Never | Answer::Press { .. } | Answer::Give { .. } | Answer::Skip => return None,
    })
}

fn yes(question: &Question) -> impl Iterator<Item = Button> {
    choices(question, |answer| matches!(answer, Answer::Allow { term: Term::Once, .. }))
}

fn no(question: &Question) -> impl Iterator<Item = Button> {
    choices(question, |answer| matches!(answer, Answer::Deny { .. }))
}

fn with_word(question: &Question) -> Option<Button> {
    button(question, "Deny and say why".to_owned(), Tap::DenyWithWord)
}

fn more(question: &Question, list: &CallList) -> Option<Button> {
    let label = if super::brief_question::says_all(question) { "?" } else { "Show all" };
    (!list.items.is_empty()).then(|| button(question, label.to_owned(), Tap::Whole)).flatten()
}

/// What became of a list, for the head of its message; what became of each call stands beside it.
/// `None` where it is said as of any question.
pub(super) fn outcome(
    question: &Question,
    how: &Closed,
    clock: &Clock,
) -> Option<(String, String)> {
    let list = question.list.as_ref()?;
    match how {
        Closed::Answered { answer, by, at_ms, .. } => {
            let (mode, word) = match answer {
                Answer::Allow { scope: Scope::Mode { mode }, .. } => {
                    (format!(", and mode {mode} for this session"), String::new())
                }
                Answer::Allow { term: Term::Always, .. } => {
                    (format!(", {}", always_for(question)), String::new())
                }
                Answer::Deny { word: Some(word) } => {
                    (String::new(), format!("\n“{}”", short(word)))
                }
                _ => (String::new(), String::new()),
            };
            let heading = match answer {
                Answer::Allow { .. } => "Allowed",
                _ => "Denied",
            };
            let details = format!("by {} at {}{mode}{word}", short(by), clock.at(*at_ms));
            Some((heading.to_owned(), details))
        }
        Closed::Superseded { at_ms, .. }
            if list.items.iter().any(|item| item.state == ApprovalState::Approved)
                || list.items.iter().any(|item| item.state == ApprovalState::Denied) =>
        {
            Some(("Answered".to_owned(), format!("one by one, the last at {}", clock.at(*at_ms))))
        }
        Closed::Superseded { .. } | Closed::Expired { .. } | Closed::AskedAgain => None,
    }
}
