//! `update`: a note says something better.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::shown::About as Shown;
use super::{About, Effect, Reply, ToolDef, on_notes, time_of};
use crate::error::{Result, ToolError};
use crate::find;
use crate::memory::Memory;
use crate::note::write::Changes;
use crate::note::{Kind, time};
use crate::proposal;

pub fn tool() -> ToolDef {
    About {
        name: "update",
        title: "Change a note",
        description: "Changes a note whose words were wrong or incomplete; what is not named stays as it is. If something is not \
                      so any more, use supersede instead, which keeps what was so. What the note was goes to the trash.",
        effect: Effect::Changes { destructive: true, idempotent: false },
    }
    .tool(on_notes(run))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The id of the note.
    id: String,
    /// Its version, as recall, read or list have given it. If the note has changed
    /// since, nothing is written.
    version: String,
    /// The whole new text.
    #[serde(default)]
    text: Option<String>,
    /// The new subject.
    #[serde(default)]
    subject: Option<String>,
    /// The new kind.
    #[serde(default)]
    kind: Option<Kind>,
    #[serde(default)]
    #[schemars(description = "All tags that it has from now on.")]
    tags: Option<Vec<String>>,
    /// From when on it is so.
    #[serde(default)]
    valid_from: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    #[serde(flatten)]
    about: Shown,
    text: String,
}

fn run(memory: &mut Memory, input: Input) -> Result<Reply<Output>> {
    let mut changes: Changes = Vec::new();
    if let Some(subject) = &input.subject {
        changes.push(("subject", Some(Value::from(proposal::subject(subject)?))));
    }
    if let Some(kind) = input.kind {
        changes.push(("kind", Some(Value::from(kind.as_str()))));
    }
    if let Some(tags) = &input.tags {
        changes.push(("tags", Some(Value::from(proposal::tags(tags, &memory.limits)?))));
    }
    if let Some(at) = time_of("valid_from", input.valid_from.as_deref())? {
        changes.push(("valid_from", Some(Value::from(time::rfc3339(at)))));
    }
    let body = input.text.as_deref().map(proposal::body).transpose()?;
    if changes.is_empty() && body.is_none() {
        return Err(ToolError::BadArguments(
            "nothing to change: name text, subject, kind, tags or valid_from.".into(),
        ));
    }
    changes.push(("updated", Some(Value::from(time::rfc3339(time::now())))));
    let path = memory.write(|writer| {
        let (entry, text) = writer.open(input.id.trim(), Some(input.version.trim()))?;
        writer.change(&entry, &text, &changes, body.as_deref())?;
        Ok(entry.path)
    })?;
    let entry = find::note(&memory.index.db, &path)?;
    let about = Shown::new(&memory.whose, &entry, None, false);
    let text = format!("Changed: {}\n{}", about.line(), entry.note.body);
    Ok(Reply { text, structured: Output { about, text: entry.note.body } })
}
