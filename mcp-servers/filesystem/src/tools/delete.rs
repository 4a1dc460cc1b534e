//! `delete`: removes a file, a symbolic link, an empty directory, or a whole tree when that is
//! said.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use cap_std::fs::Dir;
use claw_kit::counted::counted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{About, Effect, Reply, ToolDef, Workspace, on_workspace};
use crate::access::Access;
use crate::cancel::Cancel;
use crate::enter::enter;
use crate::error::{Result, ToolError};
use crate::kind::Kind;
use crate::resolve::{DEPTH_MAX, Last, Missing};

pub fn tool() -> ToolDef {
    About {
        name: "delete",
        title: "Delete",
        description: "Deletes a file, a symbolic link (never what it leads to) or an empty directory of the workspace. A directory \
                      with something in it is deleted only with recursive: true, with everything below it; there is no way \
                      back. The workspace itself is never deleted.",
        effect: Effect::Changes { destructive: true, idempotent: false },
    }
    .tool(on_workspace(run))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// What to delete, relative to the workspace.
    path: String,
    /// Delete a directory with everything in it. Default: false.
    #[serde(default)]
    recursive: bool,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    path: String,
    #[serde(rename = "type")]
    kind: Kind,
    /// Files, links and directories that are gone, the one named included.
    removed_entries: u64,
}

fn run(workspace: &Workspace, input: Input, cancel: &Cancel) -> Result<Reply<Output>> {
    let _changing = workspace.changing();
    cancel.check()?;
    let access = workspace.to_change(&input.path);
    let place = access.resolve(&input.path, Last::Keep, Missing::Fail)?;
    let Some(name) = &place.name else {
        return Err(ToolError::Refused(
            "the workspace itself is never deleted. Name something in it.".into(),
        ));
    };
    access.may_replace(&place)?;
    let kind = place.kind().unwrap_or(Kind::Other);
    let mut removal = Removal { access: &access, cancel, removed: 0 };
    let outcome = if kind == Kind::Dir && input.recursive {
        removal.tree(&place.parent, name, &place.real, 1)
    } else if kind == Kind::Dir {
        removal.empty_dir(&place.parent, name, &place.real)
    } else {
        removal.entry(&place.parent, name, &place.real)
    };
    let removed_entries = removal.removed;
    outcome.map_err(|error| match removed_entries {
        0 => error,
        removed => ToolError::Refused(format!(
            "{} of `{}` {} deleted, then: {error}",
            counted(removed, "entry"),
            place.shown,
            if removed == 1 { "was" } else { "were" }
        )),
    })?;
    let output = Output { path: access.root.shown(&place.real), kind, removed_entries };
    let text = if removed_entries == 1 {
        format!("Deleted `{}` ({}).", output.path, kind.phrase())
    } else {
        format!("Deleted `{}` and everything in it: {removed_entries} entries.", output.path)
    };
    Ok(Reply::of_text(vec![text], output))
}

struct Removal<'a> {
    access: &'a Access<'a>,
    cancel: &'a Cancel,
    removed: u64,
}

impl Removal<'_> {
    /// Removes a name that is no directory. A link is removed, never followed.
    fn entry(&mut self, parent: &Dir, name: &OsStr, real: &Path) -> Result<()> {
        parent
            .remove_file(name)
            .map_err(|error| ToolError::io("delete", self.access.root.shown(real), &error))?;
        self.removed += 1;
        Ok(())
    }

    fn empty_dir(&mut self, parent: &Dir, name: &OsStr, real: &Path) -> Result<()> {
        parent.remove_dir(name).map_err(|error| {
            if error.kind() == io::ErrorKind::DirectoryNotEmpty {
                let path = self.access.root.shown(real);
                return ToolError::Refused(format!(
                    "`{path}` is not empty, so it was not deleted. Look at it with list_dir; recursive: true deletes it with \
                     everything in it."
                ));
            }
            ToolError::io("delete", self.access.root.shown(real), &error)
        })?;
        self.removed += 1;
        Ok(())
    }

    fn tree(&mut self, parent: &Dir, name: &OsStr, real: &Path, depth: usize) -> Result<()> {
        if depth > DEPTH_MAX {
            return Err(ToolError::Refused(format!(
                "`{}` is more than {DEPTH_MAX} levels deep.",
                self.access.root.shown(real)
            )));
        }
        let dir = enter(parent, name, real, &self.access.guard)
            .map_err(|error| error.into_tool_error(&self.access.root.shown(real)))?;
        let fail = |error: io::Error| ToolError::io("list", self.access.root.shown(real), &error);
        for entry in dir.entries().map_err(fail)? {
            self.cancel.check()?;
            let entry = entry.map_err(fail)?;
            let (name, path) = (entry.file_name(), real.join(entry.file_name()));
            if entry.file_type().map_err(fail)?.is_dir() {
                self.tree(&dir, &name, &path, depth + 1)?;
            } else {
                self.entry(&dir, &name, &path)?;
            }
        }
        self.empty_dir(parent, name, real)
    }
}
