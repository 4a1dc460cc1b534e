//! `getUpdates`: at once if there is something, else as soon as there is, up to its timeout. Owns
//! the waiting. Must not know what an update means.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::Shared;
use super::params::Params;
use super::refusal::Refusal;
use super::updates::UpdateId;

const TIMEOUT_S_MAX: i64 = 50;
const LIMIT_MAX: i64 = 100;

pub async fn get_updates(shared: &Arc<Shared>, params: &Params) -> Result<Value, Refusal> {
    let offset = params.number("offset").unwrap_or(0);
    let limit =
        usize::try_from(params.number("limit").unwrap_or(LIMIT_MAX).clamp(1, LIMIT_MAX)).unwrap();
    let timeout_s = params.number("timeout").unwrap_or(0).clamp(0, TIMEOUT_S_MAX);
    if !shared.world().webhook.is_empty() {
        let active = "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first";
        return Err(Refusal::new(409, active));
    }
    let begun = shared.change(|world| {
        if let Ok(Some(Value::Array(kinds))) = params.structure("allowed_updates") {
            let kinds: Vec<_> = kinds.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            world.updates.allow(&kinds);
        }
        let now = world.now_ms();
        let given = world.updates.take(offset, limit, now);
        if given.is_empty() && timeout_s > 0 { Err(world.updates.wait()) } else { Ok(given) }
    });
    let number = match begun {
        Ok(given) => return Ok(Value::Array(given)),
        Err(number) => number,
    };
    let deadline = Instant::now() + Duration::from_secs(timeout_s.unsigned_abs());
    loop {
        // Enabled before looking, so that nothing is missed between looking and waiting.
        let mut stirred = std::pin::pin!(shared.stirred.notified());
        stirred.as_mut().enable();
        let seen = shared.change(|world| {
            let now = world.now_ms();
            world.updates.look(number, offset, limit, now)
        });
        if let Some(given) = seen? {
            return Ok(Value::Array(given));
        }
        if timeout_at(deadline, stirred).await.is_err() {
            return Ok(Value::Array(Vec::new()));
        }
    }
}

/// What a record keeps of an answer: the ids.
pub fn ids(updates: &Value) -> Value {
    let ids = updates.as_array().into_iter().flatten().map(|update| update["update_id"].clone());
    Value::Array(ids.collect())
}

/// The ids as numbers.
pub fn numbers(ids: &Value) -> Vec<UpdateId> {
    let ids = ids.as_array().into_iter().flatten().filter_map(Value::as_i64);
    ids.filter_map(|id| UpdateId::try_from(id).ok()).collect()
}
