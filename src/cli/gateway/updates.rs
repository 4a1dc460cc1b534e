//! From Telegram into the house: each update is on the disk before Telegram may forget it, and is handled by itself. Must not
//! know what an update means.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{self, StreamExt as _};
use serde_json::Value;

use super::desk;
use super::house::House;
use crate::gateway::telegram::fault::Fault;
use crate::gateway::telegram::incoming::chat_of;
use crate::store::now_ms;

/// How soon Telegram is asked again after a fault.
const RETRY: Duration = Duration::from_secs(5);
/// The same when another program polls the bot, or the token is wrong: somebody has to do something about it.
const RETRY_SLOWLY: Duration = Duration::from_secs(30);
/// Handled updates are forgotten this often.
const TIDY_EVERY: Duration = Duration::from_secs(3600);
/// How often kept updates are looked for without a bell.
const LOOK: Duration = Duration::from_secs(60);
/// The most chats whose updates are handled at the same time.
const CHATS_AT_ONCE: usize = 64;

/// Long polling (Bot API, `getUpdates`): asking with an offset confirms everything below it, so the offset moves after the
/// commit and never before.
pub(super) async fn poll(house: Arc<House>) {
    let mut offset = 0;
    while !house.closing.is_cancelled() {
        let polled = tokio::select! {
            () = house.closing.cancelled() => return,
            polled = house.api.updates(offset) => polled,
        };
        let pause = match polled {
            Ok(updates) => keep(&house, updates, &mut offset).await,
            Err(Fault::Wait(pause)) => Some(pause),
            Err(fault @ (Fault::Conflict | Fault::Token)) => {
                tracing::error!(%fault, "no messages come in");
                Some(RETRY_SLOWLY)
            }
            Err(fault) => {
                tracing::warn!(%fault, "no messages come in; asking again in {} s", RETRY.as_secs());
                Some(RETRY)
            }
        };
        if let Some(pause) = pause {
            tokio::select! {
                () = house.closing.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
        }
    }
}

/// Commits a batch and moves the offset behind it. Returns how long to wait if it could not.
async fn keep(house: &House, updates: Vec<Value>, offset: &mut i64) -> Option<Duration> {
    if updates.is_empty() {
        return None;
    }
    let mut known = Vec::new();
    for update in updates {
        match update.get("update_id").and_then(Value::as_i64) {
            Some(id) => known.push((id, update)),
            // Nothing can be confirmed without its number; the next one that has a number confirms it, too.
            None => tracing::error!("an update without a number came in; it is passed over"),
        }
    }
    let Some(last) = known.iter().map(|(id, _)| *id).max() else { return Some(RETRY) };
    match house.app.router.keep_updates(house.me.id, known).await {
        Ok(_) => {
            *offset = last + 1;
            house.ring();
            None
        }
        Err(error) => {
            tracing::error!(%error, "messages could not be stored; Telegram keeps them meanwhile");
            Some(RETRY)
        }
    }
}

/// Handles what is kept, in each chat in the order in which it came.
pub(super) async fn handle(house: Arc<House>) {
    let mut ear = house.ear();
    let mut tidied: Option<tokio::time::Instant> = None;
    while !house.closing.is_cancelled() {
        let kept = house.app.mail.kept_updates(house.me.id).unwrap_or_else(|error| {
            tracing::error!(%error, "the kept updates cannot be read");
            Vec::new()
        });
        let waits = handle_all(&house, kept).await;
        if tidied.is_none_or(|at| at.elapsed() > TIDY_EVERY) {
            tidied = Some(tokio::time::Instant::now());
            if let Err(error) = house.app.mail.tidy_updates(now_ms()).await {
                tracing::warn!(%error, "old updates could not be forgotten");
            }
        }
        ear.listen(if waits { RETRY } else { LOOK }).await;
    }
}

/// Each chat's in the order in which they came; chats do not wait for each other, so that their commits are one. Whether any
/// has to be tried again.
async fn handle_all(house: &Arc<House>, kept: Vec<(i64, String)>) -> bool {
    let mut chats: BTreeMap<Option<i64>, Vec<(i64, String)>> = BTreeMap::new();
    for (id, body) in kept {
        chats.entry(chat_of(&body)).or_default().push((id, body));
    }
    let in_order = |updates: Vec<(i64, String)>| async {
        let mut waits = false;
        for (id, body) in updates {
            waits |= !handle_one(house, id, body).await;
        }
        waits
    };
    let handled = stream::iter(chats.into_values().map(in_order)).buffer_unordered(CHATS_AT_ONCE);
    handled.fold(false, |any, waits| async move { any || waits }).await
}

/// In a task of its own, so that a bug in one ends with it. False when it has to be tried again.
async fn handle_one(house: &Arc<House>, id: i64, body: String) -> bool {
    let task = tokio::spawn(desk::handle(house.clone(), id, body));
    let how = match task.await {
        Ok(Ok(())) => return true,
        Ok(Err(error)) => {
            tracing::error!(
                update = id,
                error = format!("{error:#}"),
                "an update could not be handled; it is tried again"
            );
            return false;
        }
        Err(error) => {
            tracing::error!(update = id, %error, "an update could not be handled; it is passed over");
            house.app.mail.finish_update(house.me.id, id, "failed").await
        }
    };
    how.inspect_err(|error| tracing::error!(%error, "the store could not be written")).is_ok()
}
