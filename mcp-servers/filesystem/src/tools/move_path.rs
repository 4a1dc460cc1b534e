//! `move`: renames a file, a directory or a symbolic link inside the workspace.

use claw_kit::durable::at::rename_new;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{About, Effect, Reply, ToolDef, Workspace, on_workspace};
use crate::access::Access;
use crate::cancel::Cancel;
use crate::error::{Result, ToolError};
use crate::kind::Kind;
use crate::place::Place;
use crate::replace::make_parents;
use crate::resolve::{Last, Missing};

const TAKEN: &str =
    "Nothing was moved. Choose another destination, or pass overwrite: true to replace it.";

pub fn tool() -> ToolDef {
    About {
        name: "move",
        title: "Move or rename",
        description: "Moves or renames a file, directory or symbolic link inside the workspace, making the parent directories of \
                      the destination. The destination is the full new path, not the directory to move into. An existing \
                      file there is replaced only with overwrite: true, a directory never.",
        effect: Effect::Changes { destructive: true, idempotent: false },
    }
    .tool(on_workspace(run))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// What to move, relative to the workspace. A symbolic link is moved itself.
    source: String,
    /// Its full new path, relative to the workspace.
    destination: String,
    /// Replace a file that is at the destination. Default: false.
    #[serde(default)]
    overwrite: bool,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    source: String,
    destination: String,
    #[serde(rename = "type")]
    kind: Kind,
    /// A file was at the destination and is gone.
    replaced: bool,
}

fn run(workspace: &Workspace, input: Input, cancel: &Cancel) -> Result<Reply<Output>> {
    let _changing = workspace.changing();
    cancel.check()?;
    let from_access = workspace.to_change(&input.source);
    let to_access = workspace.to_change(&input.destination);
    let source = from_access.resolve(&input.source, Last::Keep, Missing::Fail)?;
    let destination = to_access.resolve(&input.destination, Last::Keep, Missing::Allow)?;
    let kind = source.kind().unwrap_or(Kind::Other);
    check((&from_access, &source), (&to_access, &destination), kind, input.overwrite)?;
    if kind == Kind::Symlink {
        stays_in_its_root(workspace, (&from_access, &source), (&to_access, &destination))?;
    }
    let (from, to) = (source.file_name()?, destination.file_name()?);
    let parent = make_parents(&to_access, &destination)?;
    let renamed = if input.overwrite {
        source.parent.rename(from, &parent, to)
    } else {
        rename_new(&source.parent, from, &parent, to)
    };
    renamed.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            ToolError::Exists { path: destination.shown.clone(), instead: TAKEN }
        }
        _ => ToolError::io("move", &source.shown, &error),
    })?;
    let output = Output {
        source: from_access.root.shown(&source.real),
        destination: to_access.root.shown(&destination.real),
        kind,
        replaced: destination.metadata.is_some(),
    };
    let replaced = if output.replaced { ", replacing what was there" } else { "" };
    let text = format!("Moved `{}` to `{}`{replaced}.", output.source, output.destination);
    Ok(Reply::of_text(vec![text], output))
}

/// Whoever reads in another directory may follow a link that is put there, to where this server
/// never would.
fn stays_in_its_root(
    workspace: &Workspace,
    (from, source): (&Access<'_>, &Place),
    (to, destination): (&Access<'_>, &Place),
) -> Result<()> {
    // By the whole paths, because two roots may lie in one another.
    let root =
        |access: &Access<'_>, place: &Place| workspace.root_of(access.root.whole(&place.real));
    if std::ptr::eq(root(from, source), root(to, destination)) {
        return Ok(());
    }
    Err(ToolError::Refused(format!(
        "`{}` is a symbolic link, and is not moved into another directory than the one that it is in, because what reads there would \
         follow it. Move what it leads to instead.",
        source.shown
    )))
}

fn check(
    (from, source): (&Access<'_>, &Place),
    (to, destination): (&Access<'_>, &Place),
    kind: Kind,
    overwrite: bool,
) -> Result<()> {
    if source.name.is_none() {
        return Err(ToolError::Refused("the workspace itself cannot be moved.".into()));
    }
    from.may_replace(source)?;
    to.may_replace(destination)?;
    // Two roots may lie in one another, so that the same place has two names: the whole paths are
    // compared.
    let (source_path, destination_path) =
        (from.root.whole(&source.real), to.root.whole(&destination.real));
    if source_path == destination_path {
        return Err(ToolError::Refused("source and destination are the same.".into()));
    }
    if kind == Kind::Dir && destination_path.starts_with(&source_path) {
        return Err(ToolError::Refused(format!("`{}` cannot be moved into itself.", source.shown)));
    }
    let exists = |instead| Err(ToolError::Exists { path: destination.shown.clone(), instead });
    match destination.kind() {
        None => Ok(()),
        Some(Kind::Dir) => exists(
            "It is a directory: to move into it, give the full new path with the name at its end.",
        ),
        Some(_) if !overwrite => exists(TAKEN),
        Some(_) if kind == Kind::Dir => {
            exists("A directory cannot replace a file. Delete the file first.")
        }
        Some(_) => Ok(()),
    }
}
