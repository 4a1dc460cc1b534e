//! What a chat service has handed over and what became of it. An update is kept here before the
//! service may forget it, and is done with in the transaction that puts what it says into the
//! inbox. Must not know what is in an update.

use rusqlite::params;

use super::{StoreError, Tx, now_ms};

/// An update that waits to be handled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptUpdate {
    /// Counts up in the order in which updates were kept, over all bots.
    pub nr: i64,
    /// The service's own number.
    pub id: i64,
    pub body: String,
}

impl Tx<'_> {
    /// Keeps an update. False when it is here already: services hand over again what was not
    /// confirmed.
    pub fn keep_update(&self, bot: i64, update: i64, body: &str) -> Result<bool, StoreError> {
        let added = self
            .conn
            .prepare_cached(
                "INSERT OR IGNORE INTO updates(bot, id, at_ms, body) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![bot, update, now_ms(), body])?;
        Ok(added == 1)
    }

    /// The updates of a bot that nobody has handled yet and that were kept after number `after`, in
    /// that order.
    pub fn kept_updates(&self, bot: i64, after: i64) -> Result<Vec<KeptUpdate>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT nr, id, body FROM updates WHERE bot = ?1 AND state = 'kept' AND nr > ?2 ORDER BY nr",
        )?;
        let row = |row: &rusqlite::Row<'_>| {
            Ok(KeptUpdate { nr: row.get(0)?, id: row.get(1)?, body: row.get(2)? })
        };
        let rows = query.query_map([bot, after], row)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The text of an update that nobody has handled yet.
    pub fn kept_update(&self, bot: i64, update: i64) -> Result<Option<String>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT body FROM updates WHERE bot = ?1 AND id = ?2 AND state = 'kept'",
        )?;
        let mut rows = query.query_map(params![bot, update], |row| row.get(0))?;
        Ok(rows.next().transpose()?)
    }

    /// Notes that an update was handled, `how` in one word. False when it was before. Its text is
    /// no longer needed.
    pub fn finish_update(&self, bot: i64, update: i64, how: &str) -> Result<bool, StoreError> {
        let changed = self
            .conn
            .prepare_cached("UPDATE updates SET state = ?3, body = '' WHERE bot = ?1 AND id = ?2 AND state = 'kept'")?
            .execute(params![bot, update, how])?;
        Ok(changed == 1)
    }

    /// Forgets updates that were handled before `before_ms`. The service itself forgets after 24
    /// hours, so nothing older can come again.
    pub fn forget_updates(&self, before_ms: i64) -> Result<usize, StoreError> {
        let mut forget =
            self.conn.prepare_cached("DELETE FROM updates WHERE state <> 'kept' AND at_ms < ?1")?;
        Ok(forget.execute([before_ms])?)
    }
}
