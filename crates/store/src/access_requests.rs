//! Who has asked a bot for access, and what the owner was shown of it. Must not know
//! how that looks.

use rusqlite::{OptionalExtension as _, Row, params};

use super::{StoreError, Tx, now_ms};
use claw_domain::{Address, UnixMillis};

/// How long access requests count as those of one day.
const DAY_MS: i64 = 24 * 3_600_000;

/// One chat that asked for access. `state`: new (the owner is not told yet), told, let_in or
/// ignored (the owner's message does not show it yet), closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessRequestRow {
    pub chat: i64,
    /// Who it is, in the door's own words.
    pub body: String,
    pub state: String,
    /// Where the owner was told, and by which message.
    pub address: Address,
    pub message: i64,
    pub decided_by: String,
    pub decided_ms: UnixMillis,
}

/// What became of an access request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessRequested {
    /// The owner is to be told.
    First,
    /// The chat has asked before.
    Again,
    /// There were too many on this day. It is not kept, and may ask again on another one.
    TooMany,
}

const COLUMNS: &str = "chat, body, state, address, message, decided_by, decided_ms";

fn read(row: &Row<'_>) -> rusqlite::Result<AccessRequestRow> {
    Ok(AccessRequestRow {
        chat: row.get(0)?,
        body: row.get(1)?,
        state: row.get(2)?,
        address: Address(row.get(3)?),
        message: row.get(4)?,
        decided_by: row.get(5)?,
        decided_ms: row.get(6)?,
    })
}

impl Tx<'_> {
    /// Keeps a chat that asks for the first time, at most `day_max` of them in 24 hours.
    pub fn request_access(
        &self,
        bot: i64,
        chat: i64,
        body: &str,
        day_max: u32,
    ) -> Result<AccessRequested, StoreError> {
        if self.access_request(bot, chat)?.is_some() {
            return Ok(AccessRequested::Again);
        }
        let now = now_ms();
        let mut count = self
            .conn
            .prepare_cached("SELECT count(*) FROM strangers WHERE bot = ?1 AND at_ms > ?2")?;
        if count.query_row([bot, now - DAY_MS], |row| row.get::<_, u32>(0))? >= day_max {
            return Ok(AccessRequested::TooMany);
        }
        self.conn
            .prepare_cached(
                "INSERT INTO strangers(bot, chat, at_ms, body) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![bot, chat, now, body])?;
        Ok(AccessRequested::First)
    }

    pub fn access_request(
        &self,
        bot: i64,
        chat: i64,
    ) -> Result<Option<AccessRequestRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM strangers WHERE bot = ?1 AND chat = ?2");
        Ok(self.conn.prepare_cached(&sql)?.query_row([bot, chat], read).optional()?)
    }

    /// Those whom the owner's screen does not show as they are.
    pub fn access_requests_to_show(&self, bot: i64) -> Result<Vec<AccessRequestRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM strangers
             WHERE bot = ?1 AND state IN ('new', 'let_in', 'ignored') ORDER BY at_ms, chat"
        );
        let mut query = self.conn.prepare_cached(&sql)?;
        let rows = query.query_map([bot], read)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Notes by which message the owner was told.
    pub fn access_request_told(
        &self,
        bot: i64,
        chat: i64,
        at: &Address,
        message: i64,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "UPDATE strangers SET state = 'told', address = ?3, message = ?4
                 WHERE bot = ?1 AND chat = ?2 AND state = 'new'",
            )?
            .execute(params![bot, chat, at.0, message])?;
        Ok(())
    }

    /// The one compare-and-set of the owner's answer: told → let_in or ignored. False when it was
    /// answered before.
    pub fn decide_access_request(
        &self,
        bot: i64,
        chat: i64,
        let_in: bool,
        by: &str,
    ) -> Result<bool, StoreError> {
        let state = if let_in { "let_in" } else { "ignored" };
        let changed = self
            .conn
            .prepare_cached(
                "UPDATE strangers SET state = ?3, decided_by = ?4, decided_ms = ?5
                 WHERE bot = ?1 AND chat = ?2 AND state = 'told'",
            )?
            .execute(params![bot, chat, state, by, now_ms()])?;
        Ok(changed == 1)
    }

    /// Notes that the owner's message shows the answer.
    pub fn close_access_request(&self, bot: i64, chat: i64) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "UPDATE strangers SET state = 'closed'
                 WHERE bot = ?1 AND chat = ?2 AND state IN ('let_in', 'ignored')",
            )?
            .execute([bot, chat])?;
        Ok(())
    }
}
