//! The rows of the calls: what was frozen, and how far it got. Every move from one state to the
//! next is a compare-and-set, so that no two processes can make the same one.

use rusqlite::{OptionalExtension as _, Row, params};

use super::tx::session_column;
use super::{RowAt, StoreError, Tx, now_ms};
use claw_domain::{CallId, CallState, Origin, Outcome, UnixMillis};

/// One call as it is stored. `arguments` is canonical JSON; the call runs from here and from
/// nowhere else.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRow {
    pub id: CallId,
    pub server: String,
    pub tool: String,
    pub arguments: String,
    pub origin: Origin,
    pub principal: String,
    pub state: CallState,
    pub pin: String,
    pub cwd: String,
    pub env_names: String,
    pub policy_version: String,
    /// A digest of what its question shows beside the arguments; empty where it shows nothing else.
    pub shown: String,
    pub digest: String,
    pub rule: String,
    pub outcome: Option<Outcome>,
    pub received_ms: UnixMillis,
    pub started_ms: Option<UnixMillis>,
    pub ended_ms: Option<UnixMillis>,
}

const COLUMNS: &str = "id, server, tool, arguments, origin, principal, state, pin, cwd, env_names, policy_version, digest, \
                       rule, outcome, received_ms, started_ms, ended_ms, shown";

/// Nobody has said yes to this very call. Its row keeps the rule that has asked, also when it was
/// answered. Claw's own look at git (`CallId::Git`) is no call that anybody has wanted.
const UNASKED: &str = "id NOT GLOB '*:git' AND (rule GLOB 'grant.*' OR NOT EXISTS
    (SELECT 1 FROM approvals WHERE approvals.call = calls.id AND approvals.state = 'approved'))";

fn read(row: &Row<'_>) -> Result<CallRow, StoreError> {
    let id: String = row.get(0)?;
    let (origin, state): (String, String) = (row.get(4)?, row.get(6)?);
    let outcome: Option<String> = row.get(13)?;
    Ok(CallRow {
        id: id.parse().map_err(StoreError::Decode)?,
        server: row.get(1)?,
        tool: row.get(2)?,
        arguments: row.get(3)?,
        origin: origin_of(&origin)?,
        principal: row.get(5)?,
        state: CallState::parse(&state)
            .ok_or_else(|| StoreError::Decode(format!("call state `{state}`")))?,
        pin: row.get(7)?,
        cwd: row.get(8)?,
        env_names: row.get(9)?,
        policy_version: row.get(10)?,
        shown: row.get(17)?,
        digest: row.get(11)?,
        rule: row.get(12)?,
        outcome: outcome.map(|text| serde_json::from_str(&text)).transpose()?,
        received_ms: row.get(14)?,
        started_ms: row.get(15)?,
        ended_ms: row.get(16)?,
    })
}

/// A row that was put aside (`put_aside_tables.rs`) has an end and no origin any more: the least
/// trusted one stands for it.
fn origin_of(text: &str) -> Result<Origin, StoreError> {
    match text {
        "" => Ok(Origin::Forwarded),
        _ => Origin::parse(text).ok_or_else(|| StoreError::Decode(format!("origin `{text}`"))),
    }
}

impl Tx<'_> {
    pub fn call(&self, id: &CallId) -> Result<Option<CallRow>, StoreError> {
        let mut query =
            self.conn.prepare_cached(&format!("SELECT {COLUMNS} FROM calls WHERE id = ?1"))?;
        let found = query.query_row([id.to_string()], |row| Ok(read(row))).optional()?;
        let unreadable = |error: StoreError| StoreError::Unreadable {
            at: RowAt::Call(id.to_string().into_bytes()),
            what: error.to_string(),
        };
        found.transpose().map_err(unreadable)
    }

    /// How many calls ran between two moments without a question, by the rule that let them
    /// run, the busiest first.
    pub fn ran_without_question(
        &self,
        after_ms: UnixMillis,
        until_ms: UnixMillis,
    ) -> Result<Vec<(String, u64)>, StoreError> {
        let mut query = self.conn.prepare_cached(
            &format!(
            "SELECT rule, count(*) AS ran FROM calls WHERE started_ms > ?1 AND started_ms <= ?2 AND {UNASKED}
             GROUP BY rule ORDER BY ran DESC, rule"
        ))?;
        let rows = query.query_map([after_ms, until_ms], |row| {
            let calls: i64 = row.get(1)?;
            Ok((row.get(0)?, calls.unsigned_abs()))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The newest calls that this rule let run between two moments.
    pub fn ran_by(
        &self,
        rule: &str,
        after_ms: UnixMillis,
        until_ms: UnixMillis,
        most: u32,
    ) -> Result<Vec<CallRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM calls WHERE started_ms > ?2 AND started_ms <= ?3 AND rule = ?1 AND {UNASKED}
             ORDER BY started_ms DESC LIMIT ?4"
        );
        self.all(&sql, params![rule, after_ms, until_ms, most], read)
    }

    /// The tools that were called since a moment, by server and name, the last one first.
    pub fn used_since(
        &self,
        since_ms: UnixMillis,
        most: u32,
    ) -> Result<Vec<(String, String)>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT server, tool, max(started_ms) AS at FROM calls WHERE started_ms > ?1
             GROUP BY server, tool ORDER BY at DESC, server, tool LIMIT ?2",
        )?;
        let rows =
            query.query_map(params![since_ms, most], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Writes a call that was just received, or freezes it anew when it is judged again.
    pub fn put_call(&self, row: &CallRow) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO calls(id, session, server, tool, arguments, origin, principal, state, pin, cwd, env_names,
                                   policy_version, digest, rule, outcome, received_ms, started_ms, ended_ms, shown)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)
                 ON CONFLICT(id) DO UPDATE SET server = ?3, tool = ?4, arguments = ?5, origin = ?6, principal = ?7,
                     state = ?8, pin = ?9, cwd = ?10, env_names = ?11, policy_version = ?12,
                     digest = ?13, rule = ?14, shown = ?19
                 WHERE state IN ('received', 'waiting', 'approved')",
            )?
            .execute(params![
                row.id.to_string(),
                session_column(row.id.session()),
                row.server,
                row.tool,
                row.arguments,
                row.origin.as_str(),
                row.principal,
                row.state.as_str(),
                row.pin,
                row.cwd,
                row.env_names,
                row.policy_version,
                row.digest,
                row.rule,
                row.outcome.as_ref().map(serde_json::to_string).transpose()?,
                row.received_ms,
                row.started_ms,
                row.ended_ms,
                row.shown
            ])?;
        Ok(())
    }

    /// Moves a call from one state to another. False when it was not in `from`: somebody else was
    /// quicker.
    pub fn move_call(
        &self,
        id: &CallId,
        from: CallState,
        to: CallState,
    ) -> Result<bool, StoreError> {
        let changed = self
            .conn
            .prepare_cached(
                "UPDATE calls SET state = ?3, started_ms = CASE WHEN ?3 = 'started' THEN coalesce(started_ms, ?4) ELSE started_ms END
                 WHERE id = ?1 AND state = ?2",
            )?
            .execute(params![id.to_string(), from.as_str(), to.as_str(), now_ms()])?;
        Ok(changed == 1)
    }

    /// Ends a call with its outcome. False when it had ended already: the first end stays.
    pub fn end_call(&self, id: &CallId, outcome: &Outcome) -> Result<bool, StoreError> {
        let state = match outcome {
            Outcome::Ended { .. } => CallState::Ended,
            Outcome::Denied { .. } => CallState::Denied,
            Outcome::Unknown { .. } => CallState::Unknown,
            Outcome::Parked { .. } | Outcome::Left => return Ok(false),
        };
        let changed = self
            .conn
            .prepare_cached(
                "UPDATE calls SET state = ?2, outcome = ?3, ended_ms = ?4
                 WHERE id = ?1 AND state NOT IN ('ended', 'denied', 'unknown')",
            )?
            .execute(params![
                id.to_string(),
                state.as_str(),
                serde_json::to_string(outcome)?,
                now_ms()
            ])?;
        if changed == 1 {
            self.forget_rounds(id)?;
            self.forget_task(id)?;
        }
        Ok(changed == 1)
    }
}
