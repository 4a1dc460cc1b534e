//! `claw digest`: what ran without a question in the last 24 hours, and by what. Must not
//! know how it is counted.

use std::process::ExitCode;

use claw_kit::counted::counted;
use serde_json::json;

use super::{fail, out};
use crate::app::App;
use crate::chat_commands::{DigestLine, NOTHING_RAN, digest_lines};
use crate::whose::claw;

pub async fn run(app: &App, as_json: bool) -> anyhow::Result<ExitCode> {
    let lines = digest_lines(&app.store, &app.gate).await?;
    for line in &lines {
        out::line(&if as_json { object(line).to_string() } else { text(line) })?;
    }
    if !as_json && lines.is_empty() {
        out::err_line(NOTHING_RAN);
    } else if !as_json && lines.iter().any(|line| line.grant.is_some()) {
        out::err_line(&format!("`{} grants revoke ID` takes a grant back.", claw(app)));
    }
    Ok(ExitCode::from(fail::DONE))
}

fn object(line: &DigestLine) -> serde_json::Value {
    json!({
        "id": line.rule, "calls": line.calls, "danger": line.danger, "grant": line.grant,
        "says": line.says, "in_force": line.in_force,
    })
}

fn text(line: &DigestLine) -> String {
    let danger = if line.danger { "⚠" } else { " " };
    let ended = if line.grant.is_some() && !line.in_force { " (ended)" } else { "" };
    format!("{danger} {} {}{ended}", counted(line.calls, "call"), out::clean(&line.by()))
}
