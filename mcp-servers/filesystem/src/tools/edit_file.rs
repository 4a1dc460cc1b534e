//! `edit_file`: exact replacements in a text file, each unique unless all are meant, all or
//! nothing, with a diff.

use claw_kit::attributes::Lost;
use claw_kit::counted::counted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{About, Effect, Reply, ToolDef, Workspace, is_false, length, on_workspace};
use crate::cancel::Cancel;
use crate::diff;
use crate::edit;
use crate::error::{Result, ToolError};
use crate::replace;
use crate::resolve::{Last, Missing};
use crate::whole_text::TextLimit;

const EDITS_MAX: usize = 500;

pub fn tool() -> ToolDef {
    About {
        name: "edit_file",
        title: "Edit a text file",
        description: "Replaces exact pieces of a text file of the workspace. Each old_text must occur exactly once, white space \
                      included; add neighbouring lines until it does, or set replace_all to replace it everywhere. Several edits are applied in order, each to the result \
                      of those before it, and either all of them or none. Line ends (CRLF) are kept. The result is a unified \
                      diff; with dry_run nothing is written.",
        effect: Effect::Changes { destructive: true, idempotent: false },
    }
    .tool(on_workspace(run))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The file, relative to the workspace.
    path: String,
    /// The replacements, applied in this order.
    #[schemars(length(min = 1, max = 500))]
    edits: Vec<EditInput>,
    /// Only show the diff. Default: false.
    #[serde(default)]
    dry_run: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct EditInput {
    /// The text to be replaced, exactly as it is in the file. It must occur exactly once, unless
    /// replace_all is true.
    old_text: String,
    /// The text to put there; may be empty.
    new_text: String,
    /// Replace it wherever it occurs. Default: false.
    #[serde(default)]
    replace_all: bool,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    path: String,
    /// Whether the file was changed; false for a dry run.
    written: bool,
    edits: usize,
    /// Places in the text that were replaced, by all edits together.
    replaced: usize,
    size_bytes: u64,
    previous_size_bytes: u64,
    /// A unified diff.
    diff: String,
    /// The diff was too long and its end is missing.
    #[serde(skip_serializing_if = "is_false")]
    diff_cut: bool,
    /// What the file had and has no more: its owner, group or extended attributes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_kept: Vec<&'static str>,
}

fn run(workspace: &Workspace, input: Input, cancel: &Cancel) -> Result<Reply<Output>> {
    if input.edits.is_empty() || input.edits.len() > EDITS_MAX {
        return Err(ToolError::BadArguments(format!("edits must hold 1 to {EDITS_MAX} edits.")));
    }
    let limit = TextLimit {
        bytes: workspace.limits.edit_file_bytes_max,
        instead: "It was not changed. Look at parts of it with read_file and change it with a command.",
    };
    let _changing = workspace.changing();
    cancel.check()?;
    let access = workspace.to_change(&input.path);
    let place = access.resolve(&input.path, Last::Follow, Missing::Fail)?;
    let (old, metadata) = limit.read(&access, &place)?;
    let edits: Vec<edit::Edit<'_>> = input
        .edits
        .iter()
        .map(|edit| edit::Edit { old: &edit.old_text, new: &edit.new_text, all: edit.replace_all })
        .collect();
    let (new, replaced) = edit::apply(&old, &edits, length(limit.bytes))
        .map_err(|error| ToolError::Refused(format!("`{}`: {error}", place.shown)))?;
    limit.check(&place, new.len() as u64)?;
    cancel.check()?;
    let mut lost = Lost::default();
    if !input.dry_run {
        lost = replace::write(&access, &place, new.as_bytes(), Some(&metadata))?.lost;
    }
    let path = access.root.shown(&place.real);
    let (diff, diff_cut) = diff::shortened(
        diff::unified(&path, &old, &new),
        length(workspace.limits.diff_reply_bytes_max),
    );
    let done = if input.dry_run { "Dry run, nothing written:" } else { "Edited" };
    let text = format!(
        "{done} `{path}`, {}.{}\n\n{diff}",
        counted(replaced as u64, "replacement"),
        lost.sentence()
    );
    let output = Output {
        path,
        written: !input.dry_run,
        edits: edits.len(),
        replaced,
        size_bytes: new.len() as u64,
        previous_size_bytes: old.len() as u64,
        diff,
        diff_cut,
        not_kept: lost.names(),
    };
    Ok(Reply::of_text(vec![text], output))
}
