//! What the owner has allowed or forbidden for longer: the list for a chat, and taking one back,
//! with its audit row. Must not know how a grant is matched.

use jiff::tz::TimeZone;
use serde_json::json;

use super::{code, when};
use crate::domain::{GrantEffect, heartbeat_named, job_of};
use crate::store::{AuditEntry, GrantRow, Store, StoreError, Tx};

/// How long a grant holds, in words.
pub fn until(grant: &GrantRow, zone: &TimeZone) -> String {
    if let Some((job, _)) = job_of(&grant.principal) {
        if let Some(name) = heartbeat_named(job) {
            return format!("until the heartbeat {name} changes");
        }
        let number = job.strip_prefix('j').unwrap_or(job);
        return format!("until job {number} ends or changes");
    }
    match (grant.expires_ms, &grant.session) {
        (Some(at), _) => format!("until {}", when(at, zone)),
        (None, Some(session)) => format!("while session `{session}` lasts"),
        (None, None) => "until revoked".to_owned(),
    }
}

/// How often it has spared a question, and when it did last.
pub fn saved(grant: &GrantRow, zone: &TimeZone) -> String {
    let what = match (grant.uses, grant.effect) {
        (0, _) => return "not used yet".to_owned(),
        (1, GrantEffect::Allow) => "saved 1 question".to_owned(),
        (uses, GrantEffect::Allow) => format!("saved {uses} questions"),
        (1, GrantEffect::Deny) => "denied 1 call".to_owned(),
        (uses, GrantEffect::Deny) => format!("denied {uses} calls"),
    };
    grant.last_used_ms.map_or(what.clone(), |at| format!("{what}, last {}", when(at, zone)))
}

/// Takes back the grant that `id` names, in the name of `by`, a principal. `None` when there is
/// none in force.
pub async fn revoke(store: &Store, id: &str, by: &str) -> Result<Option<i64>, StoreError> {
    let (id, by) = (id.to_owned(), by.to_owned());
    store.write(move |tx| revoke_in(tx, &id, &by)).await
}

pub(super) fn revoke_in(tx: &Tx<'_>, id: &str, by: &str) -> Result<Option<i64>, StoreError> {
    let Ok(number) = id.parse::<i64>() else { return Ok(None) };
    if !tx.revoke_grant(number)? {
        return Ok(None);
    }
    let body = json!({"grant": number, "by": by});
    tx.audit(&AuditEntry { kind: "revoked", call: String::new(), body })?;
    Ok(Some(number))
}

pub(super) fn markdown(store: &Store, zone: &TimeZone) -> Result<String, StoreError> {
    let grants = store.read(|tx| tx.grants())?;
    if grants.is_empty() {
        return Ok("No grants are in force.".to_owned());
    }
    let mut text: String = grants.iter().map(|grant| row(grant, zone)).collect();
    text.push_str("\n`/grants revoke ID` takes one back.");
    Ok(text)
}

fn row(grant: &GrantRow, zone: &TimeZone) -> String {
    let effect = match grant.effect {
        GrantEffect::Allow => "allowed",
        GrantEffect::Deny => "denied",
    };
    format!(
        "- **{}** {effect}: {} ({}, for {}; {})\n",
        grant.id,
        code(&grant.says),
        until(grant, zone),
        grant.origin,
        saved(grant, zone)
    )
}
