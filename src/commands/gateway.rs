//! `claw gateway`: runs the doors of all agents until it is told to stop. Owns the order of start
//! and end, and that what goes wrong with one agent ends no other; must not know what is said, or
//! how it is shown.

use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use secrecy::ExposeSecret as _;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::{Id, JoinSet};

use claw_cli::fail::{self, UserError};
use claw_cli::out;
use claw_cli::service::PARKED;
use claw_core::app::App;
use claw_core::config::{Config, OfAgent, Overrides, Telegram, locate_home};
use claw_core::mail::Instance;
use claw_door_mcp::door::Serves;
use claw_door_mcp::http::Http;
use claw_door_mcp::serving::Serving;
use claw_door_mcp::socket::SOCKET;
use claw_door_telegram::run::member::{self, Member};
use claw_doors::gateway::fleet::Fleet;
use claw_doors::gateway::{open_files, service};

/// How often it is looked whether the gateway was parked.
const LOOK_PARKED: Duration = Duration::from_secs(2);

/// An agent that has a bot, or was meant to have one.
struct Meant {
    name: String,
    settings: Result<(Config, Telegram), anyhow::Error>,
    /// Who hears what needs a human.
    chat: Option<i64>,
}

pub async fn run(overrides: Overrides) -> anyhow::Result<ExitCode> {
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
    let mut meant = with_a_bot(configs);
    match &mut meant[..] {
        [] => {
            return Err(UserError::because(
                "no door is configured: run `claw init`, or set TELEGRAM_BOT_TOKEN (from \
                 @BotFather) and CLAW_ALLOWED_CHATS (your numeric Telegram id), then start `claw \
                 gateway` again",
            ));
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
    let fleet = Fleet::new(cards, meant.iter().map(|meant| meant.name.clone()));
    keep(&fleet, meant, &parked).await
}

/// The settings of the agent that was named, or of all.
fn configs(overrides: &Overrides) -> anyhow::Result<Vec<OfAgent>> {
    match &overrides.agent {
        Some(name) => Ok(vec![(name.clone(), Ok(Config::load(overrides.clone())?))]),
        None => Ok(Config::load_all(overrides)?),
    }
}

/// Those that have a bot or were meant to have one. Two agents cannot be one bot.
fn with_a_bot(configs: Vec<OfAgent>) -> Vec<Meant> {
    let mut bots: HashMap<String, String> = HashMap::new();
    let mut meant = Vec::new();
    for (name, config) in configs {
        let config = match config {
            Ok(config) => config,
            Err(error) => {
                meant.push(Meant { name, settings: Err(error.into()), chat: None });
                continue;
            }
        };
        match config.telegram.clone() {
            Some(telegram) => {
                let chat = telegram.notify_chat;
                let other = bots.insert(telegram.token.expose_secret().to_owned(), name.clone());
                let settings = match other {
                    Some(other) => Err(UserError::because(format!(
                        "its token is that of the agent {other}, and a bot has one agent; get a \
                         token of its own from @BotFather"
                    ))),
                    None => Ok((config, telegram)),
                };
                meant.push(Meant { name, settings, chat });
            }
            None => {
                let missing = config.bot_missing.clone();
                let settings =
                    missing.map(|why| Err(UserError::because(format!("{why}; set one of them"))));
                meant.extend(settings.map(|settings| Meant { name, settings, chat: None }));
            }
        }
    }
    meant
}

/// Runs all of them. The gateway ends when it is told to, or when none is left.
async fn keep(fleet: &Arc<Fleet>, meant: Vec<Meant>, parked: &Path) -> anyhow::Result<ExitCode> {
    let mut ends = Ends::new()?;
    let (mut members, mut names) = (JoinSet::new(), HashMap::<Id, (String, Option<i64>)>::new());
    let mut failed = None;
    for Meant { name, settings, chat } in meant {
        match settings {
            Ok((config, telegram)) => {
                let task = members.spawn(run_member(fleet.clone(), config, telegram));
                names.insert(task.id(), (name, chat));
            }
            Err(error) => fallen(fleet, &name, chat, error, &mut failed),
        }
    }
    let telling = fleet.clone();
    let telling = tokio::spawn(async move { telling.tell_around().await });
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
                if let Some((name, chat)) = names.remove(&id) {
                    fallen(fleet, &name, chat, error, &mut failed);
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

/// Runs one agent, from its home to its end.
///
/// # Errors
/// It cannot be started at all: its settings, its home or its token are wrong.
async fn run_member(fleet: Arc<Fleet>, config: Config, telegram: Telegram) -> anyhow::Result<()> {
    let app = Arc::new(App::open(config)?);
    claw_cli::tell_migration(&app.store);
    let agent = app.config.agent.name.clone();
    let whose = if fleet.is_many() { format!("{agent}: ") } else { String::new() };
    claw_cli::undo::finish_cut(&app, |line| {
        out::err_line(&format!("claw: {whose}{}", out::clean(line)));
    })
    .await;
    let (opened, agents) = (app.clone(), fleet.clone());
    let notices =
        app.warnings.iter().chain(&app.config.notices).chain(app.heartbeats_fault.as_ref());
    let member = Member {
        agent,
        telegram,
        notices: notices.map(|it| out::clean(it)).collect(),
        say: Box::new(move |text| out::err_line(&format!("claw: {whose}{text}"))),
        open: Box::new(move || {
            let (app, agents) = (opened.clone(), agents.clone());
            Box::pin(async move { app.door_context(Arc::new(move || agents.shown())).await })
        }),
    };
    let retention = tokio::spawn(claw_cli::retention::keep(app.clone()));
    let clients = tokio::spawn(serve_clients(fleet.clone(), app.clone()));
    let done = member::run(&fleet, &member).await;
    // The gateway context knows the fleet, which must not keep it.
    fleet.down(&member.agent, "it has ended".to_owned());
    match fleet.closing.is_cancelled() {
        // They end in order, too.
        true => drop(clients.await),
        false => clients.abort(),
    }
    retention.abort();
    app.close().await;
    done
}

/// Serves MCP clients of an agent until the gateway ends: on the socket of its home, and over HTTP
/// where that is configured. What goes wrong with it ends nothing else.
async fn serve_clients(fleet: Arc<Fleet>, app: Arc<App>) {
    let agents = fleet.clone();
    let context = match app.door_context(Arc::new(move || agents.shown())).await {
        Ok(context) => context,
        // The bot says the same, and ends with it.
        Err(error) => {
            return tracing::debug!(error = format!("{error:#}"), "no clients are served");
        }
    };
    let serving = Serving::start(context, Serves::All);
    let socket = app.config.home.path().join(SOCKET);
    let served = async {
        tokio::join!(serving.listen(&socket), serve_http(&app, &serving));
        // One that cannot listen has said so.
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = served => {}
        () = fleet.closing.cancelled() => {}
    }
    serving.wind_down().await;
}

async fn serve_http(app: &App, serving: &Arc<Serving>) {
    let Some(address) = app.config.serve.http else { return };
    match Http::bind(address).await {
        Ok(http) => {
            let url = http.url();
            out::err_line(&format!("claw: MCP clients with a token are served at {url}."));
            http.serve(serving.clone(), false).await;
        }
        Err(error) => out::err_line(&format!(
            "claw: MCP clients are not served over HTTP, because {address} cannot be used \
             (serve.http in claw.toml): {error}."
        )),
    }
}

/// An agent that cannot be at work in this run: in the log, and told by another one.
fn fallen(
    fleet: &Fleet,
    name: &str,
    chat: Option<i64>,
    error: anyhow::Error,
    first: &mut Option<anyhow::Error>,
) {
    let why = format!("{error:#}");
    if fleet.is_many() {
        tracing::error!(agent = name, error = why, "an agent is not at work");
        out::err_line(&format!("claw: the agent {name} is not at work: {}", out::clean(&why)));
    }
    fleet.down(name, why.clone());
    fleet.tell(name, chat, &why);
    first.get_or_insert(error);
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
