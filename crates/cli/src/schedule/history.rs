//! `claw schedule history`: what became of jobs and of their firings.

use std::process::ExitCode;

use claw_mcp_scheduler::Jobs;
use serde_json::{Value, json};

use super::{id, tool};
use crate::calls::job_words::{moment, number};
use crate::{fail, out};

pub async fn run(
    jobs: &Jobs,
    typed: Option<&str>,
    limit: u32,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let arguments = json!({ "id": typed.map(id), "limit": limit });
    let page = tool(jobs, "history", arguments).await?;
    let rows = page["rows"].as_array().cloned().unwrap_or_default();
    for row in &rows {
        out::line(&if as_json { with_id(row).to_string() } else { out::clean(&line(row)) })?;
    }
    if rows.is_empty() && !as_json {
        out::err_line("The history holds nothing of that.");
    }
    if !page["more"].is_null() && !as_json {
        out::err_line("There is more: --limit NUMBER shows it.");
    }
    if let Some(missed) = page["missed"].as_u64().filter(|missed| *missed > 0 && !as_json) {
        out::err_line(&format!("Missed in all: {missed}. They were not made up."));
    }
    Ok(ExitCode::from(fail::DONE))
}

/// Every list of claw's has an `id`: here what the row is about.
fn with_id(row: &Value) -> Value {
    let mut row = row.clone();
    let about = if row["firing"].is_string() { &row["firing"] } else { &row["job"] };
    row["id"] = about.clone();
    row
}

fn line(row: &Value) -> String {
    let event = match row["event"].as_str().unwrap_or_default() {
        "scheduled" => "made",
        "due" => "came due",
        "run" => "was asked for",
        "taken" => "was done",
        "missed" => "was missed",
        "overlapped" => "was left out: the one before still waited",
        "expired" => "waited too long",
        "withdrawn" => "was taken back",
        other => other,
    };
    let count = match row["count"].as_u64() {
        Some(count) if count > 1 => format!(" {count} times"),
        _ => String::new(),
    };
    let text = row["line"].as_str().unwrap_or_default();
    let job = number(row["job"].as_str().unwrap_or_default()).to_owned();
    format!("{}  {job:>3} {event}{count}: {text}", moment(&row["at"]))
}
