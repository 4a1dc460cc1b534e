//! The buttons under a question. Owns their order and labels; must not know what a tap does. A
//! button stands only for a choice that the question offers.

use crate::api::callback::{Button, Callback, Tap};
use crate::clean::cleaned_line;
use crate::domain::{Answer, Choice, Mode, Question, Scope, Term};
use crate::doors::input_answers;
use crate::doors::staged_questions::in_our_words;

use super::value::shown_value;
use super::{brief_question, call_list};

/// How much of a path a button shows, in characters: its end, because that is what differs. The
/// message has all of it.
const PATH_CHARS_MAX: usize = 40;
const STAGED_IN_A_ROW: usize = 3;
const VALUES_IN_A_ROW: usize = 2;
/// Longer names of values have a row each, in characters.
const VALUE_CHARS_MAX: usize = 16;

/// The first keyboard: rows of buttons.
pub fn keyboard(question: &Question) -> Vec<Vec<Button>> {
    if question.staged.is_some() {
        return staged(question);
    }
    if let Some(list) = &question.list {
        return call_list::keyboard(question, list);
    }
    if question.input.is_some() {
        return values(question);
    }
    let exactly = |wanted: Term| {
        let is =
            move |answer: &Answer| *answer == Answer::Allow { term: wanted, scope: Scope::Exact };
        choices(question, is).next()
    };
    let deny = question.choices.iter().any(|choice| matches!(choice.answer, Answer::Deny { .. }));
    let menu = |label: &str, tap: Tap, is: fn(&Answer) -> bool| {
        choices(question, is).next().and_then(|_| button(question, label.to_owned(), tap))
    };
    let mut rows = vec![
        vec![exactly(Term::Once), exactly(Term::TenMinutes)],
        vec![exactly(Term::Session), menu("Always…", Tap::MenuAlways, is_always)],
    ];
    // What would have spared the last yeses is one tap away.
    let offered = question.effect.as_ref().and_then(|effect| effect.offer.as_ref());
    let offered = offered.and_then(|key| question.choices.iter().find(|one| one.key == *key));
    let offered = offered
        .and_then(|one| button(question, label(question, one), Tap::Choice(one.key.clone())));
    rows.insert(1, vec![offered]);
    // Whatever else is offered has a row of its own, because it says what it covers.
    let is_other = |answer: &Answer| {
        matches!(answer, Answer::Allow { scope, .. } if *scope != Scope::Exact)
            && !is_always(answer)
    };
    rows.extend(choices(question, is_other).map(|button| vec![Some(button)]));
    rows.push(vec![choices(question, is_deny).next(), menu("Never…", Tap::MenuNever, is_never)]);
    let with_word =
        deny.then(|| button(question, "Deny and say why".to_owned(), Tap::DenyWithWord)).flatten();
    let more = if brief_question::says_all(question) { "?" } else { "Show all" };
    let more = button(question, more.to_owned(), Tap::Whole);
    rows.push(vec![with_word, more.filter(|_| !question.choices.is_empty())]);
    let rows = rows.into_iter().map(|row| row.into_iter().flatten().collect::<Vec<_>>());
    rows.filter(|row| !row.is_empty()).collect()
}

/// The values that a server offers, as many in a row as are short; a no is always there.
fn values(question: &Question) -> Vec<Vec<Button>> {
    let all: Vec<Button> = choices(question, |answer| !is_deny(answer)).collect();
    let is_short = all.iter().all(|button| button.label.chars().count() <= VALUE_CHARS_MAX);
    let in_a_row = if is_short { VALUES_IN_A_ROW } else { 1 };
    let mut rows: Vec<Vec<Button>> = all.chunks(in_a_row).map(<[Button]>::to_vec).collect();
    let more = if brief_question::says_all(question) { "?" } else { "Show all" };
    let more = button(question, more.to_owned(), Tap::Whole);
    rows.push(choices(question, is_deny).chain(more).collect());
    rows
}

/// Of what was staged there is nothing to grant or to say: a button a choice, up to three a row.
fn staged(question: &Question) -> Vec<Vec<Button>> {
    let mut buttons: Vec<Button> = choices(question, |_| true).collect();
    if in_our_words(question) && !brief_question::says_all(question) {
        buttons.extend(button(question, "Show all".to_owned(), Tap::Whole));
    }
    buttons.chunks(STAGED_IN_A_ROW).map(<[Button]>::to_vec).collect()
}

/// The keyboard that a tap leads to: what "always" or "never" would cover, a button each, or the
/// first keyboard again. `None` for a tap that answers the question.
pub fn menu(question: &Question, tap: &Tap) -> Option<Vec<Vec<Button>>> {
    if question.staged.is_some() || question.input.is_some() {
        return None;
    }
    if let Some(list) = &question.list {
        return match tap {
            Tap::Choose => Some(call_list::numbers(question, list)),
            Tap::Back => Some(call_list::first(question, list)),
            _ => None,
        };
    }
    let is = match tap {
        Tap::MenuAlways => is_always,
        Tap::MenuNever => is_never,
        Tap::Back => return Some(keyboard(question)),
        Tap::Choice(_) | Tap::DenyWithWord | Tap::Whole | Tap::Choose => return None,
    };
    let back = button(question, "Back".to_owned(), Tap::Back);
    Some(choices(question, is).chain(back).map(|button| vec![button]).collect())
}

/// What a choice is called, on its button and in the message.
pub(super) fn label(question: &Question, choice: &Choice) -> String {
    if let Some(label) = crate::doors::staged_questions::label(question, choice) {
        return cleaned_line(&label.shown);
    }
    if let Some(list) = &question.list
        && let Some(label) = call_list::label(question, list, choice)
    {
        return label;
    }
    if question.input.is_some() {
        return cleaned_line(&input_answers::label(choice));
    }
    let (term, scope) = match &choice.answer {
        Answer::Allow { term, scope } => (*term, scope),
        // The refusal with a word has a key that is no single word.
        Answer::Deny { .. } if choice.key.contains(' ') => return "Deny and say why".to_owned(),
        Answer::Deny { .. } => return "Deny".to_owned(),
        Answer::Never => return "Never: exactly these arguments".to_owned(),
        Answer::Press { .. } | Answer::Give { .. } | Answer::Skip => {
            return cleaned_line(&choice.label);
        }
        Answer::Pick { .. } => return choice.key.clone(),
    };
    let effect = question.effect.as_ref();
    let for_one =
        match (effect.is_some_and(|it| it.for_job), effect.is_some_and(|it| it.for_client)) {
            (true, _) => Some("Always for this job"),
            (false, true) => Some("Always for this client"),
            (false, false) => None,
        };
    let name = match term {
        Term::Once => "Allow once",
        Term::TenMinutes => "10 min",
        Term::Session => "This session",
        Term::Always => for_one.unwrap_or("Always"),
    };
    match scope {
        Scope::Exact if term == Term::Always && for_one.is_some() => name.to_owned(),
        Scope::Exact if term == Term::Always => format!("{name}: exactly these arguments"),
        Scope::Exact => name.to_owned(),
        Scope::Below { path } => format!("{name}: any path below {}", path_end(path)),
        Scope::Files { path } if path.is_empty() => format!("{name}: edits anywhere here"),
        Scope::Files { path } => format!("{name}: edits below {}", path_end(path)),
        Scope::Command { words } => format!("{name}: any {}", shown_command(words)),
        Scope::Hosts { hosts } => format!("{name}: any command to {}", shown_hosts(hosts)),
        Scope::Mode { mode: Mode::Edits } => format!("{name}: all edits"),
        Scope::Mode { mode: Mode::Work } => format!("{name}: edits and commands"),
        Scope::Mode { mode: Mode::Ask } => format!("{name}: ask"),
    }
}

/// A path with everything invisible spelled out.
pub(super) fn shown_path(path: &str) -> String {
    cleaned_line(&shown_value(&crate::domain::escape::visible(path)))
}

/// A program and its subcommand. Claw knows each of them, apart from the name of a script or a
/// target at the end.
pub(super) fn shown_command(words: &[String]) -> String {
    path_end(&words.join(" "))
}

/// The hosts of a grant, as far as a button has room.
pub(super) fn shown_hosts(hosts: &[String]) -> String {
    path_end(&hosts.join(", "))
}

fn path_end(path: &str) -> String {
    let path = shown_path(path);
    let surplus = path.chars().count().saturating_sub(PATH_CHARS_MAX);
    if surplus == 0 {
        return path;
    }
    let end: String = path.chars().skip(surplus).collect();
    format!("…{end}")
}

fn is_always(answer: &Answer) -> bool {
    matches!(answer, Answer::Allow { term: Term::Always, .. })
}

fn is_never(answer: &Answer) -> bool {
    *answer == Answer::Never
}

fn is_deny(answer: &Answer) -> bool {
    matches!(answer, Answer::Deny { word: None })
}

/// A button for each choice with such an answer. A key that does not fit into a button has none; it
/// can be typed.
pub(super) fn choices(
    question: &Question,
    is: impl Fn(&Answer) -> bool,
) -> impl Iterator<Item = Button> {
    let chosen = question.choices.iter().filter(move |choice| is(&choice.answer));
    chosen.filter_map(|choice| {
        button(question, label(question, choice), Tap::Choice(choice.key.clone()))
    })
}

pub(super) fn button(question: &Question, label: String, tap: Tap) -> Option<Button> {
    let data = Callback::Question(question.approval.clone(), tap).encode()?;
    Some(Button { label, data })
}
