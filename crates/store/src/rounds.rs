//! The rounds of calls in which a server asks a person: what it asks, its own state, and the
//! answers so far. Every move is a compare-and-set. Must not know what a request means.

use rusqlite::{OptionalExtension as _, Row, params};
use serde_json::Value;

use super::{StoreError, Tx, now_ms};
use claw_domain::CallId;

/// One round of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundRow {
    pub call: CallId,
    /// Counted from one.
    pub nth: u32,
    /// The server asks by a request while its call is under way, and not by the call's result: the
    /// round ends with the connection.
    pub in_call: bool,
    /// What it asks, by the keys that it has given, as it was sent.
    pub requests: Value,
    /// What the server wants to have back as it is.
    pub request_state: Option<String>,
    /// What is answered of it.
    pub answers: Value,
}

const COLUMNS: &str = "call, nth, in_call, requests, request_state, answers";

fn read(row: &Row<'_>) -> Result<RoundRow, StoreError> {
    let (call, requests): (String, String) = (row.get(0)?, row.get(3)?);
    let answers: String = row.get(5)?;
    Ok(RoundRow {
        call: call.parse().map_err(StoreError::Decode)?,
        nth: row.get(1)?,
        in_call: row.get(2)?,
        requests: serde_json::from_str(&requests)?,
        request_state: row.get(4)?,
        answers: serde_json::from_str(&answers)?,
    })
}

impl Tx<'_> {
    pub fn add_round(&self, round: &RoundRow) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO rounds(call, nth, in_call, requests, request_state, answers, state, at_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'open', ?7)",
            )?
            .execute(params![
                round.call.to_string(),
                round.nth,
                round.in_call,
                round.requests.to_string(),
                round.request_state,
                round.answers.to_string(),
                now_ms()
            ])?;
        Ok(())
    }

    /// How many rounds a call has had.
    pub fn rounds_of(&self, call: &CallId) -> Result<u32, StoreError> {
        let mut query =
            self.conn.prepare_cached("SELECT coalesce(max(nth), 0) FROM rounds WHERE call = ?1")?;
        Ok(query.query_row([call.to_string()], |row| row.get(0))?)
    }

    /// The round of a call whose answers are not sent.
    pub fn open_round(&self, call: &CallId) -> Result<Option<RoundRow>, StoreError> {
        let mut query = self.conn.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM rounds WHERE call = ?1 AND state = 'open' ORDER BY nth DESC LIMIT 1"
        ))?;
        query.query_row([call.to_string()], |row| Ok(read(row))).optional()?.transpose()
    }

    /// Sets the answers of an open round, if they are still those of `round`. False: somebody else
    /// was quicker.
    pub fn answer_round(&self, round: &RoundRow, answers: &Value) -> Result<bool, StoreError> {
        let changed = self
            .conn
            .prepare_cached(
                "UPDATE rounds SET answers = ?4
                 WHERE call = ?1 AND nth = ?2 AND state = 'open' AND answers = ?3",
            )?
            .execute(params![
                round.call.to_string(),
                round.nth,
                round.answers.to_string(),
                answers.to_string()
            ])?;
        Ok(changed == 1)
    }

    /// The answers of a round are about to be sent, once. What was asked and answered stays in the
    /// audit alone. False: it was not open.
    pub fn close_round(&self, call: &CallId, nth: u32) -> Result<bool, StoreError> {
        let changed = self
            .conn
            .prepare_cached(
                "UPDATE rounds SET state = 'sent', requests = '{}', request_state = NULL, answers = '{}'
                 WHERE call = ?1 AND nth = ?2 AND state = 'open'",
            )?
            .execute(params![call.to_string(), nth])?;
        Ok(changed == 1)
    }

    /// A call that has ended has no rounds.
    pub(super) fn forget_rounds(&self, call: &CallId) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("DELETE FROM rounds WHERE call = ?1")?
            .execute([call.to_string()])?;
        Ok(())
    }
}
