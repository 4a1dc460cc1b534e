//! `apply_patch`: a unified diff over one or more text files, all of it or nothing.

use cap_std::fs::Metadata;
use claw_kit::attributes::Lost;
use claw_kit::counted::counted;
use claw_kit::patch::{self, Change};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{About, Effect, Reply, ToolDef, Workspace, on_workspace};
use crate::access::Access;
use crate::cancel::Cancel;
use crate::error::{Result, ToolError};
use crate::place::Place;
use crate::replace;
use crate::resolve::{Last, Missing};
use crate::whole_text::TextLimit;

pub fn tool() -> ToolDef {
    About {
        name: "apply_patch",
        title: "Apply a patch",
        description: "Applies a unified diff over up to 50 text files of the workspace, either all of it or nothing. It changes files \
                      and makes new ones (--- /dev/null); delete and move are tools of their own. A name may have a/ and b/ before \
                      it, as git writes them. The lines that stay and go must stand in the file exactly; the line numbers may \
                      be off. Each hunk needs at least one such line. Line ends (CRLF) are kept.",
        effect: Effect::Changes { destructive: true, idempotent: false },
    }
    .tool(on_workspace(run))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The unified diff.
    patch: String,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    files: Vec<Patched>,
}

/// One file of the patch.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Patched {
    path: String,
    /// True if the file is new.
    created: bool,
    size_bytes: u64,
    previous_size_bytes: u64,
    /// What the file had and has no more: its owner, group or extended attributes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_kept: Vec<&'static str>,
}

/// One file, before anything was written.
struct Planned<'a> {
    access: Access<'a>,
    place: Place,
    /// `None` for a new file.
    old: Option<(String, Metadata)>,
    new: String,
}

fn run(workspace: &Workspace, input: Input, cancel: &Cancel) -> Result<Reply<Output>> {
    let changes = patch::read(&input.patch)
        .map_err(|error| ToolError::BadArguments(format!("{error}. Nothing was changed.")))?;
    let _changing = workspace.changing();
    let mut plans: Vec<Planned<'_>> = Vec::with_capacity(changes.len());
    for change in &changes {
        cancel.check()?;
        let plan = plan(workspace, change)?;
        let twice = plans.iter().find(|other| {
            std::ptr::eq(other.access.root, plan.access.root) && other.place.real == plan.place.real
        });
        if let Some(other) = twice {
            let (one, two) = (&other.place.shown, &plan.place.shown);
            let message = format!("`{one}` and `{two}` are the same file. Nothing was changed.");
            return Err(ToolError::Refused(message));
        }
        plans.push(plan);
    }
    let mut files = Vec::with_capacity(plans.len());
    for Planned { access, place, old, new } in &plans {
        cancel.check()?;
        let seen = old.as_ref().map(|(_, metadata)| metadata);
        files.push(replace::write_beside(access, place, new.as_bytes(), seen)?);
    }
    let olds: Vec<Option<String>> =
        plans.iter().map(|plan| plan.old.as_ref().map(|(text, _)| text.clone())).collect();
    let lost: Vec<Lost> = files.iter().map(|file| file.lost).collect();
    replace::put_all(files, &olds)?;
    Ok(told(&plans, &lost))
}

/// What becomes of one file.
///
/// # Errors
/// The file is not there, or is there and should not be; it is no text, or too large; a hunk does
/// not fit.
fn plan<'a>(workspace: &'a Workspace, change: &Change<'_>) -> Result<Planned<'a>> {
    let limit = TextLimit {
        bytes: workspace.limits.edit_file_bytes_max,
        instead: "Nothing was changed. Change this one with a command.",
    };
    let access = workspace.to_change(change.path);
    let missing = if change.creates { Missing::Allow } else { Missing::Fail };
    let place = access.resolve(change.path, Last::Follow, missing)?;
    access.may_replace(&place)?;
    let old = if change.creates {
        if place.kind().is_some() {
            let instead = "The patch would create it. Nothing was changed.";
            return Err(ToolError::Exists { path: place.shown, instead });
        }
        None
    } else {
        Some(limit.read(&access, &place)?)
    };
    let new = change.apply(old.as_ref().map_or("", |(text, _)| text)).map_err(|error| {
        let next = "Nothing was changed. Read the file again and make the patch anew.";
        ToolError::Refused(format!("`{}`: {error}. {next}", place.shown))
    })?;
    limit.check(&place, new.len() as u64)?;
    Ok(Planned { access, place, old, new })
}

fn told(plans: &[Planned<'_>], lost: &[Lost]) -> Reply<Output> {
    let files: Vec<Patched> = plans
        .iter()
        .zip(lost)
        .map(|(plan, lost)| Patched {
            path: plan.access.root.shown(&plan.place.real),
            created: plan.old.is_none(),
            size_bytes: plan.new.len() as u64,
            previous_size_bytes: plan.old.as_ref().map_or(0, |(text, _)| text.len() as u64),
            not_kept: lost.names(),
        })
        .collect();
    let lines: Vec<String> = files
        .iter()
        .zip(lost)
        .map(|(file, lost)| {
            let done = if file.created { "Created" } else { "Patched" };
            let (before, after) = (file.previous_size_bytes, file.size_bytes);
            let (before, after) = (counted(before, "byte"), counted(after, "byte"));
            let lost = lost.sentence();
            format!("{done} `{}`: {after} (before: {before}).{lost}", file.path)
        })
        .collect();
    Reply::of_text(vec![lines.join("\n")], Output { files })
}
