//! Lets go of what is older than `[retention]` allows: files of artifacts, rows of the audit,
//! closed rows of the queues. Closes grants whose time is over. Runs when a door is opened, behind
//! `ask`, and once a day. Must not know how rows are stored.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use anyhow::Context as _;
use claw_kit::counted::counted;
use serde_json::json;
use tokio::task::JoinHandle;

use super::out;

use crate::app::App;
use crate::domain::UnixMillis;
use crate::moment::when;
use crate::store::{ArtifactRow, AuditEntry, now_ms};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// How often a process that stays looks whether a day is over.
const LOOK_EVERY: Duration = Duration::from_secs(60 * 60);
/// Rows of the audit that go in one transaction, so that nobody waits long for it.
const ROWS_AT_ONCE: u32 = 10_000;
/// The same for rows of the queues, which are larger.
const QUEUE_ROWS_AT_ONCE: u32 = 1_000;
const WHY: &str = "retention";
const CLOCK: &str = "retention.clock";
/// A clock that is further away from the last time, ahead or behind, is not believed without a word
/// of the owner. Behind, what is new would seem to be the oldest.
const CLOCK_LEAP_MAX_MS: i64 = 30 * DAY_MS;

/// What is over its limits.
#[derive(Debug, Default)]
pub struct Overdue {
    /// Digest and size.
    artifacts: Vec<(String, u64)>,
    /// Bytes that are over the limit and stay, because conversations still show them to a model.
    pub needed_bytes: u64,
    /// The newest row of the audit that may go.
    audit_through: Option<i64>,
}

impl Overdue {
    pub fn is_empty(&self) -> bool {
        self.artifacts.is_empty() && self.audit_through.is_none()
    }

    /// Whether it is one artifact and nothing else, for the verb behind [`Self::words`].
    pub fn is_one(&self) -> bool {
        self.artifacts.len() == 1 && self.audit_through.is_none()
    }

    /// As the beginning of a sentence.
    pub fn words(&self) -> String {
        let bytes: u64 = self.artifacts.iter().map(|(_, bytes)| bytes).sum();
        let artifacts =
            format!("{} ({})", counted(self.artifacts.len(), "artifact"), counted(bytes, "byte"));
        match self.audit_through {
            None => artifacts,
            Some(row) => format!("{artifacts} and the rows of the audit up to {row}"),
        }
    }
}

/// For a door that stays open: now, and then every day. Ends with the process, or when the task is
/// aborted.
pub fn begin(app: Arc<App>) -> JoinHandle<()> {
    claw_kit::task::spawn(async move {
        loop {
            match once_a_day(&app).await {
                Ok(Some(doubt)) => tracing::warn!("{doubt}"),
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(
                        error = format!("{error:#}"),
                        "what is too old could not be let go"
                    )
                }
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    })
}

/// For a command that is done: costs one look into the store, unless a day is over. A failure is
/// told and is none of the command's.
pub async fn behind_a_command(app: &App) {
    match once_a_day(app).await {
        Ok(Some(doubt)) => out::err_line(&format!("claw: {doubt}")),
        Ok(None) => {}
        Err(error) => {
            out::err_line(&format!("claw: what is too old could not be let go: {error:#}"))
        }
    }
}

/// A clock that may be wrong, in a sentence with the next step: what it would remove cannot be had
/// again.
pub fn doubt(app: &App) -> anyhow::Result<Option<String>> {
    let Some(believed_ms) = app.store.read(|tx| tx.clock_believed_ms())? else { return Ok(None) };
    let now = now_ms();
    if (now - believed_ms).abs() <= CLOCK_LEAP_MAX_MS {
        return Ok(None);
    }
    Ok(Some(format!(
        "nothing was removed by [retention]: the clock says {}, and the last time it said {}. If \
         that is right, `claw doctor --repair` notes it.",
        when(now),
        when(believed_ms)
    )))
}

/// Does it unless some process of this home has done it within a day. Two at once do no harm: what
/// one of them has let go, the other does not find.
async fn once_a_day(app: &App) -> anyhow::Result<Option<String>> {
    if app.store.read(|tx| tx.told_within(WHY, DAY_MS))? {
        return Ok(None);
    }
    if let Some(doubt) = doubt(app)? {
        let tell = app.store.write_relaxed(|tx| tx.may_tell(CLOCK, DAY_MS)).await?;
        return Ok(tell.then_some(doubt));
    }
    let gone = carry_out(app, overdue(app)?).await?;
    let delivered = forget_delivered(app).await?;
    let turns = forget_turns(app).await?;
    let grants = app.store.write(|tx| tx.close_expired_grants()).await?;
    tracing::info!(
        gone,
        delivered,
        turns,
        grants,
        "looked for what is older than [retention] allows"
    );
    // Noted behind it, so that a door that was open for a moment only leaves it to the next one.
    app.store
        .write_relaxed(|tx| {
            // A clock that was put back, and is right again later, has made no leap then.
            let latest_ms = tx.clock_believed_ms()?.map_or(now_ms(), |at_ms| at_ms.max(now_ms()));
            tx.believe_clock(latest_ms)?;
            tx.may_tell(WHY, DAY_MS)
        })
        .await?;
    Ok(None)
}

/// Lets go of closed rows of the queues, which are no loss: the logs have what they say. Gives back
/// how many went.
async fn forget_delivered(app: &App) -> anyhow::Result<usize> {
    let before = now_ms() - app.settings().retention.delivered_days as i64 * DAY_MS;
    let mut gone = 0;
    loop {
        match app.store.write(move |tx| tx.forget_delivered(before, QUEUE_ROWS_AT_ONCE)).await? {
            0 => return Ok(gone),
            rows => gone += rows,
        }
    }
}

/// Lets go of what turns have changed, where that is too old or too much. Gives back how many went.
async fn forget_turns(app: &App) -> anyhow::Result<usize> {
    let settings = app.settings();
    let before = now_ms() - settings.retention.undo_days as i64 * DAY_MS;
    let gone = app.gate.snapshots().retain(before, settings.retention.undo_bytes_max).await?;
    if gone.turns > 0 {
        let body = json!({"undo": gone.turns, "bytes": gone.bytes});
        let entry = AuditEntry { kind: WHY, call: String::new(), body };
        app.store.write(move |tx| tx.audit(&entry)).await?;
    }
    Ok(gone.turns)
}

/// Looks, and changes nothing.
pub fn overdue(app: &App) -> anyhow::Result<Overdue> {
    let limits = &app.settings().retention;
    let before = |days: u64| now_ms() - days as i64 * DAY_MS;
    let mut found = Overdue {
        audit_through: app.store.read(|tx| tx.audit_through(before(limits.audit_days)))?,
        ..Overdue::default()
    };
    let rows = app.store.read(|tx| tx.artifacts())?;
    let rows: HashMap<&str, &ArtifactRow> =
        rows.iter().map(|row| (row.digest.as_str(), row)).collect();
    let mut files: Vec<(UnixMillis, String, u64)> = Vec::new();
    for (name, file) in
        app.artifacts().files()?.into_iter().filter(|(name, _)| !name.starts_with('.'))
    {
        let written =
            file.modified()?.duration_since(UNIX_EPOCH).map_or(0, |age| age.as_millis() as i64);
        match rows.get(name.as_str()).map(|row| (row.created_ms, &row.removed)) {
            // A process was killed between the note and the removal.
            Some((_, Some((removed_ms, _)))) if written <= *removed_ms => {
                found.artifacts.push((name, file.len()))
            }
            Some((created_ms, None)) => files.push((created_ms.max(written), name, file.len())),
            _ => files.push((written, name, file.len())),
        }
    }
    files.sort();
    let mut bytes_left: u64 = files.iter().map(|(_, _, bytes)| bytes).sum();
    let mut candidates = Vec::new();
    for (at_ms, name, bytes) in files {
        if at_ms < before(limits.artifacts_days) || bytes_left > limits.artifacts_bytes_max {
            bytes_left -= bytes;
            candidates.push((name, bytes));
        }
    }
    if candidates.is_empty() {
        return Ok(found);
    }
    let digests: HashSet<String> = candidates.iter().map(|(name, _)| name.clone()).collect();
    let needed = app.store.read(|tx| tx.digests_in_windows(&digests))?;
    let (stay, go): (Vec<_>, Vec<_>) =
        candidates.into_iter().partition(|(name, _)| needed.contains(name));
    found.needed_bytes = stay.iter().map(|(_, bytes)| bytes).sum();
    found.artifacts.extend(go);
    Ok(found)
}

/// Lets go, the note before the file. Gives back what went, in words.
pub async fn carry_out(app: &App, overdue: Overdue) -> anyhow::Result<String> {
    if overdue.is_empty() {
        return Ok("nothing".to_owned());
    }
    let words = overdue.words();
    let gone = overdue.artifacts.clone();
    let body =
        json!({"artifacts": gone.len(), "bytes": gone.iter().map(|(_, bytes)| bytes).sum::<u64>()});
    app.store
        .write(move |tx| {
            for (digest, bytes) in &gone {
                tx.artifact_removed(digest, *bytes, WHY)?;
            }
            if gone.is_empty() {
                Ok(())
            } else {
                tx.audit(&AuditEntry { kind: WHY, call: String::new(), body })
            }
        })
        .await?;
    for (digest, _) in &overdue.artifacts {
        let path = app.artifacts().path(digest);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("{} cannot be removed", path.display()));
            }
            _ => {}
        }
    }
    if overdue.audit_through.is_some() {
        // The row that is noted outside has to be there for as long as it is compared.
        app.store.note_audit_head()?;
    }
    while let Some(through) = overdue.audit_through {
        if app.store.write(move |tx| tx.cut_audit(through, ROWS_AT_ONCE)).await? {
            break;
        }
    }
    Ok(words)
}
