//! `claw memory forget` and `restore`: into the trash, and back.

use std::process::ExitCode;

use claw_mcp_memory::{Notes, Said};
use serde_json::json;

use super::tool;
use crate::cli::{fail, out};

pub async fn forget(notes: &Notes, id: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    let done = tool(notes, "forget", json!({ "id": id })).await?;
    tell(&done, as_json)?;
    if !as_json {
        out::err_line(&out::clean(&format!("`claw memory restore {id}` brings it back.")));
    }
    Ok(ExitCode::from(fail::DONE))
}

pub async fn restore(notes: &Notes, id: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    let done = tool(notes, "restore", json!({ "id": id })).await?;
    tell(&done, as_json)?;
    Ok(ExitCode::from(fail::DONE))
}

fn tell(done: &Said, as_json: bool) -> Result<(), out::Unwritten> {
    match as_json {
        true => out::line(&done.structured.to_string()),
        false => out::line(&out::clean(&done.text)),
    }
}
