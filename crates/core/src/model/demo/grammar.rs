//! The demo's grammar: what a sentence asks for. Pure. Must not know tools or results.
//!
//! ```text
//! request  = step { " and then " step | " then " step }
//! step     = command { " and " command }
//! command  = list [DIR] | show FILE | write FILE: TEXT | write TEXT to FILE | search WORD [in DIR]
//!          | remember that TEXT | what do you know about WORDS
//!          | remind me WHEN to TEXT | what is scheduled
//!          | run COMMAND [ "to look" | "with the network" [ "to" HOSTS ] ] | help
//! ```
//! A joint counts only if a verb follows it, and never inside double quotes or backticks, so that
//! texts and commands may hold the word "and".

use crate::domain::Level;
use crate::domain::spoken_time::{self, SpokenReminder};

/// What one command asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    List { dir: String },
    Show { file: String },
    Write { file: String, text: String },
    Search { pattern: String, dir: String },
    Run { command: String, needs: Level, hosts: Vec<String> },
    Remember { text: String },
    Recall { about: String },
    Remind(SpokenReminder),
    Scheduled,
    Help,
}

/// Commands that are given to the tools together.
pub(super) type ToolBatch = Vec<Command>;

const HERE: &str = ".";

/// Every step, or the part that is not in the grammar.
pub(super) fn parse(said: &str) -> Result<Vec<ToolBatch>, String> {
    let said = said.trim();
    let mut steps: Vec<ToolBatch> = Vec::new();
    for (parallel, part) in split(said) {
        let command = command(part).ok_or_else(|| part.to_owned())?;
        match steps.last_mut() {
            // Help makes no call, so it cannot stand beside one.
            Some(step)
                if parallel && command != Command::Help && !step.contains(&Command::Help) =>
            {
                step.push(command)
            }
            _ => steps.push(vec![command]),
        }
    }
    let only = steps.len() == 1;
    steps.retain(|step| only || *step != [Command::Help]);
    if steps.is_empty() { Ok(vec![vec![Command::Help]]) } else { Ok(steps) }
}

/// The parts, each with whether it goes together with the one before.
fn split(said: &str) -> Vec<(bool, &str)> {
    const JOINTS: [(&str, bool); 4] =
        [(" and then ", false), (", then ", false), (" then ", false), (" and ", true)];
    let mut parts = Vec::new();
    let (mut start, mut parallel) = (0, false);
    let mut quote: Option<char> = None;
    let mut skip_to = 0;
    for (at, c) in said.char_indices() {
        if at < skip_to {
            continue;
        }
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => continue,
            None if matches!(c, '"' | '`') => quote = Some(c),
            None => {}
        }
        let rest = &said[at..];
        let joint =
            JOINTS.iter().find(|(word, _)| starts_with(rest, word) && is_verb(&rest[word.len()..]));
        if let Some((word, together)) = joint {
            parts.push((parallel, &said[start..at]));
            (start, parallel, skip_to) = (at + word.len(), *together, at + word.len());
        }
    }
    parts.push((parallel, &said[start..]));
    parts
}

fn starts_with(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word))
}

fn is_verb(text: &str) -> bool {
    verb(text).is_some()
}

#[derive(Clone, Copy)]
enum Verb {
    List,
    Show,
    Write,
    Search,
    Run,
    Remember,
    Recall,
    Remind,
    Scheduled,
    Help,
}

/// Questions that begin with no verb.
const KNOW_ABOUT: &str = "what do you know about ";
const SCHEDULED: [&str; 2] = ["what is scheduled", "what's scheduled"];

/// The verb that `text` starts with, and what follows.
fn verb(text: &str) -> Option<(Verb, &str)> {
    let text = polite(text.trim_start());
    if starts_with(text, KNOW_ABOUT) {
        return Some((Verb::Recall, text[KNOW_ABOUT.len()..].trim()));
    }
    if let Some(question) = SCHEDULED.iter().find(|question| starts_with(text, question)) {
        return Some((Verb::Scheduled, text[question.len()..].trim()));
    }
    let end = text.find(|c: char| c.is_whitespace() || c == ':').unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let verb = match word.trim_end_matches(['?', '!', '.', ',']).to_ascii_lowercase().as_str() {
        "list" | "ls" | "dir" => Verb::List,
        "show" | "read" | "cat" | "open" => Verb::Show,
        "write" | "save" => Verb::Write,
        "search" | "find" | "grep" => Verb::Search,
        "run" | "execute" => Verb::Run,
        "remember" => Verb::Remember,
        "recall" => Verb::Recall,
        "remind" => Verb::Remind,
        "help" | "hello" | "hi" | "hey" | "?" | "" => Verb::Help,
        _ => return None,
    };
    Some((verb, rest.trim_start_matches(':').trim()))
}

fn polite(text: &str) -> &str {
    const WORDS: [&str; 4] = ["please ", "can you ", "could you ", "then "];
    let mut text = text;
    while let Some(word) = WORDS.iter().find(|word| starts_with(text, word)) {
        text = text[word.len()..].trim_start();
    }
    text
}

fn command(part: &str) -> Option<Command> {
    let (verb, rest) = verb(part)?;
    match verb {
        Verb::Help => Some(Command::Help),
        Verb::List => {
            Some(Command::List { dir: place(without(rest, &["the ", "files ", "in ", "of "])) })
        }
        Verb::Show => {
            let file = unquote(without(rest, &["me ", "the ", "file "]));
            (!file.is_empty()).then_some(Command::Show { file })
        }
        Verb::Write => write(rest),
        Verb::Search => search(rest),
        Verb::Remember => {
            let text = unquote(without(rest, &["that "]));
            (!text.is_empty()).then_some(Command::Remember { text })
        }
        Verb::Recall => {
            let about = unquote(rest.trim_end_matches('?'));
            (!about.is_empty()).then_some(Command::Recall { about })
        }
        Verb::Remind => spoken_time::read(rest).ok().map(Command::Remind),
        Verb::Scheduled => rest.trim_matches(['?', '.']).is_empty().then_some(Command::Scheduled),
        Verb::Run => {
            let (rest, hosts) = hosts(rest);
            let (rest, needs) = needs(rest);
            let command = unquote(rest);
            (!command.is_empty()).then_some(Command::Run { command, needs, hosts })
        }
    }
}

/// A command, and the hosts that are named behind it.
fn hosts(text: &str) -> (&str, Vec<String>) {
    let Some((before, named)) = text.rsplit_once(" with the network to ") else {
        return (text, Vec::new());
    };
    let named = named.split(',').map(|host| host.trim().to_owned()).collect();
    (&text[..before.len() + " with the network".len()], named)
}

/// A command, and what is said behind it of what it needs.
fn needs(text: &str) -> (&str, Level) {
    const ENDS: [(&str, Level); 2] =
        [(" to look", Level::Read), (" with the network", Level::Network)];
    let said = ENDS.iter().find_map(|(end, level)| Some((text.strip_suffix(end)?, *level)));
    said.unwrap_or((text, Level::Write))
}

fn without<'a>(text: &'a str, words: &[&str]) -> &'a str {
    let mut text = text;
    for word in words {
        if starts_with(text, word) {
            text = text[word.len()..].trim_start();
        } else if text.eq_ignore_ascii_case(word.trim_end()) {
            text = "";
        }
    }
    text
}

fn place(text: &str) -> String {
    let place = unquote(text);
    if place.is_empty() || place.eq_ignore_ascii_case("here") { HERE.to_owned() } else { place }
}

/// `FILE: TEXT`, else `TEXT to FILE`.
fn write(rest: &str) -> Option<Command> {
    if let Some((file, text)) = file_and_text(rest) {
        return Some(Command::Write { file, text: unquote(text) });
    }
    let at = rest.to_ascii_lowercase().rfind(" to ")?;
    let (text, file) = (unquote(&rest[..at]), unquote(&rest[at + " to ".len()..]));
    let one_file = !file.is_empty()
        && (!file.contains(char::is_whitespace) || rest.trim_end().ends_with(['"', '`']));
    one_file.then_some(Command::Write { file, text })
}

fn file_and_text(rest: &str) -> Option<(String, &str)> {
    let rest = without(rest, &["to ", "file "]);
    let (file, after) = match rest.chars().next().filter(|c| matches!(c, '"' | '`')) {
        Some(quote) => rest[1..].split_once(quote)?,
        None => {
            rest.split_at(rest.find(':').filter(|at| !rest[..*at].contains(char::is_whitespace))?)
        }
    };
    let text = after.strip_prefix(':')?;
    // `http://x` is no file with a text.
    let separated =
        text.is_empty() || text.starts_with(char::is_whitespace) || text.starts_with(['"', '`']);
    (separated && !file.is_empty()).then(|| (file.to_owned(), text.trim_start_matches(' ')))
}

fn search(rest: &str) -> Option<Command> {
    let rest = without(rest, &["for "]);
    let lower = rest.to_ascii_lowercase();
    let (pattern, dir) = match lower.rfind(" in ") {
        Some(at) => (&rest[..at], &rest[at + " in ".len()..]),
        None => (rest, ""),
    };
    let pattern = unquote(pattern);
    (!pattern.is_empty()).then(|| Command::Search { pattern, dir: place(dir) })
}

/// Takes off one pair of double quotes or backticks.
fn unquote(text: &str) -> String {
    let text = text.trim();
    for quote in ['"', '`'] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return inner.to_owned();
        }
    }
    text.to_owned()
}

impl Command {
    /// The command in words, to be put after "I'll" or "did not".
    pub(super) fn intent(&self) -> String {
        match self {
            Self::List { dir } => format!("list {}", code(dir)),
            Self::Show { file } => format!("show {}", code(file)),
            Self::Write { file, .. } => format!("write {}", code(file)),
            Self::Search { pattern, dir } => {
                format!("search for {} in {}", code(pattern), code(dir))
            }
            Self::Run { command, .. } => format!("run {}", code(command)),
            Self::Remember { .. } => "propose to remember that".to_owned(),
            Self::Recall { about } => format!("look for what is remembered about {}", code(about)),
            Self::Remind(reminder) => format!("make a reminder: {}", code(&reminder.text)),
            Self::Scheduled => "look at what is scheduled".to_owned(),
            Self::Help => "help".to_owned(),
        }
    }
}

/// Inline code that also holds backticks and stays on one line (CommonMark 0.31 section 6.1).
pub(super) fn code(text: &str) -> String {
    let line = text.replace(['\n', '\r'], " ");
    let ticks = "`".repeat(longest_run(&line) + 1);
    let pad = if line.starts_with('`') || line.ends_with('`') { " " } else { "" };
    format!("{ticks}{pad}{line}{pad}{ticks}")
}

/// The longest run of backticks.
pub(super) fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
#[path = "grammar_tests.rs"]
mod tests;
