//! One agent of the gateway, from its token to its end: what goes wrong with it stays with it. Must
//! not know the other agents.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use super::fleet::{Fleet, State};
use super::house::{self, House};
use super::{changed_tools, files, live, notify, pairing, postman, questions, sessions, updates};
use crate::app::App;
use crate::cli::fail::UserError;
use crate::cli::out;
use crate::config::{Config, Telegram};
use crate::doors::commands::{Door, at};
use crate::doors::telegram::api::fault::Fault;
use crate::doors::telegram::api::{Api, Me};

/// How long calls in hand may go on after a request to stop; then they are cut.
const GRACE: Duration = Duration::from_secs(10);
/// How long the servers of calls that were cut have to end, and what is left to say has to be sent.
const LAST: Duration = Duration::from_secs(5);
/// How soon a server that cannot be reached is tried again at the start.
const START_RETRY: Duration = Duration::from_secs(5);
/// How soon an agent is started again of which a part has ended by itself; each time twice as long,
/// up to the most.
const RESTART_FIRST: Duration = Duration::from_secs(1);
const RESTART_MOST: Duration = Duration::from_secs(60);

/// Runs one agent until the gateway ends.
///
/// # Errors
/// It cannot be started at all: its settings, its home or its token are wrong.
pub(super) async fn run(
    fleet: Arc<Fleet>,
    config: Config,
    telegram: Telegram,
) -> anyhow::Result<()> {
    let app = Arc::new(App::open(config)?);
    crate::cli::tell_migration(&app.store);
    let done = at_work(&fleet, &app, telegram).await;
    // The house knows the fleet, which must not keep it.
    fleet.set(&app.config.agent.name, State::Down("it has ended".to_owned()));
    app.close().await;
    done
}

async fn at_work(fleet: &Arc<Fleet>, app: &Arc<App>, telegram: Telegram) -> anyhow::Result<()> {
    let name = app.config.agent.name.clone();
    let api = Api::new(&telegram.token, &telegram.api)
        .map_err(|fault| UserError::because(fault.to_string()))?;
    let me = tokio::select! {
        me = greet(fleet, &name, &api, &telegram.token_source) => me?,
        () = fleet.closing.cancelled() => return Ok(()),
    };
    for notice in app.warnings.iter().chain(&app.config.notices) {
        say(fleet, &name, &out::clean(notice));
    }
    let mut pause = RESTART_FIRST;
    let mut first = true;
    loop {
        let house = Arc::new(open(fleet, app, telegram.clone(), api.clone(), me.clone()).await?);
        if std::mem::take(&mut first) {
            say(fleet, &name, &format!("@{} is at work; Ctrl-C ends it.", house.me.username));
            notify::began(&house).await;
        }
        let mut parts = start(&house);
        fleet.set(&name, State::AtWork(house.clone()));
        let ended = tokio::select! {
            biased;
            () = fleet.closing.cancelled() => None,
            ended = parts.join_next() => Some(ended),
        };
        let Some(ended) = ended else { return wind_down(&house).await };
        // Everything is on the disk, so the agent goes on from there. Dropping the parts ends them.
        house.closing.cancel();
        drop(parts);
        tracing::error!(
            agent = name,
            ?ended,
            "a part of the gateway has ended by itself, which is a bug in claw"
        );
        fleet.set(
            &name,
            State::Trying(format!(
                "a bug has ended a part of it; it starts again in {} s",
                pause.as_secs()
            )),
        );
        // It is in the outbox, so the agent tells it itself as soon as it is back.
        notify::part_ended(&house).await;
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = fleet.closing.cancelled() => return Ok(()),
        }
        // Turns of the old house go on by themselves; the new one must not count its end before
        // theirs.
        if tokio::time::timeout(GRACE, house.settled()).await.is_err() {
            tracing::warn!(
                agent = name,
                "turns are still running while their gateway starts again"
            );
        }
        pause = (pause * 2).min(RESTART_MOST);
    }
}

/// A line for whoever started the gateway, with the agent's name where there are several.
fn say(fleet: &Fleet, name: &str, text: &str) {
    let whose = if fleet.is_many() { format!("{name}: ") } else { String::new() };
    out::err_line(&format!("claw: {whose}{text}"));
}

/// Asks who the bot is, until there is an answer.
async fn greet(fleet: &Fleet, name: &str, api: &Api, token_source: &str) -> anyhow::Result<Me> {
    loop {
        match api.me().await {
            Ok(me) => return Ok(me),
            Err(Fault::Wait(pause)) => {
                fleet.set(
                    name,
                    State::Trying(format!("Telegram asks to wait for {} s.", pause.as_secs())),
                );
                tokio::time::sleep(pause).await;
            }
            Err(fault @ Fault::Unreachable(_)) => {
                say(fleet, name, &format!("{fault}. Trying again in {} s.", START_RETRY.as_secs()));
                fleet.set(name, State::Trying(fault.to_string()));
                tokio::time::sleep(START_RETRY).await;
            }
            Err(fault) => return Err(UserError::because(fault.told(token_source))),
        }
    }
}

async fn open(
    fleet: &Arc<Fleet>,
    app: &Arc<App>,
    telegram: Telegram,
    api: Api,
    me: Me,
) -> anyhow::Result<House> {
    let worker = app.worker().await?;
    let agents = fleet.clone();
    let desk = app.desk(Arc::new(move || agents.shown())).await?;
    let blocked = app.mail.blocked_chats(me.id)?;
    api.chats_have_moved(app.mail.moved_chats(me.id)?);
    let files = files::Files::open(app)?;
    let house = House::new(app.clone(), telegram, (api, me), worker, desk, files, fleet.clone());
    for chat in blocked {
        house.set_blocked(chat, true);
    }
    Ok(house)
}

/// Each part has a task of its own, so that none holds up another. None of them ends before claw
/// does.
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
    parts.spawn(changed_tools::keep(house.clone()));
    parts.spawn(notify::keep(house.clone()));
    parts.spawn(notify::watch_settings(house.clone()));
    parts.spawn(crate::cli::retention::keep(house.app.clone()));
    parts
}

async fn register(house: Arc<House>) {
    let commands = at(Door::Telegram)
        .map(|known| (known.name.trim_start_matches('/').to_owned(), known.help.to_owned()));
    if let Err(fault) = house.api.register(&commands.collect::<Vec<_>>()).await {
        tracing::warn!(%fault, "the commands could not be registered with Telegram; they work all the same");
    }
}

/// Takes nothing new, lets the calls in hand end, and sends what the models had said so far. No
/// farewell: nobody asked.
async fn wind_down(house: &Arc<House>) -> anyhow::Result<()> {
    house.closing.cancel();
    house.worker.ending().begin();
    let mut settled = tokio::time::timeout(GRACE, house.settled()).await.is_ok();
    if !settled {
        tracing::warn!("calls are still running and are cut; nobody knows what they have done");
        house.worker.ending().cut();
        settled = tokio::time::timeout(LAST, house.settled()).await.is_ok();
        if !settled {
            tracing::error!(
                "turns are still running; they go on from their logs at the next start"
            );
        }
    }
    if tokio::time::timeout(LAST, postman::all_sent(house)).await.is_err() {
        tracing::warn!("not everything could be sent; the rest is sent at the next start");
    }
    if settled && let Err(error) = house.app.mail.end_gateway().await {
        tracing::warn!(%error, "the end of this run could not be noted");
    }
    Ok(())
}
