//! What is said of staged actions at every door: the head of an item, and the labels of its
//! buttons. Must not know how a door draws anything.
//!
//! The button that acts is always `✅ Confirm` and the other one `❌ Cancel`. What the server calls
//! them is quoted beside what they do, and never stands on a button that answers a question. Where
//! claw says itself what a tap does ([`in_our_words`]), its own labels stand on the buttons.

use crate::domain::{Answer, Choice, Question, Staged};

pub const CONFIRM: &str = "✅ Confirm";
pub const CANCEL: &str = "❌ Cancel";
/// The longest label of a button without a question, in characters. A proposal may be no longer;
/// escapes can make it so.
const LABEL_CHARS_MAX: usize = 32;

/// What stands on a button.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub shown: String,
    /// What its server calls it, where that is something else.
    pub quoted: Option<String>,
}

/// What the button of a choice says. `None` for a question that is not about a staged action.
pub fn label(question: &Question, choice: &Choice) -> Option<Label> {
    let all = match question.staged.as_ref()? {
        Staged::All { of } => Some(*of),
        Staged::Item { .. } | Staged::Buttons { .. } => None,
    };
    let ours = |shown| Label { shown, quoted: None };
    if in_our_words(question) {
        return Some(ours(one_line(&choice.label)));
    }
    Some(match (&choice.answer, all) {
        (Answer::Press { .. }, _) => ours(press_label(&choice.label)),
        (Answer::Allow { .. }, Some(of)) => ours(format!("{CONFIRM} all {of}")),
        (_, Some(_)) => ours(format!("{CANCEL} all")),
        (Answer::Allow { .. }, None) => quoting(CONFIRM, &choice.label),
        (_, None) => quoting(CANCEL, &choice.label),
    })
}

/// Whether claw itself says what a tap does, as it does for its own memory server. Then the
/// question is shown as every other one is (`doors/brief.rs`).
pub fn in_our_words(question: &Question) -> bool {
    question.staged.is_some() && question.effect.is_some()
}

/// What an item is called: `Staged 1 item`, `Staged item 2 of 3`, `Staged 3 items`.
pub fn head(staged: &Staged) -> String {
    match staged {
        Staged::Item { number, of: of @ 2.., .. } => format!("Staged item {number} of {of}"),
        Staged::Item { .. } => count(1),
        Staged::All { of } => count(*of as usize),
        Staged::Buttons { .. } => "Buttons".to_owned(),
    }
}

/// `Staged 1 item`, `Staged 3 items`.
pub fn count(items: usize) -> String {
    format!("Staged {items} {}", if items == 1 { "item" } else { "items" })
}

/// In one line, for a list of what waits: `staged item 2 of 3: “Add 2 apples”`.
pub fn in_a_list(staged: &Staged) -> String {
    match staged {
        Staged::Item { summary, .. } => {
            format!("{}: “{}”", head(staged).to_lowercase(), one_line(summary))
        }
        Staged::All { of } => format!("all {of} staged items at once"),
        Staged::Buttons { .. } => "buttons that need no question".to_owned(),
    }
}

/// Where something staged stands among what was staged with it.
pub fn place(staged: &Staged) -> (u8, u32) {
    match staged {
        Staged::Item { number, .. } => (0, *number),
        Staged::All { .. } => (1, 0),
        Staged::Buttons { .. } => (2, 0),
    }
}

pub fn group(staged: &Staged) -> Option<String> {
    match staged {
        Staged::Item { group, .. } | Staged::Buttons { group } => group.as_deref().map(one_line),
        Staged::All { .. } => None,
    }
}

fn quoting(shown: &str, label: &str) -> Label {
    let own = one_line(label);
    let quoted = (!own.is_empty() && own != shown).then_some(own);
    Label { shown: shown.to_owned(), quoted }
}

/// A button that needs no question bears the server's word, without our marks in front of it:
/// nothing is confirmed by it.
fn press_label(label: &str) -> String {
    let label = one_line(label);
    // A variation selector behind a mark is spelled out by then.
    let mut shown = label.as_str();
    while let Some(rest) = ["✅", "❌", "✔", "✖", "✓", "✗", "☑", "\\u{fe0f}", " "]
        .iter()
        .find_map(|mark| shown.strip_prefix(mark))
    {
        shown = rest;
    }
    // A mark alone is a word of its server, too.
    let shown = if shown.is_empty() { &label } else { shown };
    match shown.char_indices().nth(LABEL_CHARS_MAX) {
        Some((end, _)) => format!("{}…", shown[..end].trim_end()),
        None if shown.is_empty() => "•".to_owned(),
        None => shown.to_owned(),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{ApprovalId, CallId, Scope, SessionId, Term};

    fn item(confirm: &str, cancel: &str) -> Question {
        let session = SessionId::new("main").unwrap();
        let choice = |key: &str, label: &str, answer| Choice {
            key: key.into(),
            label: label.into(),
            answer,
        };
        Question {
            approval: ApprovalId("q7f2".into()),
            call: CallId::Reply { session: session.clone(), reply_seq: 3, block: 0 },
            session: Some(session),
            server: "shop".into(),
            tool: "confirm_add".into(),
            arguments: Vec::new(),
            why: String::new(),
            effect: None,
            expires_at_ms: 0,
            choices: vec![
                choice("y", confirm, Answer::Allow { term: Term::Once, scope: Scope::Exact }),
                choice("n", cancel, Answer::Deny { word: None }),
            ],
            staged: Some(Staged::Item { summary: "Add".into(), group: None, number: 1, of: 1 }),
            list: None,
            input: None,
        }
    }

    fn labels(confirm: &str, cancel: &str) -> (String, String) {
        let question = item(confirm, cancel);
        let shown = |index: usize| label(&question, &question.choices[index]).unwrap().shown;
        (shown(0), shown(1))
    }

    fn both(confirm: &str, cancel: &str) -> (String, String) {
        (confirm.to_owned(), cancel.to_owned())
    }

    #[test]
    fn whatever_a_server_calls_its_buttons_they_say_what_they_do() {
        for (yes, no) in [("", ""), ("Add to cart", "Leave it"), ("❌ Cancel", "✅ Confirm")] {
            assert_eq!(labels(yes, no), both("✅ Confirm", "❌ Cancel"), "{yes} {no}");
        }
        let question = item("❌ Cancel\n\nit", "❌ Cancel");
        let quoted = |index: usize| label(&question, &question.choices[index]).unwrap().quoted;
        assert_eq!((quoted(0).as_deref(), quoted(1)), (Some("❌ Cancel it"), None));
    }

    #[test]
    fn a_button_without_a_question_bears_its_servers_word() {
        let mut question = item("👍 Like", "✔\\u{fe0f} ✅ Confirm\nit");
        question.staged = Some(Staged::Buttons { group: None });
        for (index, choice) in (0..).zip(&mut question.choices) {
            choice.answer = Answer::Press { index };
        }
        let shown = |index: usize| label(&question, &question.choices[index]).unwrap().shown;
        assert_eq!((shown(0), shown(1)), both("👍 Like", "Confirm it"));
        assert_eq!((press_label("✅"), press_label(" ")), both("✅", "•"));
        assert_eq!(press_label(&"Like ".repeat(20)).chars().count(), 32 + 1);
    }

    #[test]
    fn all_is_said_in_our_own_words() {
        let mut question = item("Add nothing", "Yes");
        question.staged = Some(Staged::All { of: 3 });
        let shown = |index: usize| label(&question, &question.choices[index]).unwrap().shown;
        assert_eq!((shown(0), shown(1)), both("✅ Confirm all 3", "❌ Cancel all"));
        assert_eq!(head(&Staged::All { of: 3 }), "Staged 3 items");
        let item =
            |number, of| head(&Staged::Item { summary: String::new(), group: None, number, of });
        assert_eq!((item(1, 1), item(2, 3)), both("Staged 1 item", "Staged item 2 of 3"));
    }
}
