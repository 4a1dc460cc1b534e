//! `claw gateway`: runs the Telegram door until it is told to stop. Owns the order of start and end, and the tasks between;
//! must not know what is said, or how it is shown.

mod asking;
mod desk;
mod files;
mod group;
mod hands;
mod house;
mod intake;
mod lanes;
mod live;
mod notify;
mod open_files;
mod outgoing;
mod pairing;
mod postman;
mod questions;
mod said;
mod service;
mod sessions;
mod taps;
mod toast;
mod updates;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;

use super::fail::{self, UserError};
use super::out;
use super::service::PARKED;
use crate::app::App;
use crate::config::Telegram;
use crate::gateway::commands::{Door, at};
use crate::gateway::telegram::api::{Api, Me};
use crate::gateway::telegram::fault::Fault;
use crate::mail::Instance;
use house::House;

/// How long calls in hand may go on after a request to stop; then they are cut.
const GRACE: Duration = Duration::from_secs(10);
/// How long the servers of calls that were cut have to end, and what is left to say has to be sent.
const LAST: Duration = Duration::from_secs(5);
/// How often it is looked whether the gateway was parked.
const LOOK_PARKED: Duration = Duration::from_secs(2);
/// How soon a server that cannot be reached is tried again at the start.
const START_RETRY: Duration = Duration::from_secs(5);

pub async fn run(app: Arc<App>) -> anyhow::Result<ExitCode> {
    let Some(telegram) = app.config.telegram.clone() else {
        return Err(UserError::because(
            "no door is configured: set TELEGRAM_BOT_TOKEN (from @BotFather) and CLAW_ALLOWED_CHATS (your numeric \
             Telegram id), then start `claw gateway` again",
        ));
    };
    let parked = app.config.home.path().join(PARKED);
    if parked.symlink_metadata().is_ok() {
        out::err_line(&format!("claw: the gateway is parked; remove {} and start it again.", parked.display()));
        return Ok(ExitCode::from(fail::DONE));
    }
    open_files::raise_limit();
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
    // Dropped at the end: whatever is still at it goes on from its log at the next start.
    notify::began(&house).await;
    let mut parts = start(&house);
    service::ready();
    tokio::select! {
        () = ends.next() => {}
        () = appears(&parked) => out::err_line(&format!("claw: {} is there, so the gateway ends.", parked.display())),
        // Without this part nothing comes in or goes out, and a service manager starts claw again.
        ended = parts.join_next() => {
            anyhow::bail!("a part of the gateway has ended by itself, which is a bug in claw: {ended:?}");
        }
        () = service::keep_alive(&house) => {}
    }
    service::ending();
    let settled = tokio::select! {
        settled = wind_down(&house) => settled,
        () = ends.next() => false,
    };
    if settled && let Err(error) = house.app.mail.end_gateway().await {
        tracing::warn!(%error, "the end of this run could not be noted");
    }
    Ok(ExitCode::from(fail::DONE))
}

/// Waits until somebody parks the gateway.
async fn appears(file: &Path) {
    while file.symlink_metadata().is_err() {
        tokio::time::sleep(LOOK_PARKED).await;
    }
}

/// Takes nothing new, lets the calls in hand end, and sends what the models had said so far. No farewell: nobody asked.
/// False if turns are left running.
async fn wind_down(house: &Arc<House>) -> bool {
    house.closing.cancel();
    house.worker.ending().begin();
    let mut settled = tokio::time::timeout(GRACE, house.settled()).await.is_ok();
    if !settled {
        tracing::warn!("calls are still running and are cut; nobody knows what they have done");
        house.worker.ending().cut();
        settled = tokio::time::timeout(LAST, house.settled()).await.is_ok();
        if !settled {
            tracing::error!("turns are still running; they go on from their logs at the next start");
        }
    }
    if tokio::time::timeout(LAST, postman::all_sent(house)).await.is_err() {
        tracing::warn!("not everything could be sent; the rest is sent at the next start");
    }
    settled
}

async fn open(app: Arc<App>, telegram: Telegram, api: Api, me: Me) -> anyhow::Result<House> {
    let worker = app.worker().await?;
    let desk = app.desk().await?;
    let blocked = app.mail.blocked_chats(me.id)?;
    let files = files::Files::open(&app).await?;
    let house = House::new(app, telegram, (api, me), worker, desk, files);
    for chat in blocked {
        house.set_blocked(chat, true);
    }
    Ok(house)
}

/// Each part has a task of its own, so that none holds up another. None of them ends before claw does.
fn start(house: &Arc<House>) -> JoinSet<()> {
    tokio::spawn(register(house.clone()));
    tokio::spawn(live::end_what_ran(house.clone()));
    let mut parts = JoinSet::new();
    parts.spawn(house::watch(house.clone()));
    parts.spawn(updates::poll(house.clone()));
    parts.spawn(updates::handle(house.clone()));
    parts.spawn(sessions::keep(house.clone()));
    parts.spawn(postman::deliver(house.clone()));
    parts.spawn(questions::keep(house.clone()));
    parts.spawn(pairing::keep(house.clone()));
    parts.spawn(notify::keep(house.clone()));
    parts.spawn(super::retention::keep(house.app.clone()));
    parts
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
