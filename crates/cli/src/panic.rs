//! `claw panic on|off|status`: the stop switch. Must not know what runs: every process sees the
//! switch by itself.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use serde_json::json;

use super::{fail, out};
use crate::app::{App, owner_principal};
use crate::chat_commands::{self, SwitchKept};
use crate::config::{self, Config, Home, MAIN, Overrides};
use crate::domain::person;
use crate::store::flag;

/// Turns it on, whatever is wrong with the home: settings, store or disk.
pub async fn on(overrides: Overrides, as_json: bool) -> anyhow::Result<ExitCode> {
    match Config::load(overrides).map_err(anyhow::Error::from).and_then(App::open) {
        Ok(app) => set_in_app(app, true, as_json).await,
        Err(error) => on_by_flag(&error, as_json),
    }
}

/// Turns it off, as far as that can be done where claw cannot be opened: what a file holds on.
pub async fn off(overrides: Overrides, as_json: bool) -> anyhow::Result<ExitCode> {
    let agent = overrides.agent.clone();
    match Config::load(overrides).map_err(anyhow::Error::from).and_then(App::open) {
        Ok(app) => set_in_app(app, false, as_json).await,
        Err(error) => {
            let mut were_on = false;
            for home in homes(agent.as_deref())? {
                were_on |= flag::lower(&home.claw_db())
                    .context("the stop switch stays ON: a file holds it")?;
            }
            let did = if were_on {
                "the file that held the stop switch on is removed"
            } else {
                "no file holds the stop switch on"
            };
            Err(error.context(format!(
                "{did}; whether the store does cannot be read, and no call starts until claw \
                 opens again"
            )))
        }
    }
}

/// Says whether it is on, as far as that can be known where claw cannot be opened.
pub async fn status(overrides: Overrides, as_json: bool) -> anyhow::Result<ExitCode> {
    let agent = overrides.agent.clone();
    match Config::load(overrides).map_err(anyhow::Error::from).and_then(App::open) {
        Ok(app) => {
            super::tell_migration(&app.store);
            let done = say(&app, as_json);
            app.close().await;
            done
        }
        Err(error) => {
            let Some(by) =
                homes(agent.as_deref())?.iter().find_map(|home| flag::raised(&home.claw_db()))
            else {
                let unknown = "no file holds the stop switch on; whether the store does cannot be \
                    read, and no call starts until claw opens again";
                return Err(error.context(unknown));
            };
            tell(Some(&by), as_json)?;
            out::err_line(&format!("A file holds it on; claw could not be opened: {error:#}."));
            Ok(ExitCode::from(fail::DONE))
        }
    }
}

/// The home of the agent that was named, or of all.
fn homes(agent: Option<&str>) -> anyhow::Result<Vec<Home>> {
    let home = config::locate_home()?;
    Ok(match agent {
        Some(agent) if agent != MAIN => vec![home.of_agent(agent)],
        Some(_) => vec![home],
        None => std::iter::once(home.clone()).chain(home.homes_of_agents()).collect(),
    })
}

/// For all agents, because nothing is known of them.
fn on_by_flag(why: &anyhow::Error, as_json: bool) -> anyhow::Result<ExitCode> {
    let by = owner_principal();
    let mut places = Vec::new();
    for home in homes(None)? {
        let name = home.path().display();
        places.push(flag::raise(&home.claw_db(), &by).with_context(|| {
            format!(
                "the stop switch of {name} is not on: {why:#}, and no place takes a file for it"
            )
        })?);
    }
    tell(Some(&by), as_json)?;
    if let Some(place) = places.first() {
        out::err_line(&kept_in(place, &format!("claw could not be opened: {why:#}")));
    }
    Ok(ExitCode::from(fail::DONE))
}

fn kept_in(place: &Path, why: &str) -> String {
    let ends = if flag::is_in_memory(place) {
        " That is memory: after a restart of the machine the switch is off, so turn it on again."
    } else {
        ""
    };
    format!("It is kept in {}, because {why}.{ends}", place.display())
}

async fn set_in_app(app: App, on: bool, as_json: bool) -> anyhow::Result<ExitCode> {
    super::tell_migration(&app.store);
    let done = set(&app, on, as_json).await;
    app.close().await;
    done
}

async fn set(app: &App, on: bool, as_json: bool) -> anyhow::Result<ExitCode> {
    let set = chat_commands::set_panic(&app.store, on, &owner_principal()).await;
    match if on { set? } else { set.context("the stop switch stays ON")? } {
        SwitchKept::Stored => {}
        SwitchKept::InFile(place) => {
            out::err_line(&kept_in(&place, "the store cannot be written"));
        }
        SwitchKept::FileGone => {
            out::err_line(
                "A file held it on, and is removed. The store cannot be written, so the audit has \
                 no row of it.",
            );
        }
    }
    // Off for one agent is off for that one; on is on for all.
    let others = if on || !app.config.home.is_agents() { app.other_stores() } else { Vec::new() };
    let failed = chat_commands::set_panic_in_others(&others, on, &owner_principal()).await;
    failed.iter().for_each(|sentence| out::err_line(sentence));
    let done = say(app, as_json)?;
    if !others.is_empty() {
        out::err_line(&format!("This holds for all {} agents.", others.len() + 1));
    }
    Ok(if failed.is_empty() { done } else { ExitCode::from(fail::BROKEN) })
}

fn say(app: &App, as_json: bool) -> anyhow::Result<ExitCode> {
    tell(app.store.read(|tx| tx.panic())?.as_deref(), as_json)?;
    Ok(ExitCode::from(fail::DONE))
}

fn tell(by: Option<&str>, as_json: bool) -> anyhow::Result<()> {
    out::line(&match (by, as_json) {
        (_, true) => json!({"id": "panic", "on": by.is_some(), "by": by}).to_string(),
        (Some(by), false) => {
            format!(
                "The stop switch is ON (by {}): no call runs. What ran is ended, and so are modes \
                 and what `claw open` opened. `claw panic off` lets calls run again.",
                person(by)
            )
        }
        (None, false) => "The stop switch is off.".to_owned(),
    })?;
    Ok(())
}
