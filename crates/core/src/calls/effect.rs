//! What a call does, in words: a table for our own tools, and name and title for those of others.
//! Pure. Must not know questions, doors, or how the workspace is looked at.

mod command;
mod files;
mod heartbeats;
mod jobs;
mod notes;
mod patched;
mod proposed;
mod variables;

use serde_json::Value;

use crate::domain::{Effect, Origin, OwnServerName, escape};
use crate::hub::Method;
use crate::policy::Facts;
use crate::workspace::{Last, PathContents};

pub(super) use jobs::say_when;
pub(super) use proposed::{buttons, of_proposed};

/// The longest path or command that stands in the sentence, in characters; a longer one stands
/// among the arguments.
const INLINE_CHARS_MAX: usize = 48;

/// Which path of a call is looked at before the sentence is made.
pub(super) fn looks_at<'a>(facts: &Facts<'a>) -> Option<(&'a str, Last)> {
    if facts.builtin != Some(OwnServerName::Filesystem) {
        return None;
    }
    match facts.tool {
        "write_file" => Some((text(facts, "path")?, Last::Follow)),
        "delete" => Some((text(facts, "path")?, Last::Keep)),
        "move" if flag(facts, "overwrite") => Some((text(facts, "destination")?, Last::Keep)),
        _ => None,
    }
}

/// The effect of a call. `seen` is what the path of [`looks_at`] leads to; without it the sentence
/// says less, and is still true.
pub(super) fn effect_of(
    facts: &Facts<'_>,
    seen: Option<&PathContents>,
    title: Option<&str>,
) -> Effect {
    let effect = match facts.builtin {
        Some(OwnServerName::Filesystem) => files::of_file_tool(facts, seen),
        Some(OwnServerName::Bash) => command::of_command(facts),
        Some(OwnServerName::Memory) => notes::of_note_tool(facts),
        Some(OwnServerName::Scheduler) => {
            jobs::of_job_tool(facts).or_else(|| heartbeats::of_put(facts))
        }
        _ => None,
    };
    let effect = effect.or_else(|| of_method(facts));
    let mut effect = effect.unwrap_or_else(|| of_strange_tool(facts, title));
    effect.seen = seen.map(PathContents::mark);
    effect.asker = asker(facts.origin);
    effect
}

/// Whether a person would be warned of it, as far as its arguments say.
pub(super) fn is_dangerous(facts: &Facts<'_>) -> bool {
    effect_of(facts, None, None).danger
}

fn asker(origin: Origin) -> Option<String> {
    let who = match origin {
        Origin::Owner | Origin::Button => return None,
        Origin::Schedule => "Asked for by a schedule",
        Origin::McpClient => "Asked for by a client of claw",
        Origin::SubAgent => "Asked for by another agent",
        Origin::Forwarded => "Asked for in words that are not the owner's own",
    };
    Some(who.to_owned())
}

/// What others' servers are asked besides their tools.
fn of_method(facts: &Facts<'_>) -> Option<Effect> {
    if facts.builtin.is_some() {
        return None;
    }
    let server = escape::visible(facts.server);
    let mut told = Vec::new();
    let mut named = |argument: &str, otherwise: &str| match text(facts, argument).and_then(inline) {
        Some(text) => {
            told.push(argument.to_owned());
            format!("`{text}`")
        }
        None => otherwise.to_owned(),
    };
    let says = match Method::named(facts.tool)? {
        Method::ReadResource => {
            format!("Read {} from the server {server}", named("uri", "this resource"))
        }
        Method::GetPrompt => {
            format!("Get the prompt {} of the server {server}", named("name", "below"))
        }
        Method::ListResources => format!("List the resources of the server {server}"),
    };
    Some(Effect { says, told, ..Effect::default() })
}

fn of_strange_tool(facts: &Facts<'_>, title: Option<&str>) -> Effect {
    let name = escape::visible(&format!("{}/{}", facts.server, facts.tool));
    let title = title.map(str::trim).filter(|title| !title.is_empty() && *title != facts.tool);
    let title = title.and_then(|title| {
        (title.chars().count() <= INLINE_CHARS_MAX).then(|| escape::visible(title))
    });
    let says = match title {
        Some(title) => format!("Use {name} (“{title}”)"),
        None => format!("Use {name}"),
    };
    Effect { says, danger: facts.destructive_hint == Some(true), ..Effect::default() }
}

/// A text that can stand in a sentence without a doubt about where it begins and ends: short, one
/// line, nothing that is invisible or could be lost when the sentence is wrapped.
fn inline(text: &str) -> Option<&str> {
    let plain = !text.is_empty()
        && text.chars().count() <= INLINE_CHARS_MAX
        && text.trim() == text
        && !text.contains("  ")
        && !text.contains(['`', '“', '”'])
        && escape::visible(text) == text;
    plain.then_some(text)
}

fn text<'a>(facts: &Facts<'a>, name: &str) -> Option<&'a str> {
    facts.arguments.get(name)?.as_str()
}

fn flag(facts: &Facts<'_>, name: &str) -> bool {
    facts.arguments.get(name).and_then(Value::as_bool).unwrap_or(false)
}

/// `1 line`, `40 lines`.
fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests;
