//! What is said of staged actions at every door: the head of an item, and the labels of its
//! buttons. Owns that no label of a server can pass for the other button; must not know how a door
//! draws anything.
//!
//! Summary and labels are the server's words. Which of the buttons acts is ours to say: the one
//! that does begins with ✅ and the one that does not with ❌, whatever the server calls them.

use crate::domain::{Answer, Choice, Question, Staged};

pub const CONFIRM_MARK: &str = "✅";
pub const CANCEL_MARK: &str = "❌";
/// The longest label of a button without its mark, in characters. A proposal may be no longer;
/// escapes can make it so.
pub const LABEL_CHARS_MAX: usize = 32;

/// What people read as "it is done", and what they read as "it is not".
const YES_MARKS: &[char] = &['✅', '✔', '✓', '☑', '🗸', '🗹', '🆗', '👍', '🟢'];
const NO_MARKS: &[char] = &['❌', '✖', '✗', '✘', '✕', '❎', '☒', '🗙', '🚫', '⛔', '🛑', '👎', '🔴'];
/// Words that say the opposite of the button they would stand on.
const YES_WORDS: &[&str] =
    &["confirm", "yes", "ok", "okay", "allow", "approve", "accept", "agree", "run", "do"];
const NO_WORDS: &[&str] = &[
    "cancel", "no", "not", "never", "deny", "abort", "stop", "reject", "decline", "refuse",
    "dismiss", "keep", "back", "don", "dont", "nothing", "skip", "leave", "later",
];

/// What stands on a button.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub shown: String,
    /// What its server calls it, if that says something else than the button does, so that ours
    /// stands there.
    pub instead_of: Option<String>,
}

/// What the button of a choice says. `None` for a question that is not about a staged action.
pub fn label(question: &Question, choice: &Choice) -> Option<Label> {
    let all = match question.staged.as_ref()? {
        Staged::All { of } => Some(*of),
        Staged::Item { .. } | Staged::Buttons { .. } => None,
    };
    let ours = |shown| Label { shown, instead_of: None };
    Some(match (&choice.answer, all) {
        (Answer::Press { .. }, _) => ours(press_label(&choice.label)),
        (Answer::Allow { .. }, Some(of)) => ours(format!("{CONFIRM_MARK} Confirm all {of}")),
        (_, Some(_)) => ours(format!("{CANCEL_MARK} Cancel all")),
        (Answer::Allow { .. }, None) => {
            marked(CONFIRM_MARK, &choice.label, other(question, choice), "Confirm")
        }
        (_, None) => marked(CANCEL_MARK, &choice.label, other(question, choice), "Cancel"),
    })
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

/// The label of the other choice of the same question.
fn other<'q>(question: &'q Question, choice: &Choice) -> &'q str {
    question
        .choices
        .iter()
        .find(|other| other.key != choice.key)
        .map_or("", |other| other.label.as_str())
}

/// The server's label with our mark in front of it, or our own word where the server's would say
/// something else than the mark.
fn marked(mark: &str, label: &str, other: &str, ours: &str) -> Label {
    let (marks, words) =
        if mark == CONFIRM_MARK { (NO_MARKS, NO_WORDS) } else { (YES_MARKS, YES_WORDS) };
    let (own, plain) = (one_line(label), without_marks(label).to_lowercase());
    // All of it counts, also what is cut off.
    let contradicts = own.contains(|c| marks.contains(&c))
        || plain.split(|c: char| !c.is_alphanumeric()).any(|word| words.contains(&word))
        || plain == without_marks(other).to_lowercase();
    let says_nothing = !plain.contains(char::is_alphanumeric);
    if contradicts || says_nothing {
        return Label {
            shown: format!("{mark} {ours}"),
            instead_of: (!own.is_empty()).then_some(own),
        };
    }
    Label { shown: format!("{mark} {}", head_of(&without_marks(label))), instead_of: None }
}

/// A button that needs no question has no mark: nothing is confirmed by it.
fn press_label(label: &str) -> String {
    let shown = without_marks(label);
    // A thumb is what such a button is for, and says nothing of a question.
    let shown = if shown.is_empty() { one_line(label) } else { shown };
    match head_of(&shown) {
        empty if empty.is_empty() => "•".to_owned(),
        shown => shown,
    }
}

/// One line, without the marks in front of it that are ours to set.
fn without_marks(label: &str) -> String {
    let label = one_line(label);
    let is_mark = |c: char| {
        c == '✅' || c == '❌' || c == '✔' || c == '✖' || c == '✓' || c == '✗' || c == '☑'
    };
    let mut rest = label.as_str();
    loop {
        // A variation selector behind a mark is spelled out by then.
        let next = rest
            .trim_start_matches(|c: char| is_mark(c) || c == ' ')
            .trim_start_matches("\\u{fe0f}");
        if next.len() == rest.len() {
            return rest.to_owned();
        }
        rest = next;
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn head_of(label: &str) -> String {
    match label.char_indices().nth(LABEL_CHARS_MAX) {
        Some((end, _)) => format!("{}…", label[..end].trim_end()),
        None => label.to_owned(),
    }
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
            expires_at_ms: 0,
            choices: vec![
                choice("y", confirm, Answer::Allow { term: Term::Once, scope: Scope::Exact }),
                choice("n", cancel, Answer::Deny { word: None }),
            ],
            staged: Some(Staged::Item { summary: "Add".into(), group: None, number: 1, of: 1 }),
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
    fn a_server_names_its_buttons_and_the_marks_are_ours() {
        assert_eq!(labels("✅ Confirm", "❌ Cancel"), both("✅ Confirm", "❌ Cancel"));
        assert_eq!(labels("Add to cart", "Leave it"), both("✅ Add to cart", "❌ Leave it"));
        assert_eq!(labels("✔\\u{fe0f} ✅ Buy", "✖ ❌ Later"), both("✅ Buy", "❌ Later"));
        assert_eq!(labels("🛒 Buy\n\ntwo", "❌"), both("✅ 🛒 Buy two", "❌ Cancel"));
        let (long, _) = labels(&"Buy ".repeat(20), "");
        assert_eq!(long.chars().count(), 2 + 31 + 1, "{long}");
    }

    #[test]
    fn no_label_passes_for_the_other_button() {
        for hostile in [
            "❌ Cancel",
            "Cancel",
            "✅ CANCEL",
            "No, thanks",
            "❌",
            "Add ❌ Cancel",
            "Do not run",
            "",
            "  ",
            "✅❌✅ Stop",
            "⛔ x",
            "Leave it",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa cancel",
        ] {
            assert_eq!(labels(hostile, "Leave it").0, "✅ Confirm", "{hostile}");
        }
        for hostile in ["✅ Confirm", "Yes, add", "OK", "✔ go", "Buy", "👍"] {
            assert_eq!(labels("Buy", hostile).1, "❌ Cancel", "{hostile}");
        }
        let question = item("❌ Cancel", "Not now");
        let told = label(&question, &question.choices[0]).unwrap();
        assert_eq!(told.instead_of.as_deref(), Some("❌ Cancel"), "what stood there is told");
        assert_eq!(label(&question, &question.choices[1]).unwrap().instead_of, None);
    }

    #[test]
    fn a_button_without_a_question_confirms_nothing() {
        let mut question = item("👍 Like", "✅ Confirm");
        question.staged = Some(Staged::Buttons { group: None });
        for (index, choice) in (0..).zip(&mut question.choices) {
            choice.answer = Answer::Press { index };
        }
        let shown = |index: usize| label(&question, &question.choices[index]).unwrap().shown;
        assert_eq!((shown(0), shown(1)), both("👍 Like", "Confirm"));
        assert_eq!((press_label("✅"), press_label(" ")), both("✅", "•"));
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
