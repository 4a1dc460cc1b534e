//! `claw memory add`: a note in its owner's words, at once and without a model.

use std::io::Read as _;
use std::process::ExitCode;

use claw_mcp_memory::Notes;
use serde_json::json;

use super::{owner, tool};
use crate::cli::fail::UserError;
use crate::cli::{fail, out};

pub struct Wanted {
    pub text: String,
    pub subject: Option<String>,
    pub kind: Option<String>,
    pub tags: Vec<String>,
}

/// Of standard input; a note holds less.
const INPUT_BYTES_MAX: u64 = 1024 * 1024;

pub async fn run(notes: &Notes, wanted: Wanted, as_json: bool) -> anyhow::Result<ExitCode> {
    let text = if wanted.text == "-" { piped()? } else { wanted.text };
    let arguments = json!({
        "text": text, "subject": wanted.subject, "kind": wanted.kind, "tags": wanted.tags,
        "source": owner(),
    });
    let done = tool(notes, "remember", arguments).await?;
    match as_json {
        true => out::line(&done.structured.to_string())?,
        false => out::line(&out::clean(&done.text))?,
    }
    Ok(ExitCode::from(fail::DONE))
}

fn piped() -> anyhow::Result<String> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(INPUT_BYTES_MAX).read_to_string(&mut text);
    read.map_err(|error| UserError::because(format!("standard input cannot be read: {error}")))?;
    Ok(text)
}
