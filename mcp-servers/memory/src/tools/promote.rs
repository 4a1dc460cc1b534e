//! `promote`: a proposal becomes a note.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::About as Shown;
use super::{About, Effect, Reply, ToolDef, on_notes, remembered};
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
    /// What its owner was shown; if it is something else by now, nothing is remembered.
    #[serde(default)]
    subject: Option<String>,
    /// The words that its owner was shown.
    #[serde(default)]
    text: Option<String>,
    /// What the note says that its owner saw replaced.
    #[serde(default)]
    instead_of: Option<String>,
    /// What other notes of that name say; its owner saw them stay.
    #[serde(default)]
    #[expect(dead_code, reason = "it is for whoever is asked; nothing is done with it")]
    beside: Option<Vec<String>>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    #[serde(flatten)]
    about: Shown,
}

fn run(memory: &mut Memory, input: Input) -> Result<Reply<Output>> {
    let shown = proposal::Shown {
        version: input.version.trim(),
        subject: input.subject.as_deref(),
        text: input.text.as_deref(),
        instead_of: input.instead_of.as_deref(),
    };
    let entry = memory.write(|writer| proposal::promote(writer, input.id.trim(), &shown))?;
    let about = Shown::new(&entry, None, false);
    Ok(Reply { text: remembered(&entry), structured: Output { about } })
}
