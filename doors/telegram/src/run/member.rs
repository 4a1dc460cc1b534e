//! One agent of the gateway, from its token to its end: what goes wrong with it stays with it. Must
//! not know the other agents.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use super::context::GatewayContext;
use super::{files, heartbeats, jobs, notify, owner_questions, updates};
use crate::api::fault::ApiFault;
use crate::api::settings::{SECTION, Telegram};
use crate::api::{Api, Me};
use crate::domain::{Blame, Blamed};
use crate::doors::commands::{DoorKind, at};
use crate::doors::entry::RunDoor;
use crate::doors::gateway::fleet::{Fleet, State};
use crate::doors::gateway::member::Member;
use crate::doors::shared::{GRACE, LAST};
use crate::doors::{delivery, parts};

/// How soon a server that cannot be reached is tried again at the start.
const START_RETRY: Duration = Duration::from_secs(5);
/// How soon an agent is started again of which a part has ended by itself; each time twice as long,
/// up to the most.
const RESTART_FIRST: Duration = Duration::from_secs(1);
const RESTART_MOST: Duration = Duration::from_secs(60);

/// Telegram does not take the bot as it is configured: one sentence with the next step.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotTaken(String);

impl Blamed for NotTaken {
    fn blame(&self) -> Blame {
        Blame::User
    }
}

/// How the gateway runs it.
// Boxed, so that it is compiled here, and not once more in the program.
pub(crate) const RUN: RunDoor = |fleet, member| Box::pin(run(fleet, member));

/// Runs one agent until the gateway ends.
///
/// # Errors
/// It cannot be started at all: its settings, its home or its token are wrong.
async fn run(fleet: &Arc<Fleet>, member: &Member) -> anyhow::Result<()> {
    let Some(telegram) = Telegram::of(&member.texts)? else {
        return Err(NotTaken("there is no token for its bot".to_owned()).into());
    };
    keep(fleet, member, &telegram).await
}

async fn keep(fleet: &Arc<Fleet>, member: &Member, telegram: &Telegram) -> anyhow::Result<()> {
    let name = &member.agent;
    let api =
        Api::new(&telegram.token, &telegram.api).map_err(|fault| NotTaken(fault.to_string()))?;
    let me = tokio::select! {
        me = greet(fleet, member, telegram, &api) => me?,
        () = fleet.closing.cancelled() => return Ok(()),
    };
    let mut pause = RESTART_FIRST;
    let mut first = true;
    loop {
        let ctx = Arc::new(open(fleet, member, telegram, (api.clone(), me.clone())).await?);
        if std::mem::take(&mut first) {
            (member.say)(&format!("@{} is at work; Ctrl-C ends it.", ctx.me.username));
            notify::began(&ctx).await;
        }
        let mut parts = start(&ctx);
        fleet.set(name, SECTION.name, State::AtWork(ctx.clone()));
        let ended = tokio::select! {
            biased;
            () = fleet.closing.cancelled() => None,
            ended = parts.join_next() => Some(ended),
        };
        let Some(ended) = ended else { return wind_down(&ctx).await };
        // Everything is on the disk, so the agent goes on from there. Dropping the parts ends them.
        ctx.shared.closing.cancel();
        drop(parts);
        tracing::error!(
            agent = name,
            ?ended,
            "a part of the gateway has ended by itself, which is a bug in claw"
        );
        fleet.set(
            name,
            SECTION.name,
            State::Trying(format!(
                "a bug has ended a part of it; it starts again in {} s",
                pause.as_secs()
            )),
        );
        // It is in the outbox, so the agent tells it itself as soon as it is back.
        notify::part_ended(&ctx).await;
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = fleet.closing.cancelled() => return Ok(()),
        }
        // Turns of the old instance go on by themselves; the new one must not count its end before
        // theirs.
        if tokio::time::timeout(GRACE, ctx.shared.settled()).await.is_err() {
            tracing::warn!(
                agent = name,
                "turns are still running while their gateway starts again"
            );
        }
        pause = (pause * 2).min(RESTART_MOST);
    }
}

/// Asks who the bot is, until there is an answer.
async fn greet(
    fleet: &Fleet,
    member: &Member,
    telegram: &Telegram,
    api: &Api,
) -> anyhow::Result<Me> {
    let name = &member.agent;
    loop {
        match api.me().await {
            Ok(me) => return Ok(me),
            Err(ApiFault::Wait(pause)) => {
                fleet.set(
                    name,
                    SECTION.name,
                    State::Trying(format!("Telegram asks to wait for {} s.", pause.as_secs())),
                );
                tokio::time::sleep(pause).await;
            }
            Err(fault @ ApiFault::Unreachable(_)) => {
                (member.say)(&format!("{fault}. Trying again in {} s.", START_RETRY.as_secs()));
                fleet.set(name, SECTION.name, State::Trying(fault.to_string()));
                tokio::time::sleep(START_RETRY).await;
            }
            Err(fault) => {
                return Err(NotTaken(fault.told(&telegram.token_source)).into());
            }
        }
    }
}

async fn open(
    fleet: &Arc<Fleet>,
    member: &Member,
    telegram: &Telegram,
    (api, me): (Api, Me),
) -> anyhow::Result<GatewayContext> {
    let context = (member.open)().await?;
    let blocked = context.mail.blocked_chats(me.id)?;
    api.chats_have_moved(context.mail.moved_chats(me.id)?);
    let files = files::Files::open(&context.files)?;
    let ctx = GatewayContext::new(context, telegram.clone(), (api, me), files, fleet.clone());
    for chat in blocked {
        ctx.set_blocked(chat, true);
    }
    Ok(ctx)
}

/// What every door runs, and what this one has beside it. None of it ends before claw does.
fn start(ctx: &Arc<GatewayContext>) -> JoinSet<()> {
    claw_kit::task::spawn(register(ctx.clone()));
    let mut parts = parts::start(ctx);
    claw_kit::task::spawn_in(&mut parts, updates::poll(ctx.clone()));
    claw_kit::task::spawn_in(&mut parts, updates::handle(ctx.clone()));
    claw_kit::task::spawn_in(&mut parts, owner_questions::keep(ctx.clone()));
    claw_kit::task::spawn_in(&mut parts, notify::keep(ctx.clone()));
    claw_kit::task::spawn_in(&mut parts, jobs::keep(ctx.clone()));
    claw_kit::task::spawn_in(&mut parts, heartbeats::keep(ctx.clone()));
    claw_kit::task::spawn_in(&mut parts, notify::watch_settings(ctx.clone()));
    parts
}

async fn register(ctx: Arc<GatewayContext>) {
    let commands = at(DoorKind::Chat)
        .map(|known| (known.name.trim_start_matches('/').to_owned(), known.help.to_owned()));
    if let Err(fault) = ctx.api.register(&commands.collect::<Vec<_>>()).await {
        tracing::warn!(%fault, "the commands could not be registered with Telegram; they work all \
            the same");
    }
}

/// Takes nothing new, lets the calls in hand end, and sends what the models had said so far. No
/// farewell: nobody asked.
async fn wind_down(ctx: &Arc<GatewayContext>) -> anyhow::Result<()> {
    let settled = ctx.shared.wind_down(std::future::ready(())).await;
    if tokio::time::timeout(LAST, delivery::all_sent(ctx)).await.is_err() {
        tracing::warn!("not everything could be sent; the rest is sent at the next start");
    }
    if settled && let Err(error) = ctx.mail.end_gateway().await {
        tracing::warn!(%error, "the end of this run could not be noted");
    }
    Ok(())
}
