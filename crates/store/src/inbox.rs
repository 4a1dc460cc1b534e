//! The inbox: what came in and waits to be absorbed into a session's log.

use std::collections::HashSet;

use rusqlite::{OptionalExtension as _, params};

use super::damaged::json_at;
use super::{RowAt, StoreError, Tx, now_ms};
use claw_domain::{Inbound, InboundBody, SessionId, UnixMillis};

#[derive(Clone, Debug)]
pub struct InboxRow {
    pub id: i64,
    pub at_ms: UnixMillis,
    pub inbound: Inbound,
}

pub(super) fn kind(body: &InboundBody) -> &'static str {
    match body {
        InboundBody::Message { .. } => "message",
        InboundBody::Answered { .. } => "answered",
        InboundBody::Stop => "stop",
        InboundBody::Compact => "compact",
        InboundBody::Clear => "clear",
        InboundBody::Undo => "undo",
    }
}

impl Tx<'_> {
    /// Adds a row and returns its id. Messages beyond `queued_messages_max` are refused; stops and
    /// answers never are.
    pub fn add_inbound(
        &self,
        inbound: &Inbound,
        queued_messages_max: u32,
    ) -> Result<i64, StoreError> {
        let kind = kind(&inbound.body);
        if kind == "message" && self.queued_messages(&inbound.session)? >= queued_messages_max {
            return Err(StoreError::QueueFull(queued_messages_max));
        }
        let now = now_ms();
        self.touch_session(&inbound.session, now)?;
        self.conn
            .prepare_cached(
                "INSERT INTO inbox(session, kind, at_ms, body) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![inbound.session.as_str(), kind, now, serde_json::to_string(inbound)?])
            .map_err(|error| self.numbers_over(error, "inbox", RowAt::Inbox))?;
        Ok(self.conn.last_insert_rowid())
    }

    /// Adds a row unless one with this mark was added before, whose id is returned then.
    pub fn add_inbound_once(
        &self,
        inbound: &Inbound,
        mark: &str,
        queued_messages_max: u32,
    ) -> Result<i64, StoreError> {
        if let Some(id) = self.inbound_of_mark(mark)? {
            return Ok(id);
        }
        let id = self.add_inbound(inbound, queued_messages_max)?;
        self.conn
            .prepare_cached("UPDATE inbox SET mark = ?2 WHERE id = ?1")?
            .execute(params![id, mark])?;
        Ok(id)
    }

    /// The id of the row that was added with this mark.
    pub fn inbound_of_mark(&self, mark: &str) -> Result<Option<i64>, StoreError> {
        let mut query = self.conn.prepare_cached("SELECT id FROM inbox WHERE mark = ?1")?;
        Ok(query.query_row([mark], |row| row.get(0)).optional()?)
    }

    pub fn queued_messages(&self, session: &SessionId) -> Result<u32, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT count(*) FROM inbox WHERE session = ?1 AND state = 'queued' AND kind = 'message'",
        )?;
        Ok(query.query_row([session.as_str()], |row| row.get(0))?)
    }

    /// All queued rows of a session, oldest first.
    pub fn queued_inbound(&self, session: &SessionId) -> Result<Vec<InboxRow>, StoreError> {
        let sql =
            "SELECT id, at_ms, body FROM inbox WHERE session = ?1 AND state = 'queued' ORDER BY id";
        self.all(sql, [session.as_str()], |row| {
            let id = row.get(0)?;
            let inbound = json_at(row, 2, || RowAt::Inbox(id))?;
            Ok(InboxRow { id, at_ms: row.get(1)?, inbound })
        })
    }

    /// The row with this id, and whether it still waits to be absorbed.
    pub fn inbound(&self, id: i64) -> Result<Option<(InboxRow, bool)>, StoreError> {
        let mut query =
            self.conn.prepare_cached("SELECT at_ms, body, state FROM inbox WHERE id = ?1")?;
        let mut rows = query.query([id])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let inbound = json_at(row, 1, || RowAt::Inbox(id))?;
        let is_queued = row.get::<_, String>(2)? == "queued";
        Ok(Some((InboxRow { id, at_ms: row.get(0)?, inbound }, is_queued)))
    }

    /// Whether the owner has asked to stop this session's turn and the worker has not seen it yet.
    pub fn stop_queued(&self, session: &SessionId) -> Result<bool, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT EXISTS(SELECT 1 FROM inbox WHERE session = ?1 AND state = 'queued' AND kind IN ('stop', 'clear'))",
        )?;
        Ok(query.query_row([session.as_str()], |row| row.get(0))?)
    }

    /// The sessions that the owner has asked to stop, as far as their workers have not seen it yet.
    pub fn stops_queued(&self) -> Result<HashSet<SessionId>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT DISTINCT session FROM inbox WHERE state = 'queued' AND kind IN ('stop', 'clear')",
        )?;
        let mut rows = query.query([])?;
        let mut found = HashSet::new();
        while let Some(row) = rows.next()? {
            found.insert(session_of(row.get(0)?)?);
        }
        Ok(found)
    }

    /// The sessions that have something to take in: those whose name starts with `prefix`, and
    /// others whose rows wait since before `older_ms`, because nobody of theirs is there to do it.
    pub fn sessions_with_work(
        &self,
        prefix: &str,
        older_ms: UnixMillis,
    ) -> Result<Vec<SessionId>, StoreError> {
        let sql = "SELECT DISTINCT session FROM inbox
             WHERE state = 'queued' AND (substr(session, 1, length(?1)) = ?1 OR at_ms < ?2) ORDER BY session";
        self.all(sql, params![prefix, older_ms], |row| session_of(row.get(0)?))
    }

    /// Whether messages are all that waits to be taken in.
    pub fn only_messages_queued(&self, session: &SessionId) -> Result<bool, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT NOT EXISTS(SELECT 1 FROM inbox WHERE session = ?1 AND state = 'queued' AND kind <> 'message')",
        )?;
        Ok(query.query_row([session.as_str()], |row| row.get(0))?)
    }

    /// The sessions in which an answer waits to be taken in.
    pub fn sessions_with_answers(&self) -> Result<Vec<SessionId>, StoreError> {
        let sql = "SELECT DISTINCT session FROM inbox WHERE state = 'queued' AND kind = 'answered' ORDER BY session";
        self.all(sql, [], |row| session_of(row.get(0)?))
    }

    /// Lets no session take in the messages that wait in it. How many these were.
    pub fn leave_messages(&self, session: &SessionId) -> Result<usize, StoreError> {
        let sql = "UPDATE inbox SET state = 'absorbed'
                   WHERE session = ?1 AND state = 'queued' AND kind = 'message'";
        Ok(self.conn.prepare_cached(sql)?.execute([session.as_str()])?)
    }

    pub fn mark_absorbed(&self, id: i64) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("UPDATE inbox SET state = 'absorbed' WHERE id = ?1")?
            .execute([id])?;
        Ok(())
    }
}

pub(super) fn session_of(name: String) -> Result<SessionId, StoreError> {
    SessionId::new(name).map_err(|error| StoreError::Decode(error.to_string()))
}
