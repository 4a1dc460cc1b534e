//! `claw doctor`: looks at everything that claw stands on, and says what is wrong and what to do.
//! Changes nothing but what every start makes, unless it is told to repair.

mod clients;
mod disk;
mod heartbeats;
mod leftovers;
mod machine;
mod persona;
mod repair;
mod report;
mod toolbox;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use claw_kit::counted::{counted, grouped};
use secrecy::ExposeSecret as _;

use self::repair::Repair;
use self::report::Report;
use super::memory::Health;
use super::service::PARKED;
use super::{ask_person, fail, out, patience, proof};
use crate::app::{App, anchor_place};
use crate::bot_api::Api;
use crate::bot_api::settings::Telegram;
use crate::config::{self, Config, MAIN, Overrides};
use crate::domain::person;
use crate::doors::reached;
use crate::hub::ServerState;
use crate::hub::manifest::{self, ManifestError};
use crate::store::Store;
use crate::whose::{as_reached, claw};

/// How long Telegram has to say whose token it is.
const BOT_ANSWERS_IN: Duration = Duration::from_secs(10);

/// A store beyond that takes seconds to read.
const LONG_LOOK_BYTES: u64 = 64 << 20;

/// How the doctor was called.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    pub as_json: bool,
    pub repair: bool,
    pub yes: bool,
}

pub async fn run(overrides: Overrides, wanted: Wanted) -> anyhow::Result<ExitCode> {
    let mut well = true;
    let agents = agents(&overrides);
    let shared = if agents.len() > 1 { between_agents(&overrides) } else { Vec::new() };
    for (name, agent) in agents {
        let mut report = Report { agent: name, ..Report::default() };
        look(agent.clone(), &mut report).await;
        let mut repaired = 0;
        if wanted.repair {
            repaired = repair(&mut report, wanted).await?;
        }
        if repaired > 0 {
            // What was in the way of a closer look is not any more.
            report = Report { agent: report.agent, ..Report::default() };
            look(agent, &mut report).await;
        }
        if report.agent.is_none() {
            shared.iter().for_each(|(ok, text)| report.add("agents", *ok, text, None));
        }
        report.print(wanted.as_json, !wanted.repair)?;
        well &= report.well();
    }
    Ok(ExitCode::from(if well { fail::DONE } else { fail::BROKEN }))
}

/// The agents that are looked at: the one that was named, or all of them. The main one has no name
/// in what is printed.
fn agents(overrides: &Overrides) -> Vec<(Option<String>, Overrides)> {
    let named = overrides.agent.clone().filter(|name| name != MAIN);
    let mut agents = vec![(named, overrides.clone())];
    if overrides.agent.is_none() {
        // What cannot be read at all is told of the main one.
        let all = Config::load_all(overrides).unwrap_or_default();
        agents.extend(all.into_iter().map(|(name, _)| name).filter(|name| name != MAIN).map(
            |name| {
                // What is typed is for the main one.
                let (doors, agent) = (overrides.doors.clone(), Some(name.clone()));
                (Some(name), Overrides { doors, agent, ..Overrides::default() })
            },
        ));
    }
    agents
}

/// Two agents cannot be one bot.
fn same_bots(configs: &[(&String, &Config)]) -> Vec<String> {
    let mut bots = std::collections::HashMap::new();
    let mut same = Vec::new();
    for (name, config) in configs {
        for token in config.bots.iter().filter_map(|bot| bot.note.token.as_ref().ok()) {
            if let Some(other) = bots.insert(token.expose_secret().to_owned(), name) {
                same.push(format!(
                    "the agents {other} and {name} have the same token, and only one of \
                    them gets its bot"
                ));
            }
        }
    }
    same
}

/// What is between agents: who shares files or a bot, or may change who another one is. A sentence
/// each, and whether it may be so.
fn between_agents(overrides: &Overrides) -> Vec<(bool, String)> {
    let all = Config::load_all(overrides).unwrap_or_default();
    let configs: Vec<_> =
        all.iter().filter_map(|(name, config)| Some((name, config.as_ref().ok()?))).collect();
    let mut found: Vec<_> = same_bots(&configs).into_iter().map(|text| (false, text)).collect();
    for (at, (name, config)) in configs.iter().enumerate() {
        for (later, (other, theirs)) in configs.iter().enumerate().filter(|(later, _)| *later != at)
        {
            let (mine, below) = (&config.workspace, &theirs.workspace);
            if below.starts_with(mine) && (mine != below || at < later) {
                // That may be meant.
                found.push((
                    true,
                    format!("the agent {name} reaches the files of {other}: {}", below.display()),
                ));
            }
            if theirs.persona.folder.starts_with(mine) {
                let folder = theirs.persona.folder.display();
                found
                    .push((false, format!("the agent {name} can change who {other} is: {folder}")));
            }
        }
    }
    found
}

/// Carries out what was agreed to, and says so on stderr. A repair that fails is told and leaves
/// its finding.
async fn repair(report: &mut Report, wanted: Wanted) -> anyhow::Result<usize> {
    let store = report.store.take();
    let claw = reached::claw(report.agent.as_deref().unwrap_or(MAIN));
    let mut repaired = 0;
    for finding in &mut report.findings {
        let Some(repair) = finding.repair.take() else { continue };
        out::err_line(&format!("{}: {}", finding.id, out::clean(&finding.text)));
        if !wanted.yes && !ask_person::possible() {
            let told = "Nobody can be asked here; `claw doctor --repair --yes` repairs it.";
            out::err_line(&as_reached(told, &claw));
            continue;
        }
        if !wanted.yes && !ask_person::agreed(&as_reached(&repair.question(), &claw))? {
            continue;
        }
        match repair.carry_out(store.as_ref()).await {
            Ok(done) => {
                repaired += 1;
                out::err_line(&as_reached(&done, &claw));
            }
            Err(error) => out::err_line(&format!("It could not be repaired: {error:#}")),
        }
    }
    Ok(repaired)
}

async fn look(overrides: Overrides, report: &mut Report) {
    if report.agent.is_none() {
        machine::look(report);
    }
    let config = match Config::load(overrides) {
        Ok(config) => config,
        Err(error) => return unreadable_config(&error.to_string(), report),
    };
    report.good("home", config.home.path().display().to_string());
    disk::look(config.home.path(), report);
    for notice in &config.notices {
        report.good("repaired", notice);
    }
    let parked = config.home.root().join(PARKED);
    if parked.symlink_metadata().is_ok() {
        report.bad(
            "gateway",
            format!("it is parked by {}; remove that to let it run", parked.display()),
        );
    }
    report.good("work", format!("the tools work in {}", config.workspace.display()));
    zone(&config, report);
    toolbox::look(&config, report);
    bot(&config, report).await;
    persona::look(&config.persona, report);
    let mcp_json = config.home.mcp_json();
    let (claw_db, kept_apart) = (config.home.claw_db(), config.kept_apart.clone());
    let app = match App::open(config) {
        Ok(app) => app,
        // Rules are never moved aside: what they forbid would be allowed.
        Err(error)
            if error.chain().any(|cause| cause.is::<ManifestError>()) && is_no_json(&mcp_json) =>
        {
            return report.repairable("start", format!("{error:#}"), Repair::MoveAside(mcp_json));
        }
        Err(error) => {
            report.bad("start", format!("{error:#}"));
            // It may be a row that is in the way, which can be put aside all the same.
            if let Ok(store) = Store::open_anchored(&claw_db, anchor_place(&kept_apart).as_ref()) {
                leftovers::look_at_rows(&store, report);
                report.store = Some(store);
            }
            return;
        }
    };
    report.store = Some(app.store.clone());
    if let Some(migrated) = app.store.migrated() {
        report.good("migrated", migrated.to_string());
    }
    report.good("policy", format!("{} of yours", counted(app.gate.policy().rules_count(), "rule")));
    for warning in &app.warnings {
        report.bad("mcp.json", warning);
    }
    toolbox::openings_by_name(&app, report);
    heartbeats::look(&app, report);
    clients::look(&app, report);
    store(&app, report);
    leftovers::look(&app, report);
    match super::memory::look(&app) {
        (Health::Well, text) => report.good("memory", text),
        (Health::Faulty, text) => report.warn("memory", text),
        (Health::Broken, text) => report.bad("memory", text),
    }
    jobs(&app, report);
    match app.model().await {
        Ok(chosen) => chosen.whys.iter().for_each(|why| report.good("model", why)),
        Err(error) => report.bad("model", format!("{error:#}")),
    }
    servers(&app, report).await;
    app.close().await;
}

/// The scheduler keeps times by the name of their zone.
fn zone(config: &Config, report: &mut Report) {
    match claw_kit::zone::name_of(&config.zone) {
        Some(name) => report.good("time zone", name),
        None if claw_kit::zone::is_utc(&config.zone) => report.good("time zone", "UTC"),
        None => report.warn(
            "time zone",
            "this system's time zone has no name, so reminders and cron patterns are in UTC; set \
             `time_zone` in claw.toml, for example `time_zone = \"Europe/Berlin\"`",
        ),
    }
}

/// Whether there is a scheduler, and what its jobs have missed.
fn jobs(app: &App, report: &mut Report) {
    if app.scheduler().is_none() {
        let text = "mcp.json has no scheduler, so there are no reminders and no jobs: add \
            `\"scheduler\": { \"command\": \"claw\", \"args\": [\"server\", \"scheduler\"] }` \
            to its servers";
        return report.warn("jobs", text);
    }
    match app.store.read(|tx| tx.jobs_missed()) {
        Ok(0) => report.good("jobs", "no firing of a job was missed"),
        Ok(missed) => {
            let missed = match missed {
                1 => "1 firing of a job was".to_owned(),
                many => format!("{many} firings of jobs were"),
            };
            let text = format!(
                "{missed} missed and not made up: nothing of claw ran, or its conversation was in a \
                 turn until it was too late; jobs fire while `claw gateway` runs"
            );
            report.warn("jobs", text);
        }
        Err(error) => report.bad("jobs", format!("{error}")),
    }
}

/// Whether the agent's bot answers to its token.
async fn bot(config: &Config, report: &mut Report) {
    config.bots_missing().for_each(|why| report.bad("bot", why));
    let telegram = match Telegram::of(&config.doors) {
        Ok(Some(telegram)) => telegram,
        Ok(None) => return,
        Err(error) => return report.bad("bot", error.to_string()),
    };
    let api = match Api::new(&telegram.token, &telegram.api) {
        Ok(api) => api,
        Err(fault) => return report.bad("bot", fault.to_string()),
    };
    match tokio::time::timeout(BOT_ANSWERS_IN, api.me()).await {
        Ok(Ok(me)) => report.good("bot", format!("@{} answers", me.username)),
        Ok(Err(fault)) => report.bad("bot", fault.to_string()),
        Err(_) => report.bad(
            "bot",
            format!(
                "{} does not answer within {} s; look at the network, then run `claw doctor` again",
                telegram.api,
                BOT_ANSWERS_IN.as_secs()
            ),
        ),
    }
}

/// A file is moved aside only if nothing in it can be meant. Where one line of it is wrong, or a
/// variable is not set in this shell, the others hold, and a claw that runs may go by them.
fn unreadable_config(error: &str, report: &mut Report) {
    match config::locate_home() {
        Ok(home) if report.agent.is_none() && config::is_no_toml(&home) => {
            report.repairable("config", error, Repair::MoveAside(home.claw_toml()));
        }
        _ => report.bad("config", error),
    }
}

/// Whether `mcp.json` is empty or no JSON at all. Without it claw's own servers are offered, those
/// that it leaves out too.
fn is_no_json(mcp_json: &Path) -> bool {
    let Ok(Some(text)) = config::read_if_there(mcp_json) else { return false };
    matches!(manifest::read_json(&text), Ok(None) | Err(ManifestError::Syntax { .. }))
}

fn store(app: &App, report: &mut Report) {
    // Nobody should take a long look for one that hangs.
    let bytes = app.store.path().metadata().map_or(0, |file| file.len());
    if bytes > LONG_LOOK_BYTES {
        let mib = bytes >> 20;
        out::err_line(&format!(
            "claw: reading all of the store, {mib} MiB, and every row of the audit; this takes a \
             while."
        ));
    }
    match app.store.read(|tx| tx.quick_check()) {
        Ok(None) => report.good("store", app.store.path().display().to_string()),
        Ok(Some(fault)) => report.bad(
            "store",
            format!("{} is damaged: {fault}; restore a backup", app.store.path().display()),
        ),
        Err(error) => report.bad("store", error.to_string()),
    }
    match app.store.read(|tx| tx.verify_audit(None)) {
        Ok(Ok(whole)) => report.good("audit", proof::words(app, &whole)),
        Ok(Err(broken)) => report.bad("audit", proof::broken_words(&broken)),
        Err(error) => report.bad("audit", error.to_string()),
    }
    match app.store.read(|tx| tx.panic()) {
        Ok(None) => {}
        Ok(Some(by)) => {
            let by = person(&by);
            let text = format!("the stop switch is on (by {by}); `claw panic off` releases it");
            report.bad("panic", text);
        }
        Err(error) => report.bad("panic", error.to_string()),
    }
}

async fn servers(app: &App, report: &mut Report) {
    match patience::with_servers(app, app.gate.catalog().changes(None)).await {
        Ok((changes, _)) => {
            for change in changes {
                report.bad(
                    format!("tool:{}/{}", change.server, change.tool),
                    format!(
                        "{0}/{1} changed and is withheld; `{2} tools diff` shows it, and `{2} \
                         tools accept {0} {1}` takes it",
                        change.server,
                        change.tool,
                        claw(app)
                    ),
                );
            }
        }
        Err(error) => report.bad("tools", error.to_string()),
    }
    let sizes = app.gate.catalog().sizes().await;
    for server in app.gate.hub().servers() {
        match server.state {
            _ if server.disabled => report.good(
                format!("server:{}", server.name),
                format!("{} is disabled in mcp.json", server.name),
            ),
            ServerState::Up { protocol, tool_count, .. } => {
                let tools = tool_count.unwrap_or_default();
                let size = sizes.get(&server.name).copied().unwrap_or_default();
                let tokens = grouped(size.tokens);
                let shortened = match size.shortened {
                    0 => String::new(),
                    1 => " (1 is shortened for models)".to_owned(),
                    count => format!(" ({count} are shortened for models)"),
                };
                report.good(
                    format!("server:{}", server.name),
                    format!(
                        "{}: {}, {tokens} tokens{shortened}, MCP {protocol}",
                        server.name,
                        counted(tools, "tool")
                    ),
                );
            }
            ServerState::Failed { reason, .. } => {
                let reason = app.gate.redactor().redact(&reason);
                report.bad(
                    format!("server:{}", server.name),
                    format!("{0}: {reason}; {1}", server.name, next_step(app, &server.name)),
                )
            }
            ServerState::Idle | ServerState::Starting => report.bad(
                format!("server:{}", server.name),
                format!("{0} did not start; {1}", server.name, next_step(app, &server.name)),
            ),
        }
    }
}

/// What to do about a server that does not work.
fn next_step(app: &App, name: &str) -> String {
    format!("mend its entry in mcp.json, then `{} mcp test {name}` tries it", claw(app))
}
