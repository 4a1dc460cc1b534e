//! A frozen call as a message: what is asked, and what became of it. Owns the wording; must not
//! know how an answer is decided, or how messages are sent.
//!
//! A question is as short as `doors/brief.rs` makes it. Its whole call is one tap away, or in the
//! file that comes with it where it is too long for a message. Nothing in a value can pass for
//! something else: each is code, and what Telegram would delete or trim is written out.

mod brief_question;
mod call_list;
mod closed_question;
mod keyboard;
mod staged_question;
mod value;

use crate::domain::{Answer, Question};
use crate::doors::call_list::whole_list;
use crate::doors::clock::Clock;
use crate::doors::door::{CallStatus, Closed};
use crate::doors::input_answers;
use crate::doors::staged_questions::in_our_words;

use super::clean::{cleaned, cleaned_line};
use super::rich::{Part, Rich, Style, utf16_len};
use super::split::{CAPTION_UNITS_MAX, MESSAGE_UNITS_MAX, parts};
use closed_question::{decision, end_words};
pub use keyboard::{keyboard, menu};
use value::{document_value, shown_value};

/// The longest sentence of [`Clock::until`], in UTF-16 units, with some to spare.
const UNTIL_UNITS_MAX: usize = 48;
/// The longest name, reason or word in a summary, in characters; the whole is in the file or in the
/// audit.
const SHORT_CHARS_MAX: usize = 160;

const ALLOW: &str = "Allow this?";
const ASKS: &str = "A server asks";
const CHANGES: &str = "What changes";
const SEE_FILE: &str = "What each button allows is at the end of the file.";

/// A question as it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuestionText {
    /// All of it is in one message of at most [`MESSAGE_UNITS_MAX`] units.
    Whole(Part),
    /// The call is in a file. The summary says so and has at most [`CAPTION_UNITS_MAX`] units, so
    /// that it can be the file's caption and carry the buttons.
    Long { summary: Part, document: String, file_name: String },
}

/// The question with everything that a person needs for an answer.
pub fn question(question: &Question, clock: &Clock) -> QuestionText {
    let until = clock.until(question.expires_at_ms);
    if (question.staged.is_none() || in_our_words(question))
        && !is_long(question)
        && let Some(part) = brief_part(question, &until)
    {
        return QuestionText::Whole(part);
    }
    whole_question(question, clock)
}

/// All of it, with what each answer means: for a tap that asks for that.
pub fn whole_question(question: &Question, clock: &Clock) -> QuestionText {
    let until = clock.until(question.expires_at_ms);
    // The time is measured at its longest, so that a question does not change its form when its
    // message is edited.
    if whole(question, &"m".repeat(UNTIL_UNITS_MAX)).is_some()
        && let Some(part) = whole(question, &until)
    {
        return QuestionText::Whole(part);
    }
    as_file(question, &until)
}

/// The question as a file with a caption that has no formatting at all, for where Telegram refuses
/// any.
pub fn attached_question(question: &Question, clock: &Clock) -> (Part, String, String) {
    let until = clock.until(question.expires_at_ms);
    let mut rich = Rich::default();
    let head = question
        .staged
        .as_ref()
        .map_or_else(|| first_words(question).to_owned(), crate::doors::staged_questions::head);
    rich.push(&format!("{head}\n{}\n\n", short(&title(question))), Style::PLAIN);
    rich.push(
        &format!(
            "Telegram refused to show the call as a message: it is attached whole as {}.",
            file_name(question)
        ),
        Style::PLAIN,
    );
    rich.push(
        &format!("\n\n{}\n{}\n\n{SEE_FILE}", short(&why(question)), open_until(&until)),
        Style::PLAIN,
    );
    (first_part(rich), document(question, &until), file_name(question))
}

/// Whether the question is too long for a message, so that it is asked by a file.
pub fn is_long(question: &Question) -> bool {
    whole(question, &"m".repeat(UNTIL_UNITS_MAX)).is_none()
}

fn brief_part(question: &Question, until: &str) -> Option<Part> {
    let mut rich = Rich::default();
    brief_question::push(&mut rich, question);
    rich.push(&format!("\n{}", open_until(until)), Style::PLAIN);
    only_part(rich, MESSAGE_UNITS_MAX)
}

/// The caption of the file that has all of it. `None` if what there is to say is too much for one.
fn brief_caption(question: &Question, until: &str) -> Option<Part> {
    let mut rich = Rich::default();
    brief_question::push(&mut rich, question);
    rich.push(&format!("\n{}\n{}", in_the_file(question), open_until(until)), Style::PLAIN);
    only_part(rich, CAPTION_UNITS_MAX)
}

fn as_file(question: &Question, until: &str) -> QuestionText {
    QuestionText::Long {
        summary: Some(question)
            .filter(|question| question.staged.is_none() || in_our_words(question))
            .and_then(|question| brief_caption(question, until))
            .unwrap_or_else(|| summary(question, until)),
        document: document(question, until),
        file_name: file_name(question),
    }
}

/// The same message after the question was closed, for an edit that takes its buttons away. It fits
/// wherever the question was: into the caption of a file, or else into a message.
pub fn answered(question: &Question, how: &Closed, file: bool, clock: &Clock) -> Part {
    let mut head = Rich::default();
    outcome(&mut head, question, how, clock);
    let mut all = head.clone();
    all.push("\n\n", Style::PLAIN);
    match &question.staged {
        Some(staged) if !in_our_words(question) => {
            staged_question::heading(&mut all, question, staged, false);
            call(&mut all, question);
        }
        _ => brief_question::push(&mut all, question),
    }
    if !file && let Some(part) = only_part(all, MESSAGE_UNITS_MAX) {
        return part;
    }
    head.push("\n\n", Style::PLAIN);
    head.push(&format!("{}\n{}", short(&title(question)), in_the_file(question)), Style::PLAIN);
    first_part(head)
}

fn whole(question: &Question, until: &str) -> Option<Part> {
    let mut rich = Rich::default();
    if let Some(list) = whole_list(question) {
        call_list::push(&mut rich, &list);
        rich.push(&format!("\n\n{}\n\n", open_until(until)), Style::PLAIN);
        legend(&mut rich, question);
        return only_part(rich, MESSAGE_UNITS_MAX);
    }
    heading(&mut rich, question, false);
    call(&mut rich, question);
    rich.push(&format!("\n\n{}\n{}\n\n", why(question), open_until(until)), Style::PLAIN);
    legend(&mut rich, question);
    only_part(rich, MESSAGE_UNITS_MAX)
}

/// What is asked, up to where the call stands. `brief` is for a caption.
fn heading(rich: &mut Rich, question: &Question, brief: bool) {
    match &question.staged {
        _ if in_our_words(question) => {
            for line in sentences(question) {
                rich.push(&format!("{line}\n"), Style::PLAIN);
            }
        }
        None => {
            rich.push(first_words(question), Style::BOLD);
            rich.push("\n", Style::PLAIN);
            for line in sentences(question) {
                rich.push(&format!("{line}\n"), Style::PLAIN);
            }
        }
        Some(staged) => {
            staged_question::heading(rich, question, staged, brief);
        }
    }
}

/// Server, tool and every argument.
fn call(rich: &mut Rich, question: &Question) {
    if question.staged.as_ref().is_none_or(staged_question::has_title) {
        rich.push(&title(question), Style::PLAIN);
    }
    if let Some(difference) = difference(question) {
        rich.push(&format!("\n\n{CHANGES}\n"), Style::BOLD);
        rich.push_pre(&shown_value(difference), Some("diff"), None);
    }
    if question.arguments.is_empty() {
        rich.push("\n\n(no arguments)", Style::ITALIC);
    }
    for (name, value) in &question.arguments {
        rich.push("\n\n", Style::PLAIN);
        argument(rich, name, value);
    }
}

/// What the call does, and what stands beside that.
fn sentences(question: &Question) -> impl Iterator<Item = String> {
    let effect = question.effect.iter();
    effect.flat_map(|effect| {
        let danger = if effect.danger { "⚠️ " } else { "" };
        let says = format!("{danger}{}", cleaned_line(&effect.says));
        let beside = effect.notes.iter().chain(&effect.asker).map(|line| cleaned_line(line));
        std::iter::once(says).chain(beside)
    })
}

fn difference(question: &Question) -> Option<&str> {
    let difference = question.effect.as_ref()?.difference.trim_end_matches('\n');
    (!difference.is_empty()).then_some(difference)
}

fn argument(rich: &mut Rich, name: &str, value: &str) {
    rich.push(&name_line(name), Style::BOLD);
    rich.push("\n", Style::PLAIN);
    match shown_value(value) {
        shown if shown.is_empty() => rich.push("(empty)", Style::ITALIC),
        shown => rich.push_pre(&shown, None, None),
    }
}

/// A name is escaped like a value, but on one line.
fn name_line(name: &str) -> String {
    match shown_value(name).replace('\n', "\\n") {
        shown if shown.is_empty() => "(no name)".to_owned(),
        shown => shown,
    }
}

/// Each button that allows something, or forbids it permanently, with what exactly.
fn legend(rich: &mut Rich, question: &Question) {
    if let Some(staged) = &question.staged {
        for (index, (label, does)) in
            staged_question::legend(question, staged).into_iter().enumerate()
        {
            rich.push(if index == 0 { "" } else { "\n" }, Style::PLAIN);
            rich.push(&label, Style::BOLD);
            rich.push(&format!(" – {does}"), Style::PLAIN);
        }
        return;
    }
    let grants = question
        .choices
        .iter()
        .filter(|choice| !matches!(choice.answer, Answer::Deny { .. } | Answer::Pick { .. }))
        // The buttons of values say themselves what they are.
        .filter(|_| question.input.is_none());
    for (index, choice) in grants.enumerate() {
        rich.push(if index == 0 { "" } else { "\n" }, Style::PLAIN);
        rich.push(&keyboard::label(question, choice), Style::BOLD);
        rich.push(&format!(" – {}", cleaned_line(&choice.label)), Style::PLAIN);
    }
}

/// What stands over the file: as much of the rest as fits, each piece whole or not at all.
fn summary(question: &Question, until: &str) -> Part {
    let mut rich = Rich::default();
    heading(&mut rich, question, true);
    rich.push(&format!("{}\n\n{}", short(&title(question)), attached(question)), Style::PLAIN);
    let fixed = utf16_len(&rich.text)
        + open_until(until).len()
        + utf16_len(&short(&why(question)))
        + SEE_FILE.len()
        + 8;
    let mut room = CAPTION_UNITS_MAX.saturating_sub(fixed);
    let mut buttons = Rich::default();
    legend(&mut buttons, question);
    let with_buttons = takes(&mut room, &buttons.text);
    for (name, value) in &question.arguments {
        let mut one = Rich::default();
        argument(&mut one, name, value);
        if takes(&mut room, &one.text) {
            rich.push("\n\n", Style::PLAIN);
            argument(&mut rich, name, value);
        }
    }
    rich.push(&format!("\n\n{}\n{}\n\n", short(&why(question)), open_until(until)), Style::PLAIN);
    match with_buttons {
        true => legend(&mut rich, question),
        false => rich.push(SEE_FILE, Style::PLAIN),
    }
    first_part(rich)
}

/// True if `text` and a blank line before it fit into the room, which then is smaller.
fn takes(room: &mut usize, text: &str) -> bool {
    let left = room.checked_sub(utf16_len(text) + 2);
    *room = left.unwrap_or(*room);
    left.is_some()
}

/// The whole question as plain text. Every line of a value starts with a bar, so that no value can
/// pass for the frame.
fn document(question: &Question, until: &str) -> String {
    let head =
        question.staged.as_ref().map(|staged| staged_question::document_heading(question, staged));
    let ours = || {
        let said: String = sentences(question).map(|line| format!("{line}\n")).collect();
        format!("{}\n{said}", first_words(question))
    };
    let mut text = format!("{}{}\n\n", head.unwrap_or_else(ours), title(question));
    if let Some(difference) = difference(question) {
        text.push_str(&format!("{CHANGES}\n{}\n", document_value(difference)));
    }
    text.push_str(
        "Every argument is here whole. What cannot be seen is written as \\u{…}, and a backslash \
         is doubled.\n",
    );
    for (name, value) in &question.arguments {
        text.push_str(&format!("\n{}\n{}", name_line(name), document_value(value)));
    }
    text.push_str(&format!("\n{}\n{}\n\n", why(question), open_until(until)));
    if let Some(staged) = &question.staged {
        let rows = staged_question::legend(question, staged)
            .into_iter()
            .map(|(label, does)| format!("{label} – {does}\n"));
        text.extend(rows);
        return text;
    }
    for choice in &question.choices {
        text.push_str(&format!(
            "{} – {}\n",
            keyboard::label(question, choice),
            cleaned_line(&choice.label)
        ));
    }
    text
}

fn outcome(rich: &mut Rich, question: &Question, how: &Closed, clock: &Clock) {
    if let Some(staged) = &question.staged {
        let (heading, details) = staged_question::outcome(question, staged, how, clock);
        rich.push(&heading, Style::BOLD);
        rich.push(&details, Style::PLAIN);
        return;
    }
    if let Some((heading, details)) = call_list::outcome(question, how, clock) {
        rich.push(&heading, Style::BOLD);
        rich.push(&format!("\n{details}"), Style::PLAIN);
        return;
    }
    let (heading, details) = match how {
        Closed::Answered { answer, by, at_ms, .. } if question.input.is_some() => {
            let words = cleaned_line(&input_answers::in_words(answer, question));
            (words, format!("by {} at {}", short(by), clock.at(*at_ms)))
        }
        Closed::Expired { at_ms } if question.input.is_some() => (
            "Expired".to_owned(),
            format!("at {}: nobody answered, and the server was told so.", clock.at(*at_ms)),
        ),
        Closed::Answered { answer, by, at_ms, end } => {
            let word = match answer {
                Answer::Deny { word: Some(word) } => format!("\n“{}”", short(word)),
                _ => String::new(),
            };
            let end = end.map_or(String::new(), |end| format!("\n{}", end_words(end)));
            (decision(answer), format!("by {} at {}{word}{end}", short(by), clock.at(*at_ms)))
        }
        Closed::Expired { at_ms } => (
            "Expired".to_owned(),
            format!("at {}: nobody answered, and it did not run.", clock.at(*at_ms)),
        ),
        Closed::Superseded { at_ms, why } => {
            // Rows of an older claw name no reason.
            let why = Some(short(why)).filter(|why| why != "superseded" && !why.is_empty());
            let why = why.map(|why| format!(": {why}")).unwrap_or_default();
            ("Closed".to_owned(), format!("at {} without an answer{why}.", clock.at(*at_ms)))
        }
        Closed::AskedAgain => {
            ("Asked again".to_owned(), "The buttons are under a newer message.".to_owned())
        }
    };
    rich.push(&heading, Style::BOLD);
    rich.push(&format!("\n{details}"), Style::PLAIN);
}

fn first_words(question: &Question) -> &'static str {
    if question.input.is_some() { ASKS } else { ALLOW }
}

fn title(question: &Question) -> String {
    cleaned_line(&format!("{}/{}", question.server, question.tool))
}

fn why(question: &Question) -> String {
    format!("Why it asks: {}", cleaned_line(&question.why))
}

fn open_until(until: &str) -> String {
    format!("Open until {until}")
}

fn attached(question: &Question) -> String {
    format!("The call is too long for a message: it is attached whole as {}.", file_name(question))
}

fn in_the_file(question: &Question) -> String {
    format!("The whole call is in the file {}.", file_name(question))
}

fn file_name(question: &Question) -> String {
    let id: String =
        question.approval.0.chars().filter(char::is_ascii_alphanumeric).take(40).collect();
    format!("question-{id}.txt")
}

fn short(text: &str) -> String {
    let text = cleaned_line(text);
    match text.char_indices().nth(SHORT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn only_part(rich: Rich, units_max: usize) -> Option<Part> {
    let mut parts = parts(&cleaned(rich), units_max);
    (parts.len() == 1).then(|| parts.swap_remove(0))
}

/// For a text whose pieces are short enough for one caption.
fn first_part(rich: Rich) -> Part {
    parts(&cleaned(rich), CAPTION_UNITS_MAX).into_iter().next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
