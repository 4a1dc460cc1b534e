//! What a chat service has handed over and what became of it. An update is kept here before the service may forget it, and
//! is done with in the transaction that puts what it says into the inbox. Must not know what is in an update.

use rusqlite::params;

use super::{StoreError, Tx, now_ms};

impl Tx<'_> {
    /// Keeps an update. False when it is here already: services hand over again what was not confirmed.
    pub fn keep_update(&self, bot: i64, update: i64, body: &str) -> Result<bool, StoreError> {
        let added = self
            .conn
            .prepare_cached("INSERT OR IGNORE INTO updates(bot, id, at_ms, body) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![bot, update, now_ms(), body])?;
        Ok(added == 1)
    }

    /// The updates of a bot that nobody has handled yet, in the order in which they came.
    pub fn kept_updates(&self, bot: i64) -> Result<Vec<(i64, String)>, StoreError> {
        let mut query =
            self.conn.prepare_cached("SELECT id, body FROM updates WHERE bot = ?1 AND state = 'kept' ORDER BY nr")?;
        let rows = query.query_map([bot], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Notes that an update was handled, `how` in one word. False when it was before. Its text is no longer needed.
    pub fn finish_update(&self, bot: i64, update: i64, how: &str) -> Result<bool, StoreError> {
        let changed = self
            .conn
            .prepare_cached("UPDATE updates SET state = ?3, body = '' WHERE bot = ?1 AND id = ?2 AND state = 'kept'")?
            .execute(params![bot, update, how])?;
        Ok(changed == 1)
    }

    /// Forgets updates that were handled before `before_ms`. The service itself forgets after 24 hours, so nothing older can
    /// come again.
    pub fn forget_updates(&self, before_ms: i64) -> Result<usize, StoreError> {
        let mut forget = self.conn.prepare_cached("DELETE FROM updates WHERE state <> 'kept' AND at_ms < ?1")?;
        Ok(forget.execute([before_ms])?)
    }
}
