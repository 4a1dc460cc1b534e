//! How a typed answer to a question is read. Owns the line between an answer and a message; must
//! not know how an answer is decided, what it grants, or how a question is painted.

use crate::domain::{Answer, Question, Scope, Term};
pub use crate::doors::clock::Clock;
use crate::doors::input_answers::{ReadInput, read_input};
use crate::doors::list_answers::{ReadList, read_list};
use crate::doors::typed::{Typed, typed};

pub use super::question_view::{brief_lines, question_lines, whole_lines};
use crate::doors::clean::clean;

/// What a typed line is to an open question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParsedAnswer {
    Answer(Answer),
    /// A message, which leaves the question open.
    NotAnAnswer,
    /// Too close to an answer to be taken for a message; the sentence says what to type.
    Unclear(String),
}

const HINT: &str = "To send it as a message instead, start the line with a space.";

/// Words that are close to a yes of `doors/typed.rs` and are none.
const NEARLY_YES: &[&str] = &["k", "yeah", "yup", "sure", "allow", "approve", "oui", "si", "go"];

/// Reads a line as an answer to `question`. Only the offered choices can be given, letter case
/// aside, and the words of `doors/typed.rs`; a refusal may carry a word to the model (`no, …`, `n
/// because …`, `deny …`).
pub fn parse_answer(line: &str, question: &Question) -> ParsedAnswer {
    let text = line.trim();
    if text.is_empty() {
        return ParsedAnswer::NotAnAnswer;
    }
    match read_input(text, question, !line.starts_with(char::is_whitespace)) {
        Some(ReadInput::Answer(answer)) => return ParsedAnswer::Answer(answer),
        Some(ReadInput::Unclear(sentence)) => {
            return ParsedAnswer::Unclear(format!("{sentence} {HINT}"));
        }
        Some(ReadInput::NotAnAnswer) => return ParsedAnswer::NotAnAnswer,
        None => {}
    }
    if let Some(list) = &question.list {
        match read_list(text, list) {
            ReadList::Answer(answer) => return ParsedAnswer::Answer(answer),
            ReadList::Unclear(sentence) => return ParsedAnswer::Unclear(sentence),
            ReadList::NotAnAnswer => {}
        }
    }
    let lower = text.to_lowercase();
    if let Some(answer) =
        exact(&lower, question).or_else(|| worded(text, question)).or_else(|| refusal(text, &lower))
    {
        return ParsedAnswer::Answer(answer);
    }
    match near_miss(&lower, question) {
        Some(sentence) if !line.starts_with(char::is_whitespace) => ParsedAnswer::Unclear(sentence),
        _ => ParsedAnswer::NotAnAnswer,
    }
}

fn exact(lower: &str, question: &Question) -> Option<Answer> {
    if let Some(choice) = question.choices.iter().find(|choice| choice.key.to_lowercase() == lower)
    {
        return Some(choice.answer.clone());
    }
    match lower {
        "deny" => Some(Answer::Deny { word: None }),
        "never" => offered(question, Answer::Never),
        _ => None,
    }
}

/// The words that every door reads alike.
fn worded(text: &str, question: &Question) -> Option<Answer> {
    match typed(text) {
        Typed::Yes => offered(question, Answer::Allow { term: Term::Once, scope: Scope::Exact }),
        // To refuse is always possible.
        Typed::No { word } => Some(Answer::Deny { word }),
        Typed::Remark => None,
    }
}

fn offered(question: &Question, meant: Answer) -> Option<Answer> {
    question.choices.iter().any(|choice| choice.answer == meant).then_some(meant)
}

fn refusal(text: &str, lower: &str) -> Option<Answer> {
    for start in ["n because ", "no because ", "n ", "deny: ", "deny "] {
        if lower.starts_with(start) {
            // The starts are ASCII, so that the same number of bytes can be cut off the text
            // itself.
            let keep = start.find("because").unwrap_or(start.len());
            let word = text.get(keep..)?.trim();
            return Some(Answer::Deny { word: (!word.is_empty()).then(|| word.to_owned()) });
        }
    }
    None
}

fn near_miss(lower: &str, question: &Question) -> Option<String> {
    let offered =
        question.choices.iter().filter(|choice| !matches!(choice.answer, Answer::Pick { .. }));
    let keys: Vec<String> = offered.map(|choice| choice.key.to_lowercase()).collect();
    let numbers = if question.list.is_some() { ", or numbers such as 1 3-5" } else { "" };
    let keys_offered = || format!("Type one of: {}{numbers}. {HINT}", keys.join(", "));
    let first = lower.split([' ', ',', '.', ':', ';', '!']).next().unwrap_or_default();
    if first != lower.trim_end_matches(['.', ',', '!', '?', ';', ':']) {
        // Several words are a remark, unless they begin with the key of a longer allowance, which
        // takes none.
        let approves = keys.iter().any(|key| key == first && key.len() > 1);
        return approves
            .then(|| format!("An approval takes no words after it. {}", keys_offered()));
    }
    let word = lower.trim_matches(|c: char| !c.is_alphanumeric());
    let known = ["y", "yes", "n", "no", "never", "deny", "always", "session", "once"];
    let candidates = || keys.iter().map(String::as_str).chain(known);
    let close = candidates().any(|key| {
        key == word
            || (key.chars().count() >= 3
                && (2..=32).contains(&word.chars().count())
                && strsim::osa_distance(key, word) <= 1)
    });
    let minutes = word.starts_with("10") && word.len() <= 10;
    let short = word.chars().count() <= 1 || NEARLY_YES.contains(&word);
    (close || minutes || short)
        .then(|| format!("`{}` is no answer to this question. {}", clean(lower), keys_offered()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use claw_test_kit::question;

    fn denied(word: &str) -> ParsedAnswer {
        ParsedAnswer::Answer(Answer::Deny { word: Some(word.into()) })
    }

    #[test]
    fn the_offered_keys_are_answers() {
        let question = question();
        for choice in &question.choices {
            for line in [choice.key.clone(), format!(" {} ", choice.key.to_uppercase())] {
                assert_eq!(
                    parse_answer(&line, &question),
                    ParsedAnswer::Answer(choice.answer.clone()),
                    "{line}"
                );
            }
        }
        assert_eq!(parse_answer("yes", &question), parse_answer("y", &question));
        assert_eq!(parse_answer("No", &question), parse_answer("n", &question));
        for word in ["Y.", "yes!", "ok", "Okay", "ja", "yep 👍"] {
            assert_eq!(parse_answer(word, &question), parse_answer("y", &question), "{word}");
        }
    }

    #[test]
    fn a_refusal_carries_a_word() {
        let question = question();
        assert_eq!(
            parse_answer("n because it is Friday", &question),
            denied("because it is Friday")
        );
        assert_eq!(parse_answer("deny use trash instead", &question), denied("use trash instead"));
        assert_eq!(parse_answer("N: Not now", &question), denied("Not now"));
        assert_eq!(parse_answer("no, use plan.md", &question), denied("use plan.md"));
        assert_eq!(parse_answer("nein – später", &question), denied("später"));
    }

    #[test]
    fn a_slip_is_neither_an_answer_nor_a_message() {
        let question = question();
        for line in ["yse", "ys", "nver", "sure", "j", "10", "10min", "alwys", "10m please", "."] {
            assert!(matches!(parse_answer(line, &question), ParsedAnswer::Unclear(_)), "{line}");
        }
        let mut short = question.clone();
        short.choices.retain(|choice| choice.key != "a" && choice.key != "never");
        for line in ["a", "never", "always"] {
            assert!(matches!(parse_answer(line, &short), ParsedAnswer::Unclear(_)), "{line}");
        }
    }

    #[test]
    fn everything_else_is_a_message() {
        let question = question();
        for line in [
            "",
            "what does it do?",
            "a better idea: use git",
            "no problem, show me the file first",
            " yes please",
            "yes please",
            "y but only once",
            "stop",
        ] {
            assert_eq!(parse_answer(line, &question), ParsedAnswer::NotAnAnswer, "{line}");
        }
    }
}
