//! `promote`: a proposal becomes a note.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::About as Shown;
use super::{About, Effect, Reply, ToolDef, on_notes};
use crate::error::Result;
use crate::memory::Memory;
use crate::proposal;

pub fn tool() -> ToolDef {
    About {
        name: "promote",
        title: "Remember a proposal",
        description: "Remembers a proposal, exactly as propose has shown it, and marks the note that it replaces as superseded. \
                      Only after its owner has said yes. Once more does no harm.",
        effect: Effect::Changes { destructive: false, idempotent: true },
    }
    .tool(on_notes(run))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The id of the proposal.
    id: String,
    /// Its version, as propose has given it.
    version: String,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    #[serde(flatten)]
    about: Shown,
}

fn run(memory: &mut Memory, input: Input) -> Result<Reply<Output>> {
    let entry =
        memory.write(|writer| proposal::promote(writer, input.id.trim(), input.version.trim()))?;
    let about = Shown::new(&entry, None, false);
    let text = format!("Remembered: {}\n{}", about.line(), entry.note.body);
    Ok(Reply { text, structured: Output { about } })
}
