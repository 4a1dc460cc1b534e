//! From Telegram into claw: each update is on the disk before Telegram may forget it, and is
//! handled by itself. Must not know what an update means.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::chat_queue::Item;
use super::context::GatewayContext;
use super::{moves, notify};
use crate::api::fault::ApiFault;
use crate::api::incoming::{Incoming, migration, read};
use crate::api::settings::SECTION;
use crate::api::{Me, UPDATES_MAX};
use crate::doors::chat_queue::ChatQueues;
use crate::doors::gateway::fleet::State;
use crate::doors::patience::pause_after;
use crate::mail::WaitingUpdate;

/// How soon a batch that could not be stored is asked for again.
const RETRY: Duration = Duration::from_secs(5);
/// The same when another program polls the bot, or the token is wrong: somebody has to do something
/// about it.
const RETRY_SLOWLY: Duration = Duration::from_secs(30);
/// Handled updates are forgotten this often.
const TIDY_EVERY: Duration = Duration::from_secs(3600);
/// How often kept updates are looked for without a wake-up.
const LOOK: Duration = Duration::from_secs(60);

/// Long polling (Bot API, `getUpdates`): asking with an offset confirms everything below it, so the
/// offset moves after the commit and never before.
pub(super) async fn poll(ctx: Arc<GatewayContext>) {
    let mut offset = 0;
    // What was told of, so that a fault that lasts is told once.
    let mut told = false;
    let mut failures = 0;
    while !ctx.shared.closing.is_cancelled() {
        let polled = tokio::select! {
            () = ctx.shared.closing.cancelled() => return,
            polled = ctx.api.updates(offset, ctx.shared.has_caught_up()) => polled,
        };
        let pause = match polled {
            Ok(updates) => {
                failures = 0;
                if std::mem::take(&mut told) {
                    tracing::info!("messages come in again");
                    let agent = &ctx.shared.context.agent;
                    ctx.fleet.set(agent, SECTION.name, State::AtWork(ctx.clone()));
                }
                let last = updates.len() < UPDATES_MAX as usize;
                let pause = keep(&ctx, updates, &mut offset).await;
                if last && pause.is_none() {
                    ctx.shared.catch_up();
                }
                pause
            }
            Err(ApiFault::Wait(pause)) => Some(pause),
            Err(fault @ (ApiFault::Conflict | ApiFault::Token)) => {
                if !std::mem::replace(&mut told, true) {
                    tracing::error!(%fault, "no messages come in; asking every {} s", RETRY_SLOWLY.as_secs());
                    let why = fault.told(&ctx.telegram.token_source);
                    notify::no_messages(&ctx, &fault, &why).await;
                    if fault == ApiFault::Token {
                        // Its own bot cannot say so.
                        let name = &ctx.shared.context.agent;
                        ctx.fleet.set(name, SECTION.name, State::Trying(why.clone()));
                        ctx.fleet.tell(name, ctx.telegram.notify_chat, &why);
                    }
                }
                Some(RETRY_SLOWLY)
            }
            Err(fault) => {
                failures += 1;
                // One that passes at once is nothing to tell.
                if failures > 1 && !std::mem::replace(&mut told, true) {
                    tracing::warn!(%fault, "no messages come in; Telegram is asked again, after a \
                        while every 5 s");
                }
                Some(pause_after(failures))
            }
        };
        if let Some(pause) = pause {
            // What cannot be asked for is not waited for.
            ctx.shared.catch_up();
            tokio::select! {
                () = ctx.shared.closing.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
        }
    }
}

/// Commits a batch and moves the offset behind it. Returns how long to wait if it could not.
async fn keep(
    ctx: &Arc<GatewayContext>,
    updates: Vec<Value>,
    offset: &mut i64,
) -> Option<Duration> {
    if updates.is_empty() {
        return None;
    }
    let mut known = Vec::new();
    for update in updates {
        match update.get("update_id").and_then(Value::as_i64) {
            Some(id) => known.push((id, update)),
            // Nothing can be confirmed without its number; the next one that has a number confirms
            // it, too.
            None => tracing::error!("an update without a number came in; it is passed over"),
        }
    }
    let Some(last) = known.iter().map(|(id, _)| *id).max() else { return Some(RETRY) };
    known
        .iter()
        .for_each(|(_, update)| crate::killpoint::bug("CLAW_BUG_IN_PART", &update.to_string()));
    match ctx.router.keep_updates(ctx.me.id, known).await {
        Ok(_) => {
            *offset = last + 1;
            ctx.shared.wake();
            None
        }
        Err(error) => {
            tracing::error!(%error, "messages could not be stored; Telegram keeps them meanwhile");
            notify::store_failed(ctx, &error);
            Some(RETRY)
        }
    }
}

/// Handles what is kept: within a conversation in the order in which it came, conversations side by
/// side.
pub(super) async fn handle(ctx: Arc<GatewayContext>) {
    let chat_queues = ChatQueues::new(ctx.clone());
    let mut wake_ups = ctx.shared.wake_ups();
    let mut tidied: Option<tokio::time::Instant> = None;
    let mut last = 0;
    while !ctx.shared.closing.is_cancelled() {
        let kept = ctx.mail.kept_updates(ctx.me.id, last).unwrap_or_else(|error| {
            tracing::error!(%error, "the kept updates cannot be read");
            Vec::new()
        });
        for WaitingUpdate { nr, id, body } in kept {
            last = nr;
            let incoming = read_alone(&body, &ctx.me);
            if let Some((chat, now)) = migration(&body) {
                moves::note(&ctx, chat, now).await;
            }
            chat_queues.put(Item { id, incoming: moves::at_its_chat(&ctx, incoming) });
        }
        if tidied.is_none_or(|at| at.elapsed() > TIDY_EVERY) {
            tidied = Some(tokio::time::Instant::now());
            if let Err(error) = ctx.mail.tidy_updates(ctx.clock().now_ms).await {
                tracing::warn!(%error, "old updates could not be forgotten");
            }
        }
        wake_ups.wait(LOOK).await;
    }
}

/// A bug in the reading of one ends with that one.
pub(super) fn read_alone(body: &str, me: &Me) -> Incoming {
    std::panic::catch_unwind(|| read(body, me)).unwrap_or(Incoming::Nothing("failed"))
}
