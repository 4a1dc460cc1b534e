//! Built-in hard denies for shell text: what no rule and no grant unlocks. A courtesy before the
//! box, which tells the model early and in words; what truly holds is the operating system. Must
//! not know rules, classes or grants.
//!
//! The text is read by a small reader of our own (`read.rs`), because the known parsers of bash are
//! grammars that backtrack and recurse without a bound, and this one meets text that a model chose.
//! It has a budget of steps and of depth; beyond it, or where it meets something that it does not
//! know, the text counts as unreadable: never denied for that, never allowed without a question.

mod disks;
mod paths;
mod pipes;
mod programs;
mod read;
mod redirects;
mod shell;
mod walk;
mod words;
mod wrappers;

use claw_domain::OwnServerName;
use serde_json::Value;

use super::Facts;
use walk::Walk;

/// A call that is not forwarded, with the rule that says so and what would work instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    pub rule: String,
    /// A clause without a full stop.
    pub why: String,
    /// A clause without a full stop.
    pub instead: String,
}

impl Denial {
    pub(super) fn new(rule: &str, why: &str, instead: &str) -> Self {
        Self { rule: format!("builtin.{rule}"), why: why.to_owned(), instead: instead.to_owned() }
    }
}

/// What the reader found in a call's shell text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    Clear,
    /// Part of the text could not be read, and the rest is clear.
    Unreadable,
    Denied(Denial),
}

/// Names of a stranger's server or tool that suggest a shell behind it.
const SHELL_LIKE: &[&str] =
    &["bash", "shell", "zsh", "terminal", "exec", "command", "console", "run"];
/// Arguments that hold shell text there.
const TEXT_ARGUMENTS: &[&str] = &["command", "cmd", "script"];

pub(super) fn judge(facts: &Facts<'_>) -> Finding {
    let mut walk = Walk::new(facts);
    match facts.builtin {
        Some(OwnServerName::Bash) => match facts.arguments.get("command") {
            Some(Value::String(text)) => walk.text(text),
            // The server refuses anything else.
            _ => return Finding::Clear,
        },
        Some(_) => return Finding::Clear,
        None if is_shell_like(facts) => {
            for name in TEXT_ARGUMENTS {
                stranger(&mut walk, facts.arguments, name);
            }
        }
        None => return Finding::Clear,
    }
    walk.finish()
}

fn is_shell_like(facts: &Facts<'_>) -> bool {
    let (server, tool) = (facts.server.to_lowercase(), facts.tool.to_lowercase());
    SHELL_LIKE.iter().any(|word| server.contains(word) || tool.contains(word))
}

/// A stranger takes a line of shell, a program with `args` beside it, or a whole list of words.
fn stranger(walk: &mut Walk<'_>, arguments: &Value, name: &str) {
    let strings = |list: &Value| -> Vec<String> {
        list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    match arguments.get(name) {
        Some(Value::String(text)) => match arguments.get("args") {
            Some(list @ Value::Array(_)) => {
                let mut argv = vec![text.clone()];
                argv.extend(strings(list));
                walk.literal_argv(&argv);
            }
            _ => walk.text(text),
        },
        Some(list @ Value::Array(_)) => walk.literal_argv(&strings(list)),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
