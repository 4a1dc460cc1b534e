//! How a text answers a server that asks in the middle of its call, and what such an answer
//! is called. One reading for every door. Must not know which question is meant, or what
//! becomes of the value.

use crate::domain::{Answer, Choice, Input, InputKind, Question, escape};

/// More words than this are a message, where a text may be one.
const WORDS_MAX: usize = 3;
/// What declines at any time, whatever a server calls its options.
const DECLINES: &[&str] = &["no", "n", "nein", "cancel", "decline"];
/// The button that is always there.
pub const DECLINE: &str = "✖ Decline";

/// What a text is to an open question for a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadInput {
    Answer(Answer),
    /// It does not fit: one sentence says what would.
    Unclear(String),
    /// A message, which leaves the question open.
    NotAnAnswer,
}

/// Reads a text as an answer; `None` for a question that asks for no value. `aimed`: it is
/// certainly for this question (a reply, an argument). Otherwise words that any message could have
/// are none, and an option is taken by its number or its quoted name. A plain no declines, unless
/// claw itself offers a no as a value, or the text is aimed at a question for words.
pub fn read_input(text: &str, question: &Question, aimed: bool) -> Option<ReadInput> {
    let input = question.input.as_ref()?;
    let text = text.trim();
    let lower = text.trim_start_matches(['✖', ' ']).to_lowercase();
    let keyed = |choice: &&Choice| choice.key.to_lowercase() == lower;
    Some(match question.choices.iter().find(keyed) {
        _ if text.is_empty() => ReadInput::NotAnAnswer,
        Some(choice) => ReadInput::Answer(choice.answer.clone()),
        None if declines(input, &lower, aimed) => ReadInput::Answer(Answer::Deny { word: None }),
        None if !aimed && input.takes_any_text() => ReadInput::NotAnAnswer,
        None => match if aimed { input.read(text) } else { input.read_strictly(text) } {
            Ok(value) => ReadInput::Answer(Answer::Give { value }),
            Err(_) if !aimed && text.split_whitespace().count() > WORDS_MAX => {
                ReadInput::NotAnAnswer
            }
            Err(sentence) => ReadInput::Unclear(sentence),
        },
    })
}

fn declines(input: &Input, lower: &str, aimed: bool) -> bool {
    let word = lower.trim_end_matches(['.', '!', ' ']);
    let is_value = match input.kind {
        InputKind::Boolean => !matches!(word, "cancel" | "decline"),
        InputKind::Text { .. } => aimed,
        _ => false,
    };
    DECLINES.contains(&word) && !is_value
}

/// What an answer was, as a sentence without its full stop.
pub fn in_words(answer: &Answer, question: &Question) -> String {
    let asker = || asker(question);
    match (answer, &question.input) {
        (Answer::Give { value }, Some(input)) if has_value(input) => {
            format!("Answered “{}”: {}", input.label, input.shown(value))
        }
        (Answer::Give { .. } | Answer::Allow { .. }, _) => format!("Answered: {}", asker()),
        (Answer::Skip, Some(input)) => format!("Left out: “{}”", input.label),
        _ => format!("Declined: {}", asker()),
    }
}

/// Who the question says that asks: a server does not always say in which of its calls.
fn asker(question: &Question) -> String {
    let says = question.effect.as_ref().and_then(|effect| effect.says.strip_prefix('`'));
    match says.and_then(|says| says.split_once('`')) {
        Some((named, _)) => named.to_owned(),
        None => escape::visible(&format!("{}/{}", question.server, question.tool)),
    }
}

/// What is typed, for the line below the question; `None` where all answers are choices.
pub fn typed(question: &Question) -> Option<String> {
    let input = question.input.as_ref()?;
    input.is_typed().then(|| input.wants())
}

/// What a choice is called on its button.
pub fn label(choice: &Choice) -> String {
    match choice.answer {
        Answer::Deny { .. } => DECLINE.to_owned(),
        _ => choice.label.clone(),
    }
}

/// A yes to a form without a value, or to a page, has nothing to show.
fn has_value(input: &Input) -> bool {
    !input.field.is_empty()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::{Effect, InputOption};
    use claw_test_kit::question as asked;

    fn question(kind: InputKind, choices: &[(&str, Answer)]) -> Question {
        let choice = |(key, answer): &(&str, Answer)| Choice {
            key: (*key).to_owned(),
            label: format!("the {key}"),
            answer: answer.clone(),
        };
        let input = Input {
            request: "a".into(),
            field: "seats".into(),
            label: "Seats".into(),
            required: true,
            kind,
        };
        let says = "`tickets/book` asks for “Seats”".to_owned();
        let decline = Choice {
            key: "decline".into(),
            label: "Decline".into(),
            answer: Answer::Deny { word: None },
        };
        Question {
            server: "tickets".into(),
            tool: "book".into(),
            arguments: vec![("it says".into(), "How many?".into())],
            effect: Some(Effect { says, notes: vec![], ..Effect::default() }),
            choices: choices.iter().map(choice).chain([decline]).collect(),
            input: Some(input),
            ..asked()
        }
    }

    fn seats() -> Question {
        question(InputKind::Number { whole: true, min: Some(1.0), max: Some(9.0) }, &[])
    }

    fn give(value: serde_json::Value) -> Option<ReadInput> {
        Some(ReadInput::Answer(Answer::Give { value }))
    }

    #[test]
    fn a_value_that_does_not_fit_is_told_in_one_sentence() {
        let told = "That does not fit: “Seats” takes a whole number from 1 to 9.".to_owned();
        assert_eq!(read_input("3", &seats(), false), give(json!(3)));
        assert_eq!(read_input("12", &seats(), false), Some(ReadInput::Unclear(told)));
        let remark = read_input("what is this all about?", &seats(), false);
        assert_eq!(remark, Some(ReadInput::NotAnAnswer));
        let deny = Some(ReadInput::Answer(Answer::Deny { word: None }));
        for text in ["decline", "Decline", "✖ Decline"] {
            assert_eq!(read_input(text, &seats(), false), deny, "{text}");
        }
    }

    #[test]
    fn free_words_are_an_answer_only_where_they_are_aimed_at_the_question() {
        let name = question(InputKind::Text { min: 0, max: 40, format: None }, &[]);
        assert_eq!(read_input("no, wait", &name, false), Some(ReadInput::NotAnAnswer));
        assert_eq!(read_input("no, wait", &name, true), give(json!("no, wait")));
        assert_eq!(read_input("yes", &asked(), true), None, "it asks for no value");
    }

    #[test]
    fn an_answer_is_told_by_its_name() {
        let option = InputOption { value: "w".into(), label: "Window".into() };
        let seat = question(InputKind::Choice { options: vec![option] }, &[]);
        let answer = Answer::Give { value: json!("w") };
        assert_eq!(in_words(&answer, &seat), "Answered “Seats”: “Window”");
        let no = Answer::Deny { word: None };
        assert_eq!(in_words(&no, &seat), "Declined: tickets/book");
        let mut doubtful = seat;
        doubtful.effect.as_mut().unwrap().says = "`tickets` asks for “Seats”".to_owned();
        assert_eq!(in_words(&no, &doubtful), "Declined: tickets");
    }

    /// A server calls an option as claw calls its no; the owner's no stays one.
    #[test]
    fn a_no_declines_whatever_a_server_calls_its_options() {
        let options = || {
            ["✖ Decline", "No", "Cancel"]
                .map(|label| InputOption { value: label.to_lowercase(), label: label.into() })
        };
        let one = question(InputKind::Choice { options: options().into() }, &[]);
        let some = InputKind::Several { options: options().into(), min: 0, max: 3 };
        let deny = Some(ReadInput::Answer(Answer::Deny { word: None }));
        for asked in [one.clone(), question(some, &[])] {
            for text in ["no", "No.", "n", "nein", "cancel", "decline", "✖ Decline"] {
                for aimed in [false, true] {
                    assert_eq!(read_input(text, &asked, aimed), deny, "{text}");
                }
            }
        }
        assert_eq!(read_input("2", &one, false), give(json!("no")));
        assert_eq!(read_input("“No”", &one, false), give(json!("no")));
        let buttons = (1..).zip(options()).map(|(number, option)| option.button(number));
        assert_eq!(
            buttons.collect::<Vec<_>>(),
            ["Option 1: “✖ Decline”", "Option 2: “No”", "Option 3: “Cancel”"]
        );
        // A name that any message could be takes nothing by itself.
        let later = InputOption { value: "l".into(), label: "later".into() };
        let later = question(InputKind::Choice { options: vec![later] }, &[]);
        assert!(matches!(read_input("later", &later, false), Some(ReadInput::Unclear(_))));
        assert_eq!(read_input("later", &later, true), give(json!("l")));
        let window = question(InputKind::Boolean, &[]);
        assert_eq!(read_input("nein", &window, false), give(json!(false)));
        assert_eq!(read_input("cancel", &window, false), deny);
    }
}
