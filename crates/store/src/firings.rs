//! Firings of jobs that claw has written down: each id is taken once, in the transaction that puts
//! what is to be done into the inbox or the outbox. Must not know what a firing brings.

use rusqlite::{OptionalExtension as _, Row, params};

use super::{StoreError, Tx, now_ms};
use claw_domain::{SessionId, UnixMillis};

/// How long a firing is remembered, in milliseconds: longer than any scheduler keeps one due whose
/// job is at all watched.
const KEPT_MS: i64 = 400 * 24 * 60 * 60 * 1000;

/// What a firing has become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FiringBecame {
    /// Words in the outbox.
    Words,
    /// A message in the inbox, which begins a turn.
    Turn,
    /// The owner was told that it could be neither.
    Told,
}

impl FiringBecame {
    fn as_str(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Turn => "turn",
            Self::Told => "told",
        }
    }
}

/// A firing to be written down.
#[derive(Clone, Debug)]
pub struct NewFiring {
    /// The scheduler's id.
    pub id: String,
    pub job: String,
    pub revision: i64,
    pub session: Option<SessionId>,
    pub became: FiringBecame,
    /// The job in a few words.
    pub title: String,
    /// When the job fires, in words.
    pub schedule: String,
    /// What was said, where that can be answered.
    pub said: Option<String>,
}

/// Words that a firing has said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaidFiring {
    pub said: String,
    pub at_ms: UnixMillis,
    /// What was answered, if anything was.
    pub answer: Option<String>,
}

fn said(row: &Row<'_>) -> rusqlite::Result<SaidFiring> {
    Ok(SaidFiring { said: row.get("said")?, at_ms: row.get("at_ms")?, answer: row.get("answer")? })
}

/// What a job is called, by its newest firing at a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobName {
    pub job: String,
    pub title: String,
    pub schedule: String,
}

fn name(row: &Row<'_>) -> rusqlite::Result<JobName> {
    Ok(JobName { job: row.get(0)?, title: row.get(1)?, schedule: row.get(2)? })
}

impl Tx<'_> {
    /// Writes a firing down. False: it is known already, whoever has written it.
    pub fn add_firing(&self, firing: &NewFiring) -> Result<bool, StoreError> {
        let now = now_ms();
        let added = self
            .conn
            .prepare_cached(
                "INSERT INTO firings(id, job, revision, session, became, title, schedule, at_ms, said)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO NOTHING",
            )?
            .execute(params![
                firing.id,
                firing.job,
                firing.revision,
                firing.session.as_ref().map(SessionId::as_str),
                firing.became.as_str(),
                firing.title,
                firing.schedule,
                now,
                firing.said
            ])?;
        if added == 1 {
            self.conn
                .prepare_cached("DELETE FROM firings WHERE at_ms < ?1")?
                .execute([now - KEPT_MS])?;
        }
        Ok(added == 1)
    }

    pub fn knows_firing(&self, id: &str) -> Result<bool, StoreError> {
        let mut query =
            self.conn.prepare_cached("SELECT EXISTS(SELECT 1 FROM firings WHERE id = ?1)")?;
        Ok(query.query_row([id], |row| row.get(0))?)
    }

    /// What a firing has said. `None` where it said nothing, or is forgotten.
    pub fn said_firing(&self, id: &str) -> Result<Option<SaidFiring>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT said, at_ms, answer FROM firings WHERE id = ?1 AND said IS NOT NULL",
        )?;
        Ok(query.query_row([id], said).optional()?)
    }

    /// The newest firing that has said something in a session, with its id.
    pub fn newest_said_firing(
        &self,
        session: &SessionId,
    ) -> Result<Option<(String, SaidFiring)>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT id, said, at_ms, answer FROM firings WHERE session = ?1 AND said IS NOT NULL
             ORDER BY at_ms DESC LIMIT 1",
        )?;
        let row = |row: &Row<'_>| Ok((row.get("id")?, said(row)?));
        Ok(query.query_row([session.as_str()], row).optional()?)
    }

    /// Keeps the answer to what a firing has said. False: there is one already, or no such firing.
    pub fn answer_firing(&self, id: &str, answer: &str) -> Result<bool, StoreError> {
        let changed = self
            .conn
            .prepare_cached(
                "UPDATE firings SET answer = ?2 WHERE id = ?1 AND answer IS NULL AND said IS NOT NULL",
            )?
            .execute(params![id, answer])?;
        Ok(changed == 1)
    }

    /// When the turns began that jobs have begun since then, oldest first.
    pub fn job_turns_since(&self, since_ms: UnixMillis) -> Result<Vec<UnixMillis>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT at_ms FROM firings WHERE at_ms > ?1 AND became = 'turn' ORDER BY at_ms",
        )?;
        let rows = query.query_map([since_ms], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// What a job is called that has fired at this revision.
    pub fn job_name(&self, job: &str, revision: i64) -> Result<Option<JobName>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT job, title, schedule FROM firings WHERE job = ?1 AND revision = ?2
             ORDER BY at_ms DESC LIMIT 1",
        )?;
        Ok(query.query_row(params![job, revision], name).optional()?)
    }
}
