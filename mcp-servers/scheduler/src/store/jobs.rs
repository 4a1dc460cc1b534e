//! Rows of jobs. Owns their SQL; must not know what a job does.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::error::{Result, ToolError};
use crate::job::{Job, id_of};

const COLUMNS: &str = "number, revision, paused, plan, planned, last_planned";

fn read(row: &Row<'_>) -> rusqlite::Result<Job> {
    Ok(Job {
        number: row.get(0)?,
        revision: row.get(1)?,
        is_paused: row.get(2)?,
        plan: super::json(row, 3)?,
        planned: row.get(4)?,
        last_planned: row.get(5)?,
    })
}

/// # Errors
/// There is no such job.
pub fn find(db: &Connection, number: i64) -> Result<Job> {
    let found = db
        .prepare_cached(&format!("SELECT {COLUMNS} FROM jobs WHERE number = ?1"))?
        .query_row([number], read)
        .optional()?;
    found.ok_or_else(|| ToolError::NoJob { id: id_of(number) })
}

/// Jobs behind a number, in order.
pub fn page(db: &Connection, after: i64, chat: Option<&str>, limit: usize) -> Result<Vec<Job>> {
    let sql = match chat {
        None => format!(
            "SELECT {COLUMNS} FROM jobs WHERE number > ?1 AND ?2 IS NULL ORDER BY number LIMIT ?3"
        ),
        Some(_) => format!(
            "SELECT {COLUMNS} FROM jobs WHERE chat = ?2 AND number > ?1 ORDER BY number LIMIT ?3"
        ),
    };
    all(db, &sql, params![after, chat, limit as i64])
}

/// Which jobs there are, and at which revision.
pub fn revisions(db: &Connection) -> Result<Vec<(i64, i64)>> {
    let mut statement = db.prepare_cached("SELECT number, revision FROM jobs ORDER BY number")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The jobs that come next, or have come, in order.
pub fn soonest(db: &Connection, limit: usize) -> Result<Vec<Job>> {
    let sql =
        format!("SELECT {COLUMNS} FROM jobs WHERE due_at IS NOT NULL ORDER BY due_at LIMIT ?1");
    all(db, &sql, params![limit as i64])
}

/// The jobs that have come.
pub fn come(db: &Connection, now: i64, limit: usize) -> Result<Vec<Job>> {
    let sql = format!("SELECT {COLUMNS} FROM jobs WHERE due_at <= ?1 ORDER BY due_at LIMIT ?2");
    all(db, &sql, params![now, limit as i64])
}

fn all(db: &Connection, sql: &str, params: impl rusqlite::Params) -> Result<Vec<Job>> {
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map(params, read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

pub fn count(db: &Connection) -> Result<u64> {
    let count: i64 =
        db.prepare_cached("SELECT count(*) FROM jobs")?.query_row([], |row| row.get(0))?;
    Ok(count.unsigned_abs())
}

/// When the next job comes, if any does.
pub fn next_due_at(db: &Connection) -> Result<Option<i64>> {
    let mut statement =
        db.prepare_cached("SELECT min(due_at) FROM jobs WHERE due_at IS NOT NULL")?;
    Ok(statement.query_row([], |row| row.get(0))?)
}

/// Writes a new job and gives its number.
pub fn insert(db: &Connection, job: &Job) -> Result<i64> {
    db.prepare_cached("INSERT INTO jobs (revision, paused, chat, plan) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![
        job.revision,
        job.is_paused,
        job.plan.what.chat,
        serde_json::to_string(&job.plan)?
    ])?;
    Ok(db.last_insert_rowid())
}

/// Writes what a job is now.
pub fn update(db: &Connection, job: &Job) -> Result<()> {
    let due_at = job.planned.map(|planned| planned + job.jitter_s());
    db.prepare_cached(
        "UPDATE jobs SET revision = ?2, paused = ?3, chat = ?4, plan = ?5, planned = ?6, due_at = ?7,
            last_planned = ?8 WHERE number = ?1",
    )?
    .execute(params![
        job.number,
        job.revision,
        job.is_paused,
        job.plan.what.chat,
        serde_json::to_string(&job.plan)?,
        job.planned,
        due_at,
        job.last_planned
    ])?;
    Ok(())
}

/// Only where a job goes on, after a firing.
pub fn advance(db: &Connection, job: &Job, planned: i64, last_planned: i64) -> Result<()> {
    db.prepare_cached(
        "UPDATE jobs SET planned = ?2, due_at = ?3, last_planned = ?4 WHERE number = ?1",
    )?
    .execute([job.number, planned, planned + job.jitter_s(), last_planned])?;
    Ok(())
}

pub fn delete(db: &Connection, number: i64) -> Result<()> {
    db.prepare_cached("DELETE FROM jobs WHERE number = ?1")?.execute([number])?;
    Ok(())
}
