//! The chats that an owner has let in by a tap. Must not know what they may do.

use rusqlite::params;

use super::{StoreError, Tx, now_ms};
use claw_domain::UnixMillis;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedUserRow {
    pub bot: i64,
    pub chat: i64,
    /// As it was shown when they were let in: already made visible.
    pub name: String,
    /// The principal who let them in.
    pub by: String,
    pub at_ms: UnixMillis,
}

impl Tx<'_> {
    pub fn add_allowed_user(
        &self,
        bot: i64,
        chat: i64,
        name: &str,
        by: &str,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("INSERT OR REPLACE INTO guests(bot, chat, name, by, at_ms) VALUES (?1, ?2, ?3, ?4, ?5)")?
            .execute(params![bot, chat, name, by, now_ms()])?;
        Ok(())
    }

    pub fn is_allowed_user(&self, bot: i64, chat: i64) -> Result<bool, StoreError> {
        let mut query = self
            .conn
            .prepare_cached("SELECT EXISTS(SELECT 1 FROM guests WHERE bot = ?1 AND chat = ?2)")?;
        Ok(query.query_row([bot, chat], |row| row.get(0))?)
    }

    /// All allowed users, the oldest first.
    pub fn allowed_users(&self) -> Result<Vec<AllowedUserRow>, StoreError> {
        let mut query = self
            .conn
            .prepare_cached("SELECT bot, chat, name, by, at_ms FROM guests ORDER BY at_ms, chat")?;
        let rows = query.query_map([], |row| {
            Ok(AllowedUserRow {
                bot: row.get(0)?,
                chat: row.get(1)?,
                name: row.get(2)?,
                by: row.get(3)?,
                at_ms: row.get(4)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Sends a chat away again. Gives back the bots that had let it in.
    pub fn remove_allowed_user(&self, chat: i64) -> Result<Vec<i64>, StoreError> {
        let mut query =
            self.conn.prepare_cached("DELETE FROM guests WHERE chat = ?1 RETURNING bot")?;
        let rows = query.query_map([chat], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
