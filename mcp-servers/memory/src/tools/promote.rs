//! `promote`: a proposal becomes a note, or a line of the file that every prompt holds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::About as Shown;
use super::{About, Effect, Reply, ToolDef, on_notes, remembered};
use crate::always::Fullness;
use crate::always::lines::Change;
use crate::always::proposed::{self, ProposedChange};
use crate::error::Result;
use crate::index::Entry;
use crate::memory::Memory;
use crate::proposal;
use crate::writer::Writer;

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
    /// What the note says that its owner saw replaced, or the line.
    #[serde(default)]
    instead_of: Option<String>,
    /// What other notes of that name say; its owner saw them stay.
    #[serde(default)]
    #[expect(dead_code, reason = "it is for whoever is asked; nothing is done with it")]
    beside: Option<Vec<String>>,
    /// For a line of the file that every prompt holds: how full its owner saw the file.
    #[serde(default)]
    always: Option<Fullness>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    #[serde(flatten)]
    about: Shown,
    /// For a line of the file that every prompt holds: how full that is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    always: Option<Fullness>,
}

fn run(memory: &mut Memory, input: Input) -> Result<Reply<Output>> {
    let shown = proposal::ShownProposal {
        version: input.version.trim(),
        subject: input.subject.as_deref(),
        text: input.text.as_deref(),
        instead_of: input.instead_of.as_deref(),
    };
    let id = input.id.trim();
    // Only what was shown as such a line becomes one, and only that.
    if input.always.is_some() || is_for_always(memory, id)? {
        let (entry, change, full) = memory.write(|writer| always(writer, id, &shown))?;
        let text = said(&change, &full);
        let about = Shown::new(&memory.whose, &entry, None, false);
        return Ok(Reply { text, structured: Output { about, always: Some(full) } });
    }
    let entry = memory.write(|writer| proposal::promote(writer, id, &shown))?;
    let about = Shown::new(&memory.whose, &entry, None, false);
    Ok(Reply { text: remembered(&entry), structured: Output { about, always: None } })
}

fn is_for_always(memory: &Memory, id: &str) -> Result<bool> {
    let file = match proposal::find_one(memory, id)? {
        Some((_, file)) => Some(file),
        None => crate::trash::promoted_file(memory, id)?.map(|(_, file)| file),
    };
    Ok(file.is_some_and(|file| ProposedChange::of(&file).is_some()))
}

fn always(
    writer: &Writer<'_>,
    id: &str,
    shown: &proposal::ShownProposal<'_>,
) -> Result<(Entry, Change, Fullness)> {
    let memory = &*writer.memory;
    let found = proposal::find_one(memory, id)?;
    let open = found.and_then(|(entry, file)| Some((entry, ProposedChange::of(&file)?)));
    let (entry, kept, full) = match open {
        Some((entry, kept)) => {
            let full = proposed::promote(writer, (&entry, &kept), shown)?;
            (entry, kept, full)
        }
        None => {
            let Some((entry, kept)) = proposed::promoted_before(memory, id)? else {
                return Err(proposal::is_gone(id));
            };
            (entry, kept, memory.fullness(&memory.read_always()?.text))
        }
    };
    // It is in no note.
    let entry = Entry { path: full.file.clone(), ..entry };
    Ok((entry, kept.change, full))
}

/// What its owner reads.
pub fn said(change: &Change, full: &Fullness) -> String {
    match &change.text {
        Some(text) => format!("Remembered for every prompt, in {}:\n{text}", full.words()),
        None => format!(
            "Taken out of {}:\n{}",
            full.words(),
            change.instead_of.as_deref().unwrap_or_default()
        ),
    }
}
