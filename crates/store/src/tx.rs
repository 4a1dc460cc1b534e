//! The handle through which every row is read and written. Owns the connection for the length of a
//! job; the methods live beside their tables.

use std::time::Duration;

use rusqlite::{Connection, Params, Row};

use super::StoreError;
use super::anchor::Anchor;
use claw_domain::{SessionId, UnixMillis};

/// A view of the database: inside a write job, or for reading. The tables' files add the methods;
/// no SQL leaves this room.
pub struct Tx<'c> {
    pub(super) conn: &'c Connection,
    /// What seals the audit. None in a process without a key.
    pub(super) anchor: Option<&'c Anchor>,
}

impl<'c> Tx<'c> {
    pub(super) fn new(conn: &'c Connection) -> Self {
        Self { conn, anchor: None }
    }

    pub(super) fn sealing(conn: &'c Connection, anchor: Option<&'c Anchor>) -> Self {
        Self { conn, anchor }
    }

    /// Runs several queries on one state of the database: what others commit meanwhile is not seen.
    /// Inside a write job that is so already.
    pub fn at_one_moment<T>(
        &self,
        read: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        // Dropping the transaction ends it. It has written nothing, so there is nothing to undo.
        let _moment =
            self.conn.is_autocommit().then(|| self.conn.unchecked_transaction()).transpose()?;
        read()
    }

    /// Every row that a query finds.
    pub(super) fn all<T>(
        &self,
        sql: &str,
        given: impl Params,
        mut read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut query = self.conn.prepare_cached(sql)?;
        let mut rows = query.query(given)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(read(row)?);
        }
        Ok(found)
    }
}

/// What the column `session` of a call or a question holds; empty where no session waits for it.
pub(super) fn session_column(session: Option<&SessionId>) -> &str {
    session.map_or("", SessionId::as_str)
}

/// The wall clock, in milliseconds since 1970-01-01T00:00:00Z.
pub fn now_ms() -> UnixMillis {
    jiff::Timestamp::now().as_millisecond()
}

/// How long to wait until then. At least a millisecond, so that who waits in a loop does not spin.
pub fn time_until(at_ms: UnixMillis) -> Duration {
    Duration::from_millis((at_ms - now_ms()).max(1).unsigned_abs())
}
