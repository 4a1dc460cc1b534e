//! Staged actions: beside the row of the call the list in which it was shown, its words, and who is
//! told what becomes of it. Must not know how a list is shown or answered.

use rusqlite::{OptionalExtension as _, Row, params};

use super::{StoreError, Tx};
use claw_domain::{Address, CallId, SessionId, UnixMillis};

/// One staged action. The call itself is frozen in the row of its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagedRow {
    pub call: CallId,
    /// The call id of the question that stands for all of its list: "all items", or the buttons of
    /// a group. A single item is its own list.
    pub list: CallId,
    /// Its place in the list, from one on.
    pub number: u32,
    /// In the server's words. Redacted, not escaped.
    pub summary: String,
    /// Everybody who took part in the turn.
    pub told: Vec<Address>,
}

fn read(row: &Row<'_>) -> Result<StagedRow, StoreError> {
    let (call, list, told): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(4)?);
    Ok(StagedRow {
        call: call.parse().map_err(StoreError::Decode)?,
        list: list.parse().map_err(StoreError::Decode)?,
        number: row.get(2)?,
        summary: row.get(3)?,
        told: serde_json::from_str(&told)?,
    })
}

impl Tx<'_> {
    pub fn add_staged(&self, row: &StagedRow) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO staged(call, list, number, summary, told) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![
                row.call.to_string(),
                row.list.to_string(),
                row.number,
                row.summary,
                serde_json::to_string(&row.told)?
            ])?;
        Ok(())
    }

    pub fn staged(&self, call: &CallId) -> Result<Option<StagedRow>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT call, list, number, summary, told FROM staged WHERE call = ?1",
        )?;
        query.query_row([call.to_string()], |row| Ok(read(row))).optional()?.transpose()
    }

    /// What was staged in one list, in its order.
    pub fn staged_in(&self, list: &CallId) -> Result<Vec<StagedRow>, StoreError> {
        let sql =
            "SELECT call, list, number, summary, told FROM staged WHERE list = ?1 ORDER BY number";
        self.all(sql, [list.to_string()], read)
    }

    /// Whether the session has an open question about something staged whose time is over.
    pub fn staged_is_due(&self, session: &SessionId, now: UnixMillis) -> Result<bool, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT EXISTS(SELECT 1 FROM approvals WHERE session = ?1 AND state = 'waiting' AND expires_ms <= ?2
                           AND json_extract(question, '$.staged') IS NOT NULL)",
        )?;
        Ok(query.query_row(params![session.as_str(), now], |row| row.get(0))?)
    }

    /// Ends the time of everything that is staged and open, in all sessions: a restored home does
    /// not know what was done since.
    pub fn let_staged_expire(&self, now: UnixMillis) -> Result<usize, StoreError> {
        let mut query = self.conn.prepare_cached(
            "UPDATE approvals SET expires_ms = min(expires_ms, ?1)
             WHERE state = 'waiting' AND json_extract(question, '$.staged') IS NOT NULL",
        )?;
        Ok(query.execute([now])?)
    }
}
