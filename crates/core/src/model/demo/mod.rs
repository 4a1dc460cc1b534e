//! The built-in demo model: a small fixed grammar that makes real tool calls. Owns what it answers
//! at each point of a conversation. A pure function of the request; no network, no clock.

mod claws_words;
mod grammar;
mod render;

use serde_json::{Value, json};

use self::grammar::{Command, ToolBatch};
use super::{Delta, DeltaSink, Model, Reply, Replying, Request};
use crate::domain::{Block, Finish, Message, Role, ToolUse, Usage, text_of};

/// The model that answers when there is no other. It says of itself that it is none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Demo;

/// A call that was made, and what came back.
struct Done<'a> {
    call: &'a ToolUse,
    content: &'a str,
    is_error: bool,
}

impl Demo {
    fn answer(request: &Request) -> Reply {
        let blocks = answer(request);
        let calls = blocks.iter().any(|block| matches!(block, Block::ToolUse(_)));
        let finish = if calls { Finish::ToolUse } else { Finish::Complete };
        Reply {
            blocks,
            finish,
            usage: Usage::default(),
            provider: "demo".into(),
            model: "demo".into(),
            notice: None,
        }
    }
}

impl Model for Demo {
    fn provider(&self) -> &str {
        "demo"
    }

    fn model(&self) -> &str {
        "demo"
    }

    fn reply<'a>(&'a self, request: &'a Request, deltas: &'a mut DeltaSink<'_>) -> Replying<'a> {
        Box::pin(async move {
            let reply = Self::answer(request);
            for piece in text_of(&reply.blocks).split_inclusive(' ') {
                deltas(Delta::Text(piece.to_owned()));
            }
            Ok(reply)
        })
    }
}

fn answer(request: &Request) -> Vec<Block> {
    let Some(start) = request.messages.iter().rposition(is_request) else {
        return text(render::help());
    };
    let wanted = Wanted::of(&texts_in(&request.messages[start]));
    if request.tools.is_empty() && asked_for_a_summary(request) {
        return text(render::summary(&request.messages));
    }
    if wanted.steps.is_empty() {
        let in_hand = render::results(&results_in(&request.messages, start));
        return text(join(in_hand, wanted.words()));
    }
    let mut done: Vec<Vec<Done<'_>>> = Vec::new();
    for index in start + 1..request.messages.len() {
        let results = results_in(&request.messages, index);
        if !results.is_empty() {
            done.push(results);
        }
    }
    next(request, start, &wanted, &done)
}

/// What a message asks for. Several messages that came while one was answered are one to a model,
/// and each of them is a text of its own.
#[derive(Default)]
struct Wanted {
    steps: Vec<ToolBatch>,
    help: bool,
    /// The part of each text that is not in the grammar. Nothing of such a text is done.
    unknown: Vec<String>,
}

impl Wanted {
    fn of(texts: &[&str]) -> Self {
        let mut wanted = Self::default();
        // What is said twice in a row is meant once: the same call again and again would
        // end the turn.
        let mut before = "";
        for said in texts.iter().map(|said| said.trim()).filter(|said| !said.is_empty()) {
            if std::mem::replace(&mut before, said) == said {
                continue;
            }
            match grammar::parse(said) {
                Ok(steps) if steps == [[Command::Help]] => wanted.help = true,
                Ok(steps) => wanted.steps.extend(steps),
                Err(part) => wanted.unknown.push(part),
            }
        }
        wanted
    }

    /// What is said of the texts that need no tool.
    fn words(&self) -> String {
        let help = if self.help { render::help() } else { String::new() };
        match self.unknown.as_slice() {
            [] => help,
            unknown => join(help, render::not_understood(unknown)),
        }
    }
}

/// A message in which somebody says something, as opposed to one that only carries results.
fn is_request(message: &Message) -> bool {
    message.role == Role::User && texts_in(message).iter().any(|text| !text.trim().is_empty())
}

/// What somebody says in a message, a text each.
fn texts_in(message: &Message) -> Vec<&str> {
    let texts = message.blocks.iter().filter_map(|block| match block {
        Block::Text { text } if !claws_words::is_note(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// Results in the message at `index`, each with the call that it answers.
fn results_in(messages: &[Message], index: usize) -> Vec<Done<'_>> {
    let calls: Vec<&ToolUse> = index
        .checked_sub(1)
        .and_then(|before| messages.get(before))
        .into_iter()
        .flat_map(|message| &message.blocks)
        .filter_map(|block| match block {
            Block::ToolUse(call) => Some(&**call),
            _ => None,
        })
        .collect();
    let blocks = messages.get(index).map(|message| message.blocks.as_slice()).unwrap_or_default();
    blocks
        .iter()
        .filter_map(|block| match block {
            Block::ToolResult { use_id, content, is_error, .. } => {
                let call = calls.iter().find(|call| call.id == *use_id)?;
                Some(Done { call, content, is_error: *is_error })
            }
            _ => None,
        })
        .collect()
}

/// The next step, or the report when all are done or one has failed.
fn next(request: &Request, start: usize, wanted: &Wanted, done: &[Vec<Done<'_>>]) -> Vec<Block> {
    let before = render::results(&results_in(&request.messages, start));
    let failed = done.last().is_some_and(|results| results.iter().any(|one| one.is_error));
    let step = if failed { None } else { wanted.steps.get(done.len()) };
    let Some(step) = step else {
        return text(report(request, start, wanted, done, before));
    };
    let offered = |command: &Command| {
        let (tool, _) = command.call()?;
        request.tools.iter().any(|spec| spec.name == tool).then_some(())
    };
    if let Some(missing) = step.iter().find(|command| offered(command).is_none()) {
        let shown = join(
            before,
            done.iter().map(|results| render::results(results)).collect::<Vec<_>>().join("\n\n"),
        );
        return text(join(join(shown, render::not_offered(missing)), wanted.words()));
    }
    let words: Vec<String> = step.iter().map(Command::intent).collect();
    let intro = format!("I'll {}.", words.join(" and "));
    let mut blocks = text(if done.is_empty() { join(before, intro) } else { intro });
    for (index, command) in step.iter().enumerate() {
        if let Some((name, input)) = command.call() {
            let id = format!("demo_{}_{index}", request.messages.len());
            blocks.push(Block::ToolUse(Box::new(ToolUse {
                id,
                name: name.to_owned(),
                input,
                broken_input: None,
            })));
        }
    }
    blocks
}

fn report(
    request: &Request,
    start: usize,
    wanted: &Wanted,
    done: &[Vec<Done<'_>>],
    before: String,
) -> String {
    let mut parts: Vec<String> = vec![before];
    parts.extend(done.iter().map(|results| render::results(results)));
    let left = wanted.steps.iter().skip(done.len()).flatten();
    let left: Vec<String> = left.map(Command::intent).collect();
    if !left.is_empty() {
        parts.push(format!("I stopped there and did not {}.", left.join(" or ")));
    }
    parts.push(wanted.words());
    let first_answer =
        !request.messages[..start].iter().any(|message| message.role == Role::Assistant);
    if first_answer {
        parts.push(render::FOOTER.to_owned());
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n")
}

fn join(first: String, second: String) -> String {
    match (first.is_empty(), second.is_empty()) {
        (true, _) => second,
        (false, true) => first,
        (false, false) => format!("{first}\n\n{second}"),
    }
}

fn text(text: String) -> Vec<Block> {
    vec![Block::Text { text }]
}

impl Command {
    /// The tool that does it, and its arguments. `None` for what needs no tool.
    fn call(&self) -> Option<(&'static str, Value)> {
        Some(match self {
            Self::List { dir } => ("filesystem__list_dir", json!({ "path": dir })),
            Self::Show { file } => ("filesystem__read_file", json!({ "path": file })),
            Self::Write { file, text } => {
                ("filesystem__write_file", json!({ "path": file, "content": text }))
            }
            Self::Search { pattern, dir } => {
                ("filesystem__search", json!({ "pattern": pattern, "path": dir }))
            }
            Self::Run { command, needs, hosts } if hosts.is_empty() => {
                ("bash__run", json!({ "command": command, "needs": needs }))
            }
            Self::Run { command, needs, hosts } => {
                ("bash__run", json!({ "command": command, "needs": needs, "hosts": hosts }))
            }
            Self::Remember { text } => {
                ("memory__propose", json!({ "subject": subject(text), "text": text }))
            }
            Self::Recall { about } => ("memory__recall", json!({ "query": about })),
            Self::Remind(reminder) => {
                let mut fields = reminder.fields.clone();
                fields.insert("say".to_owned(), json!(reminder.text));
                ("scheduler__schedule", Value::Object(fields))
            }
            Self::Scheduled => ("scheduler__list", json!({})),
            Self::Help => return None,
        })
    }
}

/// What a note is about, as far as words alone tell: what stands before a verb that
/// says what is so.
fn subject(text: &str) -> String {
    let (before, _) = [" is ", " are ", " lives ", " works ", " likes ", " has ", ": "]
        .iter()
        .filter_map(|verb| text.split_once(verb))
        .min_by_key(|(before, _)| before.len())
        .unwrap_or((text, ""));
    before.split_whitespace().take(8).collect::<Vec<_>>().join(" ")
}

/// claw asks for a summary in its last message, and offers no tools with it.
fn asked_for_a_summary(request: &Request) -> bool {
    request
        .messages
        .last()
        .is_some_and(|message| message.text().contains("Summarise the conversation so far"))
        || request.system.to_ascii_lowercase().contains("summar")
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
