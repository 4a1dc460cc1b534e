//! Which messages of a chat show something that is not finished: an answer that is being written, a
//! call that runs. A later process has to find them again. Must not know any chat's wire.

use rusqlite::params;

use super::{StoreError, Tx};
use claw_domain::{Address, DraftMessage, RunningCall, SessionId};

/// The drafts of everything up to a step.
const THROUGH: &str =
    "WHERE address = ?1 AND session = ?2 AND (turn_seq < ?3 OR (turn_seq = ?3 AND step <= ?4))";

impl Tx<'_> {
    pub fn add_draft(&self, draft: &DraftMessage) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT OR REPLACE INTO drafts(address, message, session, turn_seq, step, part)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![
                draft.address.0,
                draft.message,
                draft.session.as_str(),
                draft.turn_seq as i64,
                draft.step,
                draft.part
            ])?;
        Ok(())
    }

    /// The messages that show a step, in the order of its parts. A part that was sent twice counts
    /// once, with its newest message.
    pub fn drafts(
        &self,
        address: &Address,
        session: &SessionId,
        turn_seq: u64,
        step: u32,
    ) -> Result<Vec<i64>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT max(message) FROM drafts WHERE address = ?1 AND session = ?2 AND turn_seq = ?3 AND step = ?4
             GROUP BY part ORDER BY part",
        )?;
        let rows = query
            .query_map(params![address.0, session.as_str(), turn_seq as i64, step], |row| {
                row.get(0)
            })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// All messages that [`Self::end_drafts`] with the same arguments will forget.
    pub fn drafts_through(
        &self,
        address: &Address,
        session: &SessionId,
        turn_seq: u64,
        step: Option<u32>,
    ) -> Result<Vec<i64>, StoreError> {
        let mut query =
            self.conn.prepare_cached(&format!("SELECT message FROM drafts {THROUGH}"))?;
        let through =
            params![address.0, session.as_str(), turn_seq as i64, step.unwrap_or(u32::MAX)];
        let rows = query.query_map(through, |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// What was a draft is final: one step, or the whole turn and all before it.
    pub fn end_drafts(
        &self,
        address: &Address,
        session: &SessionId,
        turn_seq: u64,
        step: Option<u32>,
    ) -> Result<(), StoreError> {
        self.conn.prepare_cached(&format!("DELETE FROM drafts {THROUGH}"))?.execute(params![
            address.0,
            session.as_str(),
            turn_seq as i64,
            step.unwrap_or(u32::MAX)
        ])?;
        Ok(())
    }

    pub fn add_running(&self, running: &RunningCall) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("INSERT OR REPLACE INTO running(address, message, session, title) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![running.address.0, running.message, running.session.as_str(), running.title])?;
        Ok(())
    }

    /// Every message that shows a call that runs, or that ran when its process was ended.
    pub fn running(&self) -> Result<Vec<RunningCall>, StoreError> {
        let mut query =
            self.conn.prepare_cached("SELECT address, message, session, title FROM running")?;
        let rows = query.query_map([], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?, row.get(3)?))
        })?;
        let mut found = Vec::new();
        for row in rows {
            let (address, message, session, title) = row?;
            // A name that is none was not written by claw; nothing can run under it.
            let Ok(session) = SessionId::new(session) else { continue };
            found.push(RunningCall { address: Address(address), message, session, title });
        }
        Ok(found)
    }

    /// The session whose call this message shows.
    pub fn running_at(
        &self,
        address: &Address,
        message: i64,
    ) -> Result<Option<SessionId>, StoreError> {
        let mut query = self
            .conn
            .prepare_cached("SELECT session FROM running WHERE address = ?1 AND message = ?2")?;
        let mut rows =
            query.query_map(params![address.0, message], |row| row.get::<_, String>(0))?;
        Ok(rows.next().transpose()?.and_then(|session| SessionId::new(session).ok()))
    }

    pub fn end_running(&self, address: &Address, message: i64) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("DELETE FROM running WHERE address = ?1 AND message = ?2")?
            .execute(params![address.0, message])?;
        Ok(())
    }
}
