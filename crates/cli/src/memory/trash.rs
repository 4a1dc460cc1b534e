//! `claw memory forget` and `restore`: into the trash, and back.

use std::process::ExitCode;

use claw_mcp_memory::{LibraryResult, Notes};
use serde_json::json;

use super::{said, tool};
use crate::{fail, out};

pub async fn forget(
    claw: &str,
    notes: &Notes,
    id: &str,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let done = tool(notes, "forget", json!({ "id": id })).await?;
    if as_json {
        tell(&done, as_json)?;
        return Ok(ExitCode::from(fail::DONE));
    }
    let (subject, id) = (said(&done.structured, "subject"), said(&done.structured, "id"));
    out::line(&out::clean(&format!("Forgotten: {subject} [{id}]")))?;
    out::err_line(&out::clean(&format!("`{claw} memory restore {id}` brings it back.")));
    Ok(ExitCode::from(fail::DONE))
}

pub async fn restore(notes: &Notes, id: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    let done = tool(notes, "restore", json!({ "id": id })).await?;
    tell(&done, as_json)?;
    Ok(ExitCode::from(fail::DONE))
}

fn tell(done: &LibraryResult, as_json: bool) -> Result<(), out::Unwritten> {
    match as_json {
        true => out::line(&done.structured.to_string()),
        false => out::line(&out::clean(&done.text)),
    }
}
