//! Chats that a service has given another number. Must not know why.

use rusqlite::params;

use super::{StoreError, Tx, now_ms};
use claw_domain::Address;

impl Tx<'_> {
    /// Notes the number that a chat has now. The newest counts.
    pub fn add_moved_chat(&self, bot: i64, chat: i64, now: i64) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT OR REPLACE INTO moved_chats(bot, chat, now, at_ms) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![bot, chat, now, now_ms()])?;
        Ok(())
    }

    /// Gives the messages on record at an address numbers below zero, which no service gives: none
    /// of them can be changed any more, and new ones there may be counted from 1 again. What was
    /// unfinished in them is forgotten.
    pub fn end_numbering(&self, address: &Address) -> Result<(), StoreError> {
        for sql in [
            "UPDATE OR REPLACE posted SET message = -message WHERE address = ?1 AND message > 0",
            "DELETE FROM drafts WHERE address = ?1",
            "DELETE FROM running WHERE address = ?1",
        ] {
            self.conn.prepare_cached(sql)?.execute([&address.0])?;
        }
        Ok(())
    }

    /// Each chat of a bot that has moved, with its number now.
    pub fn moved_chats(&self, bot: i64) -> Result<Vec<(i64, i64)>, StoreError> {
        let mut query =
            self.conn.prepare_cached("SELECT chat, now FROM moved_chats WHERE bot = ?1")?;
        let rows = query.query_map([bot], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
