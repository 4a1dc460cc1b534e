//! `claw panic on|off|status`: the stop switch. Must not know what runs: every process sees the switch by itself.

use std::process::ExitCode;

use serde_json::json;

use super::{fail, out};
use crate::app::{App, owner_principal};
use crate::desk;

pub async fn set(app: &App, on: bool, as_json: bool) -> anyhow::Result<ExitCode> {
    desk::set_panic(&app.store, on, &owner_principal()).await?;
    // Off for one agent is off for that one; on is on for all.
    let others = if on || !app.config.home.is_agents() { app.other_stores() } else { Vec::new() };
    let failed = desk::set_panic_in_others(&others, on, &owner_principal()).await;
    failed.iter().for_each(|sentence| out::err_line(sentence));
    let done = status(app, as_json)?;
    if !others.is_empty() {
        out::err_line(&format!("This holds for all {} agents.", others.len() + 1));
    }
    Ok(if failed.is_empty() { done } else { ExitCode::from(fail::BROKEN) })
}

pub fn status(app: &App, as_json: bool) -> anyhow::Result<ExitCode> {
    let by = app.store.read(|tx| tx.panic())?;
    out::line(&match (&by, as_json) {
        (_, true) => json!({"id": "panic", "on": by.is_some(), "by": by}).to_string(),
        (Some(by), false) => {
            format!("The stop switch is ON ({by}): no call runs, what ran is ended. `claw panic off` releases it.")
        }
        (None, false) => "The stop switch is off.".to_owned(),
    })?;
    Ok(ExitCode::from(fail::DONE))
}
