//! `skip`: the owner has said no to a proposal, or its time was over. It goes to the trash, and the
//! same is not asked again for a week.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{About, Effect, Reply, ToolDef, on_notes};
use crate::asked;
use crate::error::{Result, ToolError};
use crate::memory::Memory;
use crate::proposal;
use crate::writer::{Gone, trash_path};

pub fn tool() -> ToolDef {
    About {
        name: "skip",
        title: "Skip a proposal",
        description: "Closes a proposal that its owner has said no to, or has not answered in time. It goes to the trash, and the \
                      same is not proposed again for a week. For hosts; once more does no harm.",
        effect: Effect::Changes { destructive: false, idempotent: true },
    }
    .tool(on_notes(run))
    .for_hosts()
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The id of the proposal.
    id: String,
    /// Whether nobody has answered, instead of a no.
    #[serde(default)]
    expired: bool,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    id: String,
    /// Whether it was open until now.
    was_open: bool,
}

fn run(memory: &mut Memory, input: Input) -> Result<Reply<Output>> {
    let id = input.id.trim().to_owned();
    let was_open = memory.under_lock(|memory| {
        // First what keeps it from being asked again: a kill in between leaves an open file, and
        // the next call ends it.
        asked::close(memory, &id)?;
        let Some((entry, _)) = proposal::find_one(memory, &id)? else { return Ok(false) };
        let why = if input.expired { Gone::Expired } else { Gone::Skipped };
        let kept = trash_path(why, &entry.path)?;
        let moved = memory.proposals.move_to(&entry.path, &memory.trash, &kept);
        moved.map_err(|error| ToolError::io("move to the trash", entry.path.as_str(), &error))?;
        Ok(true)
    })?;
    let text = match was_open {
        true => format!("Closed: the proposal [{id}]. The same is not proposed again for a week."),
        false => format!("There is no open proposal [{id}], so there is nothing to close."),
    };
    Ok(Reply { text, structured: Output { id, was_open } })
}
