//! `claw memory add`: a note in its owner's words, at once and without a model.

use std::io::Read as _;
use std::process::ExitCode;

use claw_mcp_memory::Notes;
use serde_json::json;

use super::{owner, tool};
use crate::app::App;
use crate::fail::UserError;
use crate::{fail, out};

pub struct Wanted {
    pub text: String,
    /// As a line of the file that every prompt holds.
    pub always: bool,
    pub subject: Option<String>,
    pub kind: Option<String>,
    pub tags: Vec<String>,
}

/// Of standard input, in bytes; a note holds less.
const INPUT_BYTES_MAX: u64 = 1024 * 1024;

pub async fn run(
    app: &App,
    notes: &Notes,
    wanted: Wanted,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let text = if wanted.text == "-" { piped()? } else { wanted.text };
    if text.trim().is_empty() {
        return Err(UserError::because(
            "there is nothing to remember; give the words, such as `claw memory add \"Anna's phone: \
             0664 1234\"`",
        ));
    }
    let arguments = match wanted.always {
        // What it was until now stays in the history of the persona.
        true => {
            if let Some(fault) = app.keep_persona() {
                return Err(UserError::because(fault));
            }
            json!({ "text": text, "where": "always" })
        }
        false => json!({
            "text": text, "subject": wanted.subject, "kind": wanted.kind, "tags": wanted.tags,
            "source": owner(),
        }),
    };
    let done = tool(notes, "remember", arguments).await?;
    match as_json {
        true => out::line(&done.structured.to_string())?,
        false => out::line(&out::clean(&done.text))?,
    }
    Ok(ExitCode::from(fail::DONE))
}

fn piped() -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(INPUT_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| UserError::because(format!("standard input cannot be read: {error}")))?;
    if bytes.len() as u64 > INPUT_BYTES_MAX {
        return Err(UserError::because(
            "standard input has more than 1 MiB, so nothing was remembered; split it into several \
             notes",
        ));
    }
    String::from_utf8(bytes).map_err(|_| {
        UserError::because("standard input is not UTF-8 text, so nothing was remembered")
    })
}
