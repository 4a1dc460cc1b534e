//! `forget`: a note, or a proposal, goes to the trash.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{About, Effect, Reply, ToolDef, on_notes};
use crate::error::{Result, ToolError};
use crate::memory::Memory;
use crate::proposal;
use crate::writer::{Gone, trash_path};

pub fn tool() -> ToolDef {
    About {
        name: "forget",
        title: "Forget a note",
        description: "Moves a note or a proposal to the trash, where recall does not look. restore brings it back. If something is \
                      merely not so any more, use supersede instead.",
        effect: Effect::Changes { destructive: true, idempotent: false },
    }
    .tool(on_notes(run))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The id of the note or the proposal, or the path of a conflict copy.
    id: String,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    id: String,
    subject: String,
    /// Where it lies in the trash; restore takes it.
    trash: String,
}

fn run(memory: &mut Memory, input: Input) -> Result<Reply<Output>> {
    let id = input.id.trim().to_owned();
    let output = memory.write(|writer| {
        let entry = match crate::find::note(&writer.memory.index.db, &id) {
            Ok(entry) => entry,
            Err(ToolError::NoNote { .. }) => return forget_proposal(writer.memory, &id),
            Err(error) => return Err(error),
        };
        let trash = writer.throw_away(&entry.path)?;
        Ok(Output { id: entry.id, subject: entry.note.subject, trash })
    })?;
    let text = format!(
        "Forgotten: {} [{}]. Restore brings it back from the trash, where it is `{}`.",
        output.subject, output.id, output.trash
    );
    Ok(Reply { text, structured: output })
}

fn forget_proposal(memory: &Memory, id: &str) -> Result<Output> {
    let Some((entry, _)) = proposal::find_one(memory, id)? else {
        return Err(ToolError::NoNote {
            id: id.to_owned(),
            where_it_is: " and no proposal of that id",
        });
    };
    let trash = trash_path(Gone::Forgotten, &entry.path)?;
    let moved = memory.proposals.move_to(&entry.path, &memory.trash, &trash);
    moved.map_err(|error| ToolError::io("move to the trash", entry.path.as_str(), &error))?;
    Ok(Output { id: entry.id, subject: entry.note.subject, trash })
}
