//! Rows of the history: what became of each job and each firing. Owns their SQL and their bounds.

use rusqlite::{Connection, params};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::Limits;
use crate::error::Result;
use crate::job::Job;

const DAY_S: i64 = 86_400;

/// What has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Event {
    Scheduled,
    Changed,
    Paused,
    Resumed,
    Cancelled,
    /// The last firing has come.
    Ended,
    /// A firing became due.
    Due,
    /// A firing that somebody asked for became due.
    Run,
    Taken,
    /// Firings that nobody was there for, by `if_missed`.
    Missed,
    /// Firings that came while an earlier one was due.
    Overlapped,
    /// Nobody took it in time, by `not_later_than_minutes`.
    Expired,
    /// Its job was cancelled.
    Withdrawn,
}

const EVENTS: [Event; 13] = [
    Event::Scheduled,
    Event::Changed,
    Event::Paused,
    Event::Resumed,
    Event::Cancelled,
    Event::Ended,
    Event::Due,
    Event::Run,
    Event::Taken,
    Event::Missed,
    Event::Overlapped,
    Event::Expired,
    Event::Withdrawn,
];

impl Event {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Changed => "changed",
            Self::Paused => "paused",
            Self::Resumed => "resumed",
            Self::Cancelled => "cancelled",
            Self::Ended => "ended",
            Self::Due => "due",
            Self::Run => "run",
            Self::Taken => "taken",
            Self::Missed => "missed",
            Self::Overlapped => "overlapped",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// One row. Times are seconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub seq: i64,
    pub at: i64,
    pub job: i64,
    pub revision: i64,
    pub event: Event,
    pub firing: Option<String>,
    /// The firing that it is about, or the newest of several.
    pub planned: Option<i64>,
    pub count: u64,
    pub line: Option<String>,
}

impl Row {
    /// What happened to a job, without a firing.
    pub fn of(job: &Job, event: Event, at: i64) -> Self {
        let line = Some(job.plan.what.line());
        let (job, revision) = (job.number, job.revision);
        Self { seq: 0, at, job, revision, event, firing: None, planned: None, count: 1, line }
    }
}

/// Writes a row, and takes the oldest away where there are too many.
pub fn write(db: &Connection, row: &Row, limits: &Limits) -> Result<()> {
    db.prepare_cached(
        "INSERT INTO history (at, job, revision, event, firing, planned, count, line)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![
        row.at,
        row.job,
        row.revision,
        row.event.as_str(),
        row.firing,
        row.planned,
        i64::try_from(row.count).unwrap_or(i64::MAX),
        row.line
    ])?;
    prune(db, row.at, limits)
}

/// Each statement looks at the oldest rows alone, so it costs nothing where nothing is too old.
fn prune(db: &Connection, now: i64, limits: &Limits) -> Result<()> {
    let rows = i64::try_from(limits.history_rows_max).unwrap_or(i64::MAX);
    let days = i64::try_from(limits.history_days_max).unwrap_or(i64::MAX);
    let oldest = now.saturating_sub(days.saturating_mul(DAY_S));
    for sql in [
        "DELETE FROM history WHERE seq <= (SELECT max(seq) FROM history) - ?1",
        "DELETE FROM firings WHERE seq <= (SELECT max(seq) FROM firings) - ?1 AND state <> 'due'",
    ] {
        db.prepare_cached(sql)?.execute([rows])?;
    }
    for sql in [
        "DELETE FROM history WHERE seq < (SELECT seq FROM history WHERE at >= ?1 ORDER BY seq LIMIT 1)",
        "DELETE FROM firings WHERE seq < (SELECT seq FROM firings WHERE since >= ?1 ORDER BY seq LIMIT 1)
            AND state <> 'due'",
    ] {
        db.prepare_cached(sql)?.execute([oldest])?;
    }
    Ok(())
}

/// Rows before a number, newest first, of one job or of all.
pub fn page(db: &Connection, job: Option<i64>, before: i64, limit: usize) -> Result<Vec<Row>> {
    const COLUMNS: &str = "seq, at, job, revision, event, firing, planned, count, line";
    let sql = match job {
        None => format!(
            "SELECT {COLUMNS} FROM history WHERE seq < ?1 AND ?2 IS NULL ORDER BY seq DESC LIMIT ?3"
        ),
        Some(_) => format!(
            "SELECT {COLUMNS} FROM history WHERE job = ?2 AND seq < ?1 ORDER BY seq DESC LIMIT ?3"
        ),
    };
    let mut statement = db.prepare_cached(&sql)?;
    let rows = statement.query_map(params![before, job, limit as i64], |row| {
        let event: String = row.get(4)?;
        let known = EVENTS.into_iter().find(|known| known.as_str() == event);
        let count: i64 = row.get(7)?;
        Ok(Row {
            seq: row.get(0)?,
            at: row.get(1)?,
            job: row.get(2)?,
            revision: row.get(3)?,
            event: known.ok_or(rusqlite::Error::InvalidQuery)?,
            firing: row.get(5)?,
            planned: row.get(6)?,
            count: count.unsigned_abs(),
            line: row.get(8)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// How many firings were missed, in all that the history still knows.
pub fn missed(db: &Connection) -> Result<u64> {
    let sql = "SELECT coalesce(sum(count), 0) FROM history WHERE event IN ('missed', 'expired')";
    let count: i64 = db.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
    Ok(count.unsigned_abs())
}
