//! `link`: one note names another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::About as Shown;
use super::{About, Effect, Reply, ToolDef, on_notes};
use crate::error::{Result, ToolError};
use crate::find;
use crate::memory::Memory;
use crate::note::{one_line, time};

const RELATION_CHARS_MAX: usize = 60;

pub fn tool() -> ToolDef {
    About {
        name: "link",
        title: "Link two notes",
        description: "Adds a line to a note that links it to another, with what relates them: `- works at: [[Acme]]`. read \
                      shows the links of both. Once more changes nothing.",
        effect: Effect::Changes { destructive: false, idempotent: true },
    }
    .tool(on_notes(run))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The id of the note that gets the line.
    id: String,
    /// The id or the subject of the other note.
    to: String,
    /// What relates them, in a few words: works at, sister of, part of.
    #[serde(default)]
    relation: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    #[serde(flatten)]
    about: Shown,
    /// The line; it was there already if `added` is false.
    line: String,
    added: bool,
}

fn run(memory: &mut Memory, input: Input) -> Result<Reply<Output>> {
    let relation =
        one_line(input.relation.as_deref().unwrap_or("see")).replace(['[', ']', ':'], " ");
    let relation = relation.trim().to_owned();
    if relation.is_empty() || relation.chars().count() > RELATION_CHARS_MAX {
        return Err(ToolError::BadArguments(format!(
            "the relation must have 1 to {RELATION_CHARS_MAX} characters, such as `works at`."
        )));
    }
    let (path, line, added) = memory.write(|writer| {
        let db = &writer.memory.index.db;
        let target = input.to.trim();
        let other = find::named(db, target)?.ok_or_else(|| ToolError::NoNote {
            id: target.to_owned(),
            where_it_is: " to link to",
        })?;
        let line = format!("- {relation}: [[{}]]", written(&other.subject, &other.id));
        let (entry, text) = writer.open(input.id.trim(), None)?;
        if entry.note.body.lines().any(|old| old.trim() == line) {
            return Ok((entry.path, line, false));
        }
        let body = format!("{}\n{line}", entry.note.body);
        let updated = vec![("updated", Some(time::rfc3339(time::now()).into()))];
        writer.change(&entry, &text, &updated, Some(&body))?;
        Ok((entry.path, line, true))
    })?;
    let entry = find::note(&memory.index.db, &path)?;
    let about = Shown::new(&memory.whose, &entry, None, false);
    let done = if added { "Linked" } else { "It was linked already" };
    let text = format!("{done}: {}\n{line}", about.line());
    Ok(Reply { text, structured: Output { about, line, added } })
}

/// A subject as a link can hold it; else the id.
fn written<'a>(subject: &'a str, id: &'a str) -> &'a str {
    if subject.contains(['[', ']', '|', '#']) { id } else { subject }
}
