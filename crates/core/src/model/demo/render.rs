//! The demo's words: help, results, refusals, in Markdown. Pure. Must not know the grammar's rules.

use super::claws_words::without_notes;
use super::grammar::{Command, code, longest_run};
use super::{Done, texts_in};
use crate::domain::{Message, Role};

/// Of a result, this many lines and characters are shown; the file itself is whole.
const LINES_MAX: usize = 60;
const CHARS_MAX: usize = 4_000;

/// How the memory server's answer begins when its owner is asked. What follows is for a model.
const WAITS_FOR_A_YES: &str = "Not remembered yet: ";

const REAL: &str = "For a real model, run `claw init` where claw is installed: it asks which one, \
    and tries it.";

/// Ends the first answer of a conversation.
pub(super) const FOOTER: &str = "*This was the built-in demo: a small fixed grammar, no language \
    model. Say `help` for what it knows. For a real model, run `claw init` where claw is installed.*";

const COMMANDS: &str = "- `list [DIR]`\n\
     - `show FILE`\n\
     - `write FILE: TEXT` or `write TEXT to FILE`\n\
     - `search WORD [in DIR]`\n\
     - `run COMMAND`, `run COMMAND to look` or `run COMMAND with the network [to HOSTS]`\n\
     - `remember that TEXT`\n\
     - `what do you know about WORDS`\n\
     - `remind me in 10 seconds to TEXT`, or `tomorrow 9:00`, `every monday 9:00`\n\
     - `what is scheduled`\n\
     - `help`";

pub(super) fn help() -> String {
    format!(
        "Hello. I am the built-in demo: a small fixed grammar, no language model. The tools are \
         real, though, and so are claw's questions before they act. I understand\n\n{COMMANDS}\n\n\
         and several of them joined by `and` or `and then`, for example `write notes.txt: hello \
         and then show notes.txt`.\n\n{REAL}"
    )
}

pub(super) fn not_understood(parts: &[String]) -> String {
    let short = |part: &String| {
        let part = part.trim();
        let more = if part.chars().count() > 80 { "…" } else { "" };
        code(&part.chars().take(80).chain(more.chars()).collect::<String>())
    };
    let parts: Vec<String> = parts.iter().map(short).collect();
    format!(
        "I do not understand {}. I am the built-in demo: a small fixed grammar, no language \
         model. I know\n\n{COMMANDS}\n\n{REAL}",
        parts.join(" or ")
    )
}

pub(super) fn not_offered(command: &Command) -> String {
    let tool = command.call().map(|(tool, _)| tool).unwrap_or_default();
    format!(
        "I cannot {}: the tool {} is not offered here. `/tools` shows which tools are, and `claw \
         doctor` why one is missing.",
        command.intent(),
        code(tool)
    )
}

pub(super) fn results(done: &[Done<'_>]) -> String {
    done.iter().map(result).collect::<Vec<_>>().join("\n\n")
}

fn result(done: &Done<'_>) -> String {
    let input = |key: &str| {
        done.call.input.get(key).and_then(serde_json::Value::as_str).unwrap_or(".").to_owned()
    };
    let (name, what) = match done.call.name.as_str() {
        "filesystem__list_dir" => ("Listing", code(&input("path"))),
        "filesystem__read_file" => ("Showing", code(&input("path"))),
        "filesystem__write_file" => ("Writing", code(&input("path"))),
        "filesystem__search" => ("Searching for", code(&input("pattern"))),
        "memory__propose" => ("Proposing to remember", code(&input("text"))),
        "memory__recall" => ("Looking for", code(&input("query"))),
        "scheduler__schedule" => ("Reminding of", code(&input("say"))),
        "scheduler__list" => ("Looking at", "what is scheduled".to_owned()),
        "bash__run" => ("Running", code(&input("command"))),
        other => ("Calling", code(other)),
    };
    if done.is_error {
        return format!(
            "{name} {what} {}\n\n{}",
            how_it_failed(done.content),
            fenced(done.content)
        );
    }
    let content = without_notes(done.content);
    if content.trim().is_empty() {
        return format!("{name} {what}: done, with no output.");
    }
    if done.call.name == "memory__propose" && content.starts_with(WAITS_FOR_A_YES) {
        return format!("Not remembered yet: {what}\n\nI have asked you whether to remember it.");
    }
    if done.call.name == "filesystem__search" {
        return format!("{name} {what} in {}:\n\n{}", code(&input("path")), fenced(content));
    }
    format!("{name} {what}:\n\n{}", fenced(content))
}

/// The gate and the turn write the results of calls that were denied or whose end nobody saw; their
/// words tell which it is.
fn how_it_failed(content: &str) -> &'static str {
    // What the system refuses, claw's owner has allowed.
    let content = content.to_ascii_lowercase().replace("permission denied", "");
    let has = |words: &[&str]| words.iter().any(|word| content.contains(word));
    if has(&["may have run", "may or may not have run", "interrupted", "unknown outcome"]) {
        "was interrupted, and nobody knows whether it ran. Check before trying again:"
    } else if has(&[
        "not run:",
        "denied",
        "not allowed",
        "superseded",
        "refused",
        "nobody answered",
        "expired",
    ]) {
        "was not allowed, so it did not run:"
    } else {
        "did not work:"
    }
}

/// A fenced code block whose fence is longer than any run of backticks inside (CommonMark 0.31
/// section 4.5).
fn fenced(content: &str) -> String {
    let fence = "`".repeat(longest_run(content).max(2) + 1);
    let (shown, left) = cut(content.trim_matches('\n'));
    let more = if left == 0 {
        String::new()
    } else {
        format!("\n\n… and {left} more {}.", plural(left))
    };
    format!("{fence}text\n{shown}\n{fence}{more}")
}

fn plural(lines: usize) -> &'static str {
    if lines == 1 { "line" } else { "lines" }
}

/// The head of a long text, and how many lines were left out in whole or part.
fn cut(text: &str) -> (String, usize) {
    let total = text.lines().count();
    let mut shown = String::new();
    let mut whole = 0;
    for line in text.lines().take(LINES_MAX) {
        let room = CHARS_MAX.saturating_sub(shown.chars().count());
        if line.chars().count() > room {
            shown.extend(line.chars().take(room));
            shown.push('…');
            return (shown, total - whole);
        }
        shown.push_str(line);
        shown.push('\n');
        whole += 1;
    }
    shown.pop();
    (shown, total - whole)
}

/// What a compaction gets from a model that cannot summarise: the first line of what each request
/// said.
pub(super) fn summary(messages: &[Message]) -> String {
    const REQUESTS_MAX: usize = 20;
    let said: Vec<String> = messages
        .iter()
        .filter(|message| message.role == Role::User)
        .flat_map(texts_in)
        .filter_map(|text| text.lines().find(|line| !line.trim().is_empty()))
        .map(|line| line.chars().take(200).collect::<String>())
        .collect();
    let skipped = said.len().saturating_sub(REQUESTS_MAX);
    let lines: Vec<String> = said.iter().skip(skipped).map(|line| format!("- {line}")).collect();
    format!("So far the user asked for:\n{}", lines.join("\n"))
}
