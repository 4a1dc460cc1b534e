//! `supersede`: something is not so any more, and something else is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::About as Shown;
use super::{About, Effect, Reply, ToolDef, on_notes, time_of};
use crate::error::Result;
use crate::find;
use crate::memory::Memory;
use crate::note::Source;
use crate::proposal::{self, Wanted};

pub fn tool() -> ToolDef {
    About {
        name: "supersede",
        title: "Replace what is not so any more",
        description: "Writes a new note that is right from now on, or from valid_from on, instead of an earlier one. The earlier \
                      note stays and is found for its time (recall with as_of). Subject, kind and tags are those of the earlier \
                      note if nothing else is said.",
        effect: Effect::Changes { destructive: false, idempotent: false },
    }
    .tool(on_notes(run))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The id of the note that is not so any more.
    id: String,
    /// Its version, as recall, read or list have given it.
    version: String,
    /// What is so now.
    text: String,
    /// Default: the subject of the earlier note.
    #[serde(default)]
    subject: Option<String>,
    /// Who said it, and where.
    #[serde(default)]
    source: Source,
    /// From when on, such as 2026-11-23. Default: now.
    #[serde(default)]
    valid_from: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    #[serde(flatten)]
    about: Shown,
}

fn run(memory: &mut Memory, input: Input) -> Result<Reply<Output>> {
    let valid_from = time_of("valid_from", input.valid_from.as_deref())?;
    let limits = memory.limits;
    let source = proposal::source(memory, input.source);
    let path = memory.write(|writer| {
        let (old, _) = writer.open(input.id.trim(), Some(input.version.trim()))?;
        proposal::is_current(writer.memory, &old, None)?;
        let wanted = Wanted {
            subject: input.subject.unwrap_or_else(|| old.note.subject.clone()),
            text: input.text,
            kind: old.note.kind,
            tags: old.note.tags.clone(),
            aliases: old.note.aliases.clone(),
            source,
            valid_from,
        };
        let mut note = wanted.into_note(&limits)?;
        let id = writer.new_id()?;
        note.id = Some(id.clone());
        note.supersedes = Some(old.id.clone());
        // The new note first: it names the old one, so a kill in between changes
        // nothing for a reader.
        let path = writer.create(&note)?;
        proposal::mark_superseded(writer, &old.path, &id)?;
        Ok(path)
    })?;
    let entry = find::note(&memory.index.db, &path)?;
    let about = Shown::new(&memory.whose, &entry, None, false);
    let text = format!("Superseded [{}] by {}\n{}", input.id, about.line(), entry.note.body);
    Ok(Reply { text, structured: Output { about } })
}
