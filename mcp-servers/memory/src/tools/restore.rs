//! `restore`: what lies in the trash is a note again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::About as Shown;
use super::{About, Effect, Reply, ToolDef, on_notes};
use crate::error::{IN_THE_TRASH, Result, ToolError};
use crate::find;
use crate::index::Entry;
use crate::memory::Memory;
use crate::trash;
use crate::writer::Writer;

pub fn tool() -> ToolDef {
    About {
        name: "restore",
        title: "Restore a note from the trash",
        description: "Brings a note back from the trash: what was forgotten, or what a note was before it was changed. `list` with \
                      `what` \"trash\" shows what there is. Of several the newest comes back; its path in the trash names any other. \
                      What the note is now goes to the trash.",
        effect: Effect::Changes { destructive: true, idempotent: false },
    }
    .tool(on_notes(run))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The id of the note, or its path in the trash.
    id: String,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    #[serde(flatten)]
    about: Shown,
}

fn run(memory: &mut Memory, input: Input) -> Result<Reply<Output>> {
    let id = input.id.trim().to_owned();
    let path = memory.write(|writer| {
        let thrown = trash::find_one(writer.memory, &id)?;
        put_back(writer, &thrown)
    })?;
    let entry = find::note(&memory.index.db, &path)?;
    let about = Shown::new(&memory.whose, &entry, None, false);
    let text = format!("Restored: {}\n{}", about.line(), entry.note.body);
    Ok(Reply { text, structured: Output { about } })
}

/// To where it was, or in place of what the note is now.
fn put_back(writer: &mut Writer<'_>, thrown: &Entry) -> Result<String> {
    let (_, was_at) = thrown.path.split_once('/').unwrap_or(("", &thrown.path));
    let refuse = |error: &std::io::Error| ToolError::io("restore", was_at, error);
    let id = thrown.note.id.clone().unwrap_or_else(|| was_at.to_owned());
    match find::note(&writer.memory.index.db, &id) {
        Ok(now) => {
            let text = crate::writer::read(
                &writer.memory.trash,
                &thrown.path,
                writer.memory.limits.note_bytes_max,
            )?;
            let Some((_, text)) = text else {
                return Err(ToolError::NoNote { id, where_it_is: IN_THE_TRASH });
            };
            writer.put(&now, &text)?;
            return Ok(now.path);
        }
        Err(ToolError::NoNote { .. }) => {}
        Err(error) => return Err(error),
    }
    let stem = was_at.rsplit_once('.').map_or(was_at, |(stem, _)| stem);
    for path in std::iter::once(was_at.to_owned()).chain((2..100).map(|n| format!("{stem}-{n}.md")))
    {
        match writer.memory.trash.move_to(&thrown.path, &writer.memory.notes, &path) {
            Ok(()) => {
                writer.touched.insert(path.clone());
                return Ok(path);
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(refuse(&error)),
        }
    }
    Err(refuse(&std::io::ErrorKind::AlreadyExists.into()))
}
