//! `claw gateway`: runs the Telegram door until it is told to stop. Owns the order of start and end, and the tasks between;
//! must not know what is said, or how it is shown.

mod desk;
mod files;
mod house;
mod postman;
mod questions;
mod sessions;
mod updates;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use tokio::signal::unix::{SignalKind, signal};

use super::fail::{self, UserError};
use super::out;
use crate::app::App;
use crate::config::Telegram;
use crate::gateway::commands::{Door, at};
use crate::gateway::telegram::api::{Api, Me};
use crate::gateway::telegram::fault::Fault;
use crate::mail::Instance;
use house::House;

/// How long a turn in hand may go on after a request to stop. What it had done by then is in its log.
const GRACE: Duration = Duration::from_secs(10);
/// How soon a server that cannot be reached is tried again at the start.
const START_RETRY: Duration = Duration::from_secs(5);

pub async fn run(app: Arc<App>) -> anyhow::Result<ExitCode> {
    let Some(telegram) = app.config.telegram.clone() else {
        return Err(UserError::because(
            "no door is configured: set TELEGRAM_BOT_TOKEN (from @BotFather) and CLAW_ALLOWED_CHATS (your numeric \
             Telegram id), then start `claw gateway` again",
        ));
    };
    files::raise_limit();
    let locks = app.config.home.locks();
    let only = Instance::only(&locks, "gateway").with_context(|| format!("cannot lock {}", locks.display()))?;
    let Some(_only) = only else {
        return Err(UserError::because("another gateway runs on this home already; stop that one first"));
    };
    let mut ends = Ends::new()?;
    let api = Api::new(&telegram.token, &telegram.api).map_err(|fault| UserError::because(fault.to_string()))?;
    let me = tokio::select! {
        me = greet(&api) => me?,
        () = ends.next() => return Ok(ExitCode::from(fail::DONE)),
    };
    for notice in app.warnings.iter().chain(&app.config.notices) {
        out::err_line(&format!("claw: {}", out::clean(notice)));
    }
    let house = Arc::new(open(app, telegram, api, me).await?);
    out::err_line(&format!("claw: @{} is at work; Ctrl-C ends it.", house.me.username));
    let tasks = start(&house);
    ends.next().await;
    house.closing.cancel();
    tokio::select! {
        () = house.settled() => {}
        () = tokio::time::sleep(GRACE) => {}
        () = ends.next() => {}
    }
    // Whatever is still at it goes on from its log at the next start.
    tasks.iter().for_each(tokio::task::JoinHandle::abort);
    Ok(ExitCode::from(fail::DONE))
}

async fn open(app: Arc<App>, telegram: Telegram, api: Api, me: Me) -> anyhow::Result<House> {
    let worker = app.worker().await?;
    let desk = app.desk().await?;
    Ok(House::new(app, telegram, api, me, worker, desk))
}

/// Each part has a task of its own, so that none holds up another.
fn start(house: &Arc<House>) -> Vec<tokio::task::JoinHandle<()>> {
    vec![
        tokio::spawn(house::watch(house.clone())),
        tokio::spawn(register(house.clone())),
        tokio::spawn(updates::poll(house.clone())),
        tokio::spawn(updates::handle(house.clone())),
        tokio::spawn(sessions::keep(house.clone())),
        tokio::spawn(postman::deliver(house.clone())),
        tokio::spawn(questions::keep(house.clone())),
    ]
}

/// Asks who the bot is, until there is an answer.
async fn greet(api: &Api) -> anyhow::Result<Me> {
    loop {
        match api.me().await {
            Ok(me) => return Ok(me),
            Err(Fault::Wait(pause)) => tokio::time::sleep(pause).await,
            Err(fault @ Fault::Unreachable(_)) => {
                out::err_line(&format!("claw: {fault}. Trying again in {} s.", START_RETRY.as_secs()));
                tokio::time::sleep(START_RETRY).await;
            }
            // The real server says 404 to a token that cannot be one.
            Err(Fault::Refused(text)) if text.contains("Not Found") || text.contains("Unauthorized") => {
                return Err(UserError::because(Fault::Token.to_string()));
            }
            Err(fault) => return Err(UserError::because(fault.to_string())),
        }
    }
}

async fn register(house: Arc<House>) {
    let commands =
        at(Door::Telegram).map(|known| (known.name.trim_start_matches('/').to_owned(), known.help.to_owned()));
    if let Err(fault) = house.api.register(&commands.collect::<Vec<_>>()).await {
        tracing::warn!(%fault, "the commands could not be registered with Telegram; they work all the same");
    }
}

/// The requests to stop: SIGINT and SIGTERM.
struct Ends {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

impl Ends {
    fn new() -> anyhow::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
