//! `claw panic on|off|status`: the stop switch. Must not know what runs: every process sees the switch by itself.

use std::process::ExitCode;

use anyhow::Context as _;
use serde_json::json;

use super::{fail, out};
use crate::app::{App, owner_principal};
use crate::config::{self, Config, Overrides};
use crate::desk;
use crate::store::flag;

/// Turns it on, whatever is wrong with the home: settings, store or disk.
pub async fn on(overrides: Overrides, as_json: bool) -> anyhow::Result<ExitCode> {
    match Config::load(overrides).map_err(anyhow::Error::from).and_then(App::open) {
        Ok(app) => {
            super::tell_migration(&app.store);
            let done = set(&app, true, as_json).await;
            app.close().await;
            done
        }
        Err(error) => on_by_flag(&error, as_json),
    }
}

/// For all agents, because nothing is known of them.
fn on_by_flag(why: &anyhow::Error, as_json: bool) -> anyhow::Result<ExitCode> {
    let home = config::locate_home()?;
    let by = owner_principal();
    let place = flag::raise(&home.claw_db(), &by)
        .with_context(|| format!("the stop switch is not on: {why:#}, and no place takes a flag for it"))?;
    for agent in home.homes_of_agents() {
        flag::raise(&agent.claw_db(), &by)
            .with_context(|| format!("the stop switch of {} is not on", agent.path().display()))?;
    }
    tell(Some(&by), as_json)?;
    out::err_line(&format!("It is kept in {}, because claw could not be opened: {why:#}.", place.display()));
    Ok(ExitCode::from(fail::DONE))
}

pub async fn set(app: &App, on: bool, as_json: bool) -> anyhow::Result<ExitCode> {
    if let Some(place) = desk::set_panic(&app.store, on, &owner_principal()).await? {
        out::err_line(&format!("It is kept in {}, because the store cannot be written.", place.display()));
    }
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
    tell(app.store.read(|tx| tx.panic())?.as_deref(), as_json)?;
    Ok(ExitCode::from(fail::DONE))
}

fn tell(by: Option<&str>, as_json: bool) -> anyhow::Result<()> {
    out::line(&match (by, as_json) {
        (_, true) => json!({"id": "panic", "on": by.is_some(), "by": by}).to_string(),
        (Some(by), false) => {
            format!("The stop switch is ON ({by}): no call runs, what ran is ended. `claw panic off` releases it.")
        }
        (None, false) => "The stop switch is off.".to_owned(),
    })?;
    Ok(())
}
