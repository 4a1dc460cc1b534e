//! `claw gateway`: runs the doors of all agents until it is told to stop. Owns the order of start
//! and end, and that what goes wrong with one agent ends no other; must not know any door by its
//! name, what is said, or how it is shown.

use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use secrecy::ExposeSecret as _;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::{Id, JoinSet};

use super::gateway_agent::{AgentAtWork, fallen};
use crate::config::{BotNote, Config, OfAgent, Overrides, locate_home};
use crate::doors::entry::{DoorEntries, GatewayDoor};
use crate::doors::gateway::fleet::Fleet;
use crate::doors::gateway::{open_files, service};
use crate::doors::reached;
use crate::fail::{self, UserError};
use crate::mail::Instance;
use crate::out;
use crate::service::PARKED;

/// How often it is looked whether the gateway was parked.
const LOOK_PARKED: Duration = Duration::from_secs(2);
/// Where an agent stands of which it is not known which door it was meant for.
const ANY_DOOR: &str = "";

/// An agent that has a bot, or was meant to have one.
struct Meant {
    name: String,
    /// Its settings, and the bots that it has, by their doors.
    settings: Result<(Config, Vec<BotAtDoor>), anyhow::Error>,
}

/// A bot that can be started.
pub(super) struct BotAtDoor {
    /// The section of its door.
    pub(super) section: &'static str,
    pub(super) door: GatewayDoor,
    /// Who hears what needs a human.
    pub(super) chat: Option<i64>,
}

pub async fn run(overrides: Overrides, doors: DoorEntries) -> anyhow::Result<ExitCode> {
    let configs = configs(&overrides)?;
    let home =
        configs.iter().find_map(|(_, config)| Some(config.as_ref().ok()?.home.root().to_owned()));
    let home = match home {
        Some(home) => home,
        None => locate_home()?.root().to_owned(),
    };
    let parked = home.join(PARKED);
    if parked.symlink_metadata().is_ok() {
        out::err_line(&format!(
            "claw: the gateway is parked; remove {} and start it again.",
            parked.display()
        ));
        return Ok(ExitCode::from(fail::DONE));
    }
    let cards = configs
        .iter()
        .find_map(|(_, config)| Some(config.as_ref().ok()?.agents.clone()))
        .unwrap_or_default();
    let loaded = configs.iter().filter_map(|(_, config)| config.as_ref().ok());
    let without = without_a_bot(loaded);
    let mut meant = with_a_bot(configs, doors);
    match &mut meant[..] {
        [] => {
            return Err(UserError::because(format!(
                "no door is configured: run `claw init`, or {}, then start `claw gateway` \
                 again{without}",
                overrides.doors.bot_set_up()
            )));
        }
        [only] if only.settings.is_err() => {
            return Err(meant
                .remove(0)
                .settings
                .err()
                .unwrap_or_else(|| anyhow::anyhow!("no settings")));
        }
        _ => {}
    }
    open_files::raise_limit();
    let locks = home.join("locks");
    let only = Instance::only(&locks, "gateway")
        .with_context(|| format!("cannot lock {}", locks.display()))?;
    let Some(_only) = only else {
        return Err(UserError::because(
            "another gateway runs on this home already; stop that one first",
        ));
    };
    let fleet = Fleet::new(cards, meant.iter().flat_map(seats));
    keep(&fleet, meant, doors, &parked).await
}

/// Where its bots stand.
fn seats(meant: &Meant) -> Vec<(String, &'static str)> {
    let sections = match &meant.settings {
        Ok((_, bots)) => bots.iter().map(|bot| bot.section).collect(),
        Err(_) => vec![ANY_DOOR],
    };
    sections.into_iter().map(|section| (meant.name.clone(), section)).collect()
}

/// The settings of the agent that was named, or of all.
fn configs(overrides: &Overrides) -> anyhow::Result<Vec<OfAgent>> {
    match &overrides.agent {
        Some(name) => Ok(vec![(name.clone(), Ok(Config::load(overrides.clone())?))]),
        None => Ok(Config::load_all(overrides)?),
    }
}

/// The end of a sentence about what has no bot: what serves the clients that one of these agents is
/// to serve. Empty if none is.
pub(super) fn without_a_bot<'a>(mut configs: impl Iterator<Item = &'a Config>) -> String {
    let http = configs.find_map(|config| Some((&config.agent.name, config.serve.http?)));
    http.map_or_else(String::new, |(agent, address)| {
        let claw = reached::claw(agent);
        format!("; without a bot, `{claw} serve --http {address}` serves MCP clients")
    })
}

/// Those that have a bot or were meant to have one.
fn with_a_bot(configs: Vec<OfAgent>, doors: DoorEntries) -> Vec<Meant> {
    let mut owners: HashMap<String, String> = HashMap::new();
    let mut meant = Vec::new();
    for (name, config) in configs {
        let settings = match config {
            Err(error) => Err(error.into()),
            Ok(config) if config.bots.is_empty() => continue,
            Ok(config) => bots_of(&name, &config, doors, &mut owners).map(|bots| (config, bots)),
        };
        meant.push(Meant { name, settings });
    }
    meant
}

/// The bots of one agent that can be started. Two agents cannot be one bot.
///
/// # Errors
/// There is none, and why.
fn bots_of(
    name: &str,
    config: &Config,
    doors: DoorEntries,
    owners: &mut HashMap<String, String>,
) -> anyhow::Result<Vec<BotAtDoor>> {
    let (mut bots, mut missing) = (Vec::new(), None);
    for bot in &config.bots {
        let (section, BotNote { token, chat }) = (bot.door.name, &bot.note);
        let found = token.as_ref().map_err(|why| format!("{why}; set one of them"));
        let found = found.and_then(|token| {
            match owners.insert(token.expose_secret().to_owned(), name.to_owned()) {
                None => Ok(()),
                Some(other) => {
                    let from = bot.door.bot_help.as_ref().map_or("its maker", |it| it.tokens_from);
                    Err(format!(
                        "its token is that of the agent {other}, and a bot has one agent; get a \
                         token of its own from {from}"
                    ))
                }
            }
        });
        match (found, gateway_door(doors, section)) {
            (Ok(()), Some(door)) => bots.push(BotAtDoor { section, door, chat: *chat }),
            (Ok(()), None) => {}
            (Err(why), _) => {
                // The others of this agent start all the same.
                if config.bots.len() > 1 {
                    out::err_line(&format!("claw: {name}: {section}: {}", out::clean(&why)));
                }
                missing.get_or_insert(why);
            }
        }
    }
    match missing {
        Some(why) if bots.is_empty() => Err(UserError::because(why)),
        _ => Ok(bots),
    }
}

/// The door that runs the bots of a section.
fn gateway_door(doors: DoorEntries, section: &str) -> Option<GatewayDoor> {
    doors.iter().filter_map(|door| door.gateway).find(|door| door.bots_of == Some(section))
}

/// An agent at work, for when it ends by itself.
struct Seat {
    name: String,
    sections: Vec<&'static str>,
    chat: Option<i64>,
}

/// Runs all of them. The gateway ends when it is told to, or when none is left.
async fn keep(
    fleet: &Arc<Fleet>,
    meant: Vec<Meant>,
    doors: DoorEntries,
    parked: &Path,
) -> anyhow::Result<ExitCode> {
    let mut ends = Ends::new()?;
    let (mut members, mut names) = (JoinSet::new(), HashMap::<Id, Seat>::new());
    let mut failed = None;
    let beside: Vec<_> = doors.iter().filter_map(|door| door.gateway).collect();
    let beside: Vec<_> = beside.into_iter().filter(|door| door.bots_of.is_none()).collect();
    for Meant { name, settings } in meant {
        match settings {
            Ok((config, bots)) => {
                let chat = bots.iter().find_map(|bot| bot.chat);
                let sections = bots.iter().map(|bot| bot.section).collect();
                let at_work = AgentAtWork { fleet: fleet.clone(), bots, beside: beside.clone() };
                let task = members.spawn(at_work.run(config));
                names.insert(task.id(), Seat { name, sections, chat });
            }
            Err(error) => {
                fallen(fleet, &name, &[ANY_DOOR], None, &error);
                failed.get_or_insert(error);
            }
        }
    }
    let telling = fleet.clone();
    let telling = claw_kit::task::spawn(async move { telling.tell_around().await });
    let alive = service::keep_alive(fleet);
    let mut alive = std::pin::pin!(alive);
    let begun = fleet.any_at_work();
    let mut begun = std::pin::pin!(begun);
    let mut ready = false;
    loop {
        tokio::select! {
            () = ends.next() => break,
            () = appears(parked) => {
                out::err_line(&format!("claw: {} is there, so the gateway ends.", parked.display()));
                break;
            }
            () = &mut begun, if !ready => {
                ready = true;
                service::ready();
            }
            () = &mut alive, if ready => {}
            ended = members.join_next_with_id() => {
                let Some(ended) = ended else { break };
                let (id, error) = match ended {
                    Ok((id, Ok(()))) => (id, anyhow::anyhow!("it has ended by itself, which is a bug in claw")),
                    Ok((id, Err(error))) => (id, error),
                    Err(bug) => (bug.id(), anyhow::anyhow!("a bug in claw has ended it: {bug}")),
                };
                if let Some(Seat { name, sections, chat }) = names.remove(&id) {
                    fallen(fleet, &name, &sections, chat, &error);
                    failed.get_or_insert(error);
                }
                if members.is_empty() {
                    break;
                }
            }
        }
    }
    service::ending();
    telling.abort();
    if members.is_empty() {
        return Err(failed.unwrap_or_else(|| anyhow::anyhow!("no agent is at work")));
    }
    fleet.closing.cancel();
    // Whatever is still at it when a second request comes goes on from its log at the next start.
    tokio::select! {
        () = async { while members.join_next().await.is_some() {} } => {}
        () = ends.next() => {}
    }
    Ok(ExitCode::from(fail::DONE))
}

/// Waits until somebody parks the gateway.
async fn appears(file: &Path) {
    while file.symlink_metadata().is_err() {
        tokio::time::sleep(LOOK_PARKED).await;
    }
}

/// The requests to stop: SIGINT and SIGTERM.
struct Ends {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

impl Ends {
    fn new() -> anyhow::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
