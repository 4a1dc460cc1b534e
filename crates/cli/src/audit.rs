//! `claw audit`: the story of every call, and the live view. Must not know how rows are written.

use std::process::ExitCode;

use serde_json::Value;

use super::audit_calls::CallTable;
use super::explain::{Answered, network_briefly, outside_of_calls};
use super::interrupt::Presses;
use super::{fail, out};
use crate::app::App;
use crate::store::{AuditRow, Changes};

/// Rows a read.
const PAGE: u32 = 500;

/// How the audit is listed.
#[derive(Clone, Copy, Debug)]
pub struct Listed {
    /// How many of the newest rows, or of the newest calls.
    pub limit: u32,
    /// Each row by itself, as with `as_json`.
    pub rows: bool,
    pub follow: bool,
    pub as_json: bool,
}

pub async fn list(app: &App, listed: Listed) -> anyhow::Result<ExitCode> {
    let Listed { limit, rows, follow, as_json } = listed;
    if !rows && !as_json {
        return list_calls(app, limit, follow).await;
    }
    let changes = app.store.changes();
    // Page by page: a million rows do not fit into memory that anybody wants to give.
    let mut last = app.store.read(|tx| tx.audit_before_newest(limit))?;
    loop {
        let rows = app.store.read(|tx| tx.audit_after(last, PAGE))?;
        let Some(newest) = rows.last() else { break };
        last = newest.id;
        show(&rows, as_json)?;
    }
    if follow {
        follow_from(app, changes, last, |rows| show(rows, as_json)).await?;
    }
    Ok(ExitCode::from(fail::DONE))
}

/// Shows what comes behind the row `last`, until Ctrl-C is pressed.
async fn follow_from(
    app: &App,
    mut changes: Changes,
    mut last: i64,
    mut show: impl FnMut(&[AuditRow]) -> Result<(), out::Unwritten>,
) -> anyhow::Result<()> {
    let mut presses = Presses::listen()?;
    let mut found = 0;
    loop {
        // Behind a full page there may be more.
        if found < PAGE as usize {
            tokio::select! {
                () = presses.next() => return Ok(()),
                () = changes.wait() => {}
            }
        }
        let rows = app.store.read(|tx| tx.audit_after(last, PAGE))?;
        found = rows.len();
        last = rows.last().map_or(last, |row| row.id);
        show(&rows)?;
    }
}

/// One line a call.
async fn list_calls(app: &App, limit: u32, follow: bool) -> anyhow::Result<ExitCode> {
    let mut calls = CallTable::default();
    let changes = app.store.changes();
    // One state of the audit: what is added meanwhile is read by the next look.
    let (mut from, last) = app.store.read(|tx| {
        tx.at_one_moment(|| {
            let newest = tx.newest_audit()?.number;
            let none = newest + 1;
            let begins =
                if limit == 0 { none } else { tx.audit_begins(limit)?.unwrap_or_default() };
            Ok((begins, newest))
        })
    })?;
    loop {
        let page = app.store.read(|tx| tx.audit_lines(from, last, PAGE))?;
        let Some(newest) = page.last().and_then(|rows| rows.first()) else { break };
        from = newest.id + 1;
        calls.lines(&page.concat()).iter().try_for_each(|line| out::line(line))?;
        // What has been said of a call is wanted once more only where its next row is waited for.
        if !follow {
            calls = CallTable::default();
        }
    }
    if follow {
        follow_from(app, changes, last, |rows| {
            calls.lines(rows).iter().try_for_each(|line| out::line(line))
        })
        .await?;
    }
    Ok(ExitCode::from(fail::DONE))
}

fn show(rows: &[AuditRow], as_json: bool) -> Result<(), out::Unwritten> {
    rows.iter().try_for_each(|row| {
        out::line(&if as_json {
            serde_json::to_string(row).unwrap_or_default()
        } else {
            sentence(row)
        })
    })
}

/// One row for a person.
fn sentence(row: &AuditRow) -> String {
    let at = jiff::Timestamp::from_millisecond(row.at_ms)
        .map(|at| {
            at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string()
        })
        .unwrap_or_default();
    let text = |key: &str| row.body.get(key).map(plain).unwrap_or_default();
    let what = match row.kind.as_str() {
        "received" => format!(
            "{}/{} {}  ({}, {})",
            text("server"),
            text("tool"),
            text("arguments"),
            text("origin"),
            text("principal")
        ),
        "verdict" => format!("{}: {} ({})", text("verdict"), text("why"), text("rule")),
        "asked" => format!("question {}", text("approval")),
        "answered" => Answered::of(&row.body).says,
        "started" => format!("digest {}", text("digest").chars().take(12).collect::<String>()),
        "network" => network_briefly(&row.body),
        "ended" => format!("{} {}{}", text("outcome"), text("reason"), size(&row.body)),
        _ if row.call.is_empty() => outside_of_calls(row),
        _ => plain(&row.body),
    };
    format!("{:>5}  {at}  {:<14} {:<9} {}", row.id, row.call, row.kind, out::clean(what.trim()))
}

fn size(body: &Value) -> String {
    let error = if body.get("is_error") == Some(&Value::Bool(true)) {
        ", the tool says it failed"
    } else {
        ""
    };
    body.get("result_bytes").map(|bytes| format!("{bytes} bytes{error}")).unwrap_or_default()
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => crate::domain::canonical::canonical_json(other),
    }
}
