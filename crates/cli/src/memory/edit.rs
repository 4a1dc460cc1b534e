//! `claw memory edit`: a note's file in its owner's editor, and what is read of it afterwards.

use std::path::Path;
use std::process::{Command, ExitCode};

use claw_mcp_memory::Notes;
use serde_json::json;

use super::{names_one, said, tool};
use crate::config::Config;
use crate::fail::UserError;
use crate::{fail, out};

pub async fn run(notes: &Notes, id: &str, config: &Config) -> anyhow::Result<ExitCode> {
    names_one(notes, id)?;
    let note = tool(notes, "read", json!({ "id": id })).await?.structured;
    let path = said(&note, "path").to_owned();
    let file = notes.folder().join(&path);
    let set = |name: &str| config.env.get(name).map(str::trim).filter(|value| !value.is_empty());
    let Some(editor) = set("VISUAL").or_else(|| set("EDITOR")) else {
        return Err(UserError::because(format!(
            "neither VISUAL nor EDITOR is set; set one, or edit {} yourself: claw sees the change",
            file.display()
        )));
    };
    let ended = edit(editor, &file)?;
    let now = match tool(notes, "read", json!({ "id": path })).await {
        Ok(now) => now.structured,
        Err(_) => {
            out::err_line("The file is gone, so the note is forgotten.");
            return Ok(ExitCode::from(fail::DONE));
        }
    };
    let fault = said(&now, "fault");
    if !fault.is_empty() {
        out::err_line(&out::clean(&format!("To be mended in {}: {fault}.", file.display())));
        return Ok(ExitCode::from(fail::BROKEN));
    }
    let changed = if now["version"] == note["version"] { "Unchanged" } else { "Changed" };
    out::line(&out::clean(&format!(
        "{changed}: {} [{}]",
        said(&now, "subject"),
        said(&now, "id")
    )))?;
    Ok(ExitCode::from(if ended { fail::DONE } else { fail::BROKEN }))
}

/// The owner's own program, at the owner's own terminal. Whether it says that all went well.
#[expect(clippy::disallowed_methods, reason = "the editor of the person who typed the command")]
fn edit(editor: &str, file: &Path) -> anyhow::Result<bool> {
    // As git and others do: `code --wait` is a program and an argument.
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or_default();
    let status = Command::new(program).args(words).arg(file).status().map_err(|error| {
        UserError::because(format!("the editor `{editor}` does not start: {error}"))
    })?;
    Ok(status.success())
}
