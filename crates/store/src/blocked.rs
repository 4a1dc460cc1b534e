//! The chats that do not let a bot write. Must not know why one would.

use rusqlite::params;

use super::{StoreError, Tx, now_ms};

impl Tx<'_> {
    /// False when it was known already.
    pub fn add_blocked(&self, bot: i64, chat: i64, why: &str) -> Result<bool, StoreError> {
        let added = self
            .conn
            .prepare_cached(
                "INSERT OR IGNORE INTO blocked(bot, chat, why, at_ms) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![bot, chat, why, now_ms()])?;
        Ok(added == 1)
    }

    pub fn remove_blocked(&self, bot: i64, chat: i64) -> Result<bool, StoreError> {
        let removed = self
            .conn
            .prepare_cached("DELETE FROM blocked WHERE bot = ?1 AND chat = ?2")?
            .execute([bot, chat])?;
        Ok(removed == 1)
    }

    pub fn blocked(&self, bot: i64) -> Result<Vec<i64>, StoreError> {
        let mut query = self.conn.prepare_cached("SELECT chat FROM blocked WHERE bot = ?1")?;
        let rows = query.query_map([bot], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
