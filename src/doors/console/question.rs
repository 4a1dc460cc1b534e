//! How a question to a human looks on the console, and how a typed answer is read. Owns the wording
//! of the frame and the line between an answer and a message; must not know how an answer is
//! decided or what it grants.

use crate::domain::{Answer, Question, Scope, Term};
pub use crate::doors::clock::Clock;
use crate::doors::typed::{Typed, typed};

use super::clean::clean;
use super::style::{Line, Look, Span, Style, paint_line};
use super::wrap::{Long, chop, width, wrap};

/// What a typed line is to an open question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParsedAnswer {
    Answer(Answer),
    /// A message, which leaves the question open.
    NotAnAnswer,
    /// Too close to an answer to be taken for a message; the sentence says what to type.
    Unclear(String),
}

/// The widest name of an argument that stands beside its value.
const NAME_COLUMNS_MAX: usize = 16;

/// The whole question as lines, without line feeds. `number` is what a person types to answer this
/// one of several.
pub fn question_lines(
    question: &Question,
    number: Option<usize>,
    look: Look,
    clock: &Clock,
) -> Vec<String> {
    let mut lines: Vec<Line> = Vec::new();
    let label = number.map(|number| format!(" (question {number})")).unwrap_or_default();
    let title = [
        Span::new("May ", Style::PLAIN),
        Span::new(
            &format!("{}/{}", one_row(&question.server), one_row(&question.tool)),
            Style::BOLD,
        ),
        Span::new(&format!(" run this?{label}"), Style::PLAIN),
    ];
    hang(&mut lines, Span::new("? ", Style::YELLOW.with(Style::BOLD)), &title, look);
    arguments(&mut lines, question, look);
    hang(
        &mut lines,
        Span::new("  why: ", Style::DIM),
        &[Span::new(&one_row(&question.why), Style::PLAIN)],
        look,
    );
    let until = format!("open until {}", clock.until(question.expires_at_ms));
    hang(&mut lines, Span::new("  ", Style::PLAIN), &[Span::new(&until, Style::DIM)], look);
    let keys =
        question.choices.iter().map(|choice| width(&one_row(&choice.key))).max().unwrap_or(0);
    for choice in &question.choices {
        let key = one_row(&choice.key);
        let label = format!("  {key}{}  ", " ".repeat(keys.saturating_sub(width(&key))));
        let grants = Span::new(&one_row(&choice.label), Style::PLAIN);
        hang(&mut lines, Span::new(&label, Style::BOLD.with(Style::CYAN)), &[grants], look);
    }
    lines.iter().map(|line| paint_line(line, look)).collect()
}

/// Every argument whole.
pub(super) fn arguments(lines: &mut Vec<Line>, question: &Question, look: Look) {
    if question.arguments.is_empty() {
        lines.push(vec![Span::new("  (no arguments)", Style::DIM)]);
    }
    // A longer name has a row of its own and does not push the values to the side.
    let fits = |name: &usize| *name <= NAME_COLUMNS_MAX.min(look.width / 4);
    let names = question
        .arguments
        .iter()
        .map(|(name, _)| width(&one_row(name)))
        .filter(fits)
        .max()
        .unwrap_or(0);
    for (name, value) in &question.arguments {
        argument(lines, name, value, names, look);
    }
}

/// Every character of the value, on as many rows as it needs: `│` starts a line of the value, `┊`
/// continues it.
pub(super) fn argument(lines: &mut Vec<Line>, name: &str, value: &str, names: usize, look: Look) {
    let name = one_row(name);
    let own_row = width(&name) > names;
    if own_row {
        lines.push(vec![Span::new(&format!("  {name}"), Style::BOLD)]);
    }
    let room = look.width.saturating_sub(names + 6).max(10);
    let mut label = if own_row { String::new() } else { name };
    for row in clean(value).replace('\t', "␉").split('\n') {
        for (part, text) in chop(row, room).iter().enumerate() {
            let pad = " ".repeat(names.saturating_sub(width(&label)));
            let bar = if part == 0 { "│ " } else { "┊ " };
            lines.push(vec![
                Span::new(&format!("  {label}{pad}  "), Style::BOLD),
                Span::new(bar, Style::DIM),
                Span::new(&visible_end(text), Style::PLAIN),
            ]);
            label.clear();
        }
    }
}

/// Spaces at the end of a row would be lost to the eye.
fn visible_end(row: &str) -> String {
    let text = row.trim_end();
    format!("{text}{}", "·".repeat(row[text.len()..].chars().count()))
}

pub(super) fn one_row(text: &str) -> String {
    clean(text).replace('\n', "␊").replace('\t', "␉")
}

/// A label and a text beside it, wrapped under its own start.
pub(super) fn hang(lines: &mut Vec<Line>, label: Span, text: &[Span], look: Look) {
    let indent = width(label.text());
    for (index, row) in
        wrap(text, look.width.saturating_sub(indent).max(10), Long::Break).into_iter().enumerate()
    {
        let start =
            if index == 0 { label.clone() } else { Span::new(&" ".repeat(indent), Style::PLAIN) };
        lines.push(std::iter::once(start).chain(row).collect());
    }
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
    let keys: Vec<String> =
        question.choices.iter().map(|choice| choice.key.to_lowercase()).collect();
    let keys_offered = || format!("Type one of: {}. {HINT}", keys.join(", "));
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
    use jiff::tz::TimeZone;

    use super::*;
    use crate::domain::{ApprovalId, CallId, Choice, SessionId};

    fn question() -> Question {
        let allow = |term, scope| Answer::Allow { term, scope };
        let below = || Scope::Below { path: "src".into() };
        let choice = |key: &str, answer| Choice { key: key.into(), label: "…".into(), answer };
        Question {
            approval: ApprovalId("q7f2".into()),
            call: CallId::Reply {
                session: SessionId::new("main").unwrap(),
                reply_seq: 3,
                block: 0,
            },
            session: Some(SessionId::new("main").unwrap()),
            server: "filesystem".into(),
            tool: "write_file".into(),
            arguments: vec![],
            why: "it changes files".into(),
            expires_at_ms: 0,
            staged: None,
            choices: vec![
                choice("y", allow(Term::Once, Scope::Exact)),
                choice("10m", allow(Term::TenMinutes, Scope::Exact)),
                choice("s", allow(Term::Session, Scope::Exact)),
                choice("a", allow(Term::Always, Scope::Exact)),
                choice("sb", allow(Term::Session, below())),
                choice("never", Answer::Never),
                choice("n", Answer::Deny { word: None }),
            ],
        }
    }

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

    #[test]
    fn arguments_are_shown_whole() {
        let mut question = question();
        let value = format!("first  line \n{}\u{1b}[2J\u{202e}", "x".repeat(200));
        question.arguments = vec![("content".into(), value)];
        let lines = question_lines(
            &question,
            None,
            Look::new(40, false),
            &Clock { now_ms: 0, zone: TimeZone::UTC },
        );
        assert!(lines.iter().all(|line| width(line) <= 40), "{lines:#?}");
        let shown: String = lines
            .iter()
            .filter_map(|line| line.split_once(['│', '┊']))
            .map(|(_, text)| &text[1..])
            .collect();
        assert_eq!(shown, format!("first  line·{}␛[2J<U+202E>", "x".repeat(200)));
    }
}
