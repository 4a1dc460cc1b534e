//! Rows of firings. Owns their SQL, and that each is taken once; must not know when one comes.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::error::{Result, ToolError};
use crate::job::What;

/// A firing that is due, or was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Firing {
    /// Grows with each firing: the cursor.
    pub seq: i64,
    pub id: String,
    pub job: i64,
    pub revision: i64,
    /// When it was to be, in seconds since 1970.
    pub planned: i64,
    pub since: i64,
    /// It is given up when nobody has taken it by then.
    pub not_after: Option<i64>,
    pub zone: String,
    pub what: What,
    pub state: State,
    pub settled: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Due,
    Taken,
    Expired,
    Withdrawn,
}

impl State {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Due => "due",
            Self::Taken => "taken",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
        }
    }

    /// The table takes no other words.
    fn named(name: &str) -> Self {
        match name {
            "taken" => Self::Taken,
            "expired" => Self::Expired,
            "withdrawn" => Self::Withdrawn,
            _ => Self::Due,
        }
    }
}

const COLUMNS: &str =
    "seq, id, job, revision, planned, since, not_after, zone, what, state, settled";

fn read(row: &Row<'_>) -> rusqlite::Result<Firing> {
    let state: String = row.get(9)?;
    Ok(Firing {
        seq: row.get(0)?,
        id: row.get(1)?,
        job: row.get(2)?,
        revision: row.get(3)?,
        planned: row.get(4)?,
        since: row.get(5)?,
        not_after: row.get(6)?,
        zone: row.get(7)?,
        what: super::json(row, 8)?,
        state: State::named(&state),
        settled: row.get(10)?,
    })
}

/// # Errors
/// There is no such firing.
pub fn find(db: &Connection, id: &str) -> Result<Firing> {
    let found = db
        .prepare_cached(&format!("SELECT {COLUMNS} FROM firings WHERE id = ?1"))?
        .query_row([id], read)
        .optional()?;
    found.ok_or_else(|| ToolError::NoFiring { id: id.to_owned() })
}

/// Firings that are due, behind a cursor, in the order in which they became so.
pub fn due(db: &Connection, after: i64, limit: usize) -> Result<Vec<Firing>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM firings WHERE state = 'due' AND seq > ?1 ORDER BY seq LIMIT ?2"
    );
    let mut statement = db.prepare_cached(&sql)?;
    let rows = statement.query_map(params![after, limit as i64], read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Firings that are due and have been for too long.
pub fn expired(db: &Connection, now: i64) -> Result<Vec<Firing>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM firings WHERE state = 'due' AND not_after < ?1 ORDER BY seq"
    );
    let mut statement = db.prepare_cached(&sql)?;
    let rows = statement.query_map([now], read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

pub fn of_job(db: &Connection, job: i64) -> Result<Vec<Firing>> {
    let sql =
        format!("SELECT {COLUMNS} FROM firings WHERE state = 'due' AND job = ?1 ORDER BY seq");
    let mut statement = db.prepare_cached(&sql)?;
    let rows = statement.query_map([job], read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Whether a firing of the job's own times is due. One that somebody asked for is none of them.
pub fn has_due(db: &Connection, job: i64) -> Result<bool> {
    let mut statement = db.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM firings WHERE state = 'due' AND job = ?1
            AND instr(id, '-run') = 0)",
    )?;
    Ok(statement.query_row([job], |row| row.get(0))?)
}

pub fn count_due(db: &Connection) -> Result<u64> {
    let mut statement = db.prepare_cached("SELECT count(*) FROM firings WHERE state = 'due'")?;
    let count: i64 = statement.query_row([], |row| row.get(0))?;
    Ok(count.unsigned_abs())
}

/// When the next firing that is due is given up, if any is.
pub fn next_expiry(db: &Connection) -> Result<Option<i64>> {
    let mut statement = db.prepare_cached(
        "SELECT min(not_after) FROM firings WHERE state = 'due' AND not_after IS NOT NULL",
    )?;
    Ok(statement.query_row([], |row| row.get(0))?)
}

/// The newest firing there ever was, as a cursor.
pub fn cursor(db: &Connection) -> Result<i64> {
    let mut statement =
        db.prepare_cached("SELECT seq FROM sqlite_sequence WHERE name = 'firings'")?;
    Ok(statement.query_row([], |row| row.get(0)).optional()?.unwrap_or(0))
}

/// Writes a firing that is due now. One that there was already stays as it is.
pub fn insert(db: &Connection, firing: &Firing) -> Result<bool> {
    let done = db
        .prepare_cached(
            "INSERT INTO firings (id, job, revision, planned, since, not_after, zone, what, state)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'due') ON CONFLICT (id) DO NOTHING",
        )?
        .execute(params![
            firing.id,
            firing.job,
            firing.revision,
            firing.planned,
            firing.since,
            firing.not_after,
            firing.zone,
            serde_json::to_string(&firing.what)?
        ])?;
    Ok(done == 1)
}

/// From due to another state: true for exactly one of all that try.
pub fn settle(db: &Connection, id: &str, state: State, now: i64) -> Result<bool> {
    let done = db
        .prepare_cached(
            "UPDATE firings SET state = ?2, settled = ?3 WHERE id = ?1 AND state = 'due'",
        )?
        .execute(params![id, state.as_str(), now])?;
    Ok(done == 1)
}
