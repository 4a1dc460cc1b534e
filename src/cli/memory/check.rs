//! `claw memory check`, and what the doctor says of the memory: whether the index equals the files.

use std::process::ExitCode;

use claw_mcp_memory::Notes;
use serde_json::json;

use super::{HOW_TO_ADD, open};
use crate::app::App;
use crate::cli::{fail, out};

pub fn run(notes: &Notes, as_json: bool) -> anyhow::Result<ExitCode> {
    let report = notes.check().map_err(anyhow::Error::msg)?;
    if as_json {
        let folder = notes.folder().display().to_string();
        out::line(
            &json!({"id": folder, "ok": report.is_equal, "lines": report.lines}).to_string(),
        )?;
    } else {
        report.lines.iter().try_for_each(|line| out::line(&out::clean(line)))?;
    }
    Ok(ExitCode::from(if report.is_equal { fail::DONE } else { fail::BROKEN }))
}

/// For the doctor: whether it is well, and a sentence.
pub fn look(app: &App) -> (bool, String) {
    if app.memory().is_none() {
        return (true, format!("claw remembers nothing of what it is told; {HOW_TO_ADD}"));
    }
    match open(app).and_then(|notes| notes.look().map_err(anyhow::Error::msg)) {
        Ok(report) => {
            // What a person should look at is told in full by the command.
            let more = match report.lines.len() {
                0 | 1 => String::new(),
                many => format!(" `claw memory check` names {} more.", many - 1),
            };
            let last = report.lines.last().cloned().unwrap_or_default();
            (report.is_equal, format!("{last}{more}"))
        }
        Err(error) => (false, format!("{error:#}")),
    }
}
