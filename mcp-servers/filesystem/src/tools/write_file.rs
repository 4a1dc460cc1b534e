//! `write_file`: creates or replaces a whole file.

use claw_kit::counted::counted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{About, Effect, Reply, ToolDef, Workspace, on_workspace};
use crate::cancel::Cancel;
use crate::error::{Result, ToolError};
use crate::replace;
use crate::resolve::{Last, Missing};

pub fn tool() -> ToolDef {
    About {
        name: "write_file",
        title: "Create or replace a file",
        description: "Writes a text file of the workspace as a whole: creates it, with its parent directories, or replaces what \
                      it held. To change a part of a file use edit_file. The write is atomic and keeps the permissions of a \
                      replaced file; through a symbolic link that leads to a place inside the workspace, the file it leads \
                      to is written.",
        effect: Effect::Changes { destructive: true, idempotent: true },
    }
    .tool(on_workspace(run))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The file, relative to the workspace.
    path: String,
    /// The whole new text, written as it is.
    content: String,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    path: String,
    /// True if the file is new, false if it replaced one.
    created: bool,
    size_bytes: u64,
    /// The size of the replaced file.
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_size_bytes: Option<u64>,
    /// Parent directories that were made.
    directories_created: usize,
    /// What the replaced file had and this one has not: its owner, group or extended attributes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_kept: Vec<&'static str>,
}

fn run(workspace: &Workspace, input: Input, cancel: &Cancel) -> Result<Reply<Output>> {
    let size_bytes = input.content.len() as u64;
    let limit_bytes = workspace.limits.write_file_bytes_max;
    if size_bytes > limit_bytes {
        let instead = "Write it in several files, or produce it with a command.";
        return Err(ToolError::TooLarge { path: input.path, size_bytes, limit_bytes, instead });
    }
    let _changing = workspace.changing();
    cancel.check()?;
    let access = workspace.to_change(&input.path);
    let place = access.resolve(&input.path, Last::Follow, Missing::Allow)?;
    let written = replace::write(&access, &place, input.content.as_bytes(), None)?;
    let output = Output {
        path: access.root.shown(&place.real),
        created: written.created,
        size_bytes,
        previous_size_bytes: written.previous_bytes,
        directories_created: written.directories_created,
        not_kept: written.lost.names(),
    };
    let size = counted(size_bytes, "byte");
    let text = match (output.previous_size_bytes, output.directories_created) {
        (Some(previous), _) => {
            let before = counted(previous, "byte");
            let lost = written.lost.sentence();
            format!("Replaced `{}`: {size} (before: {before}).{lost}", output.path)
        }
        (None, 0) => format!("Created `{}`: {size}.", output.path),
        (None, 1) => {
            format!("Created `{}`: {size}, and its parent directory.", output.path)
        }
        (None, made) => {
            format!("Created `{}`: {size}, and {made} parent directories.", output.path)
        }
    };
    Ok(Reply::of_text(vec![text], output))
}
