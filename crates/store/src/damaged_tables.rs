//! Damage in the tables beside logs and questions: queues, calls, grants, updates, what was
//! overheard, and from where tables count on. Finds it. Must not know what becomes of it.

use rusqlite::types::ValueRef;
use rusqlite::{Row, ToSql, params};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::damaged::{ROW_NUMBER_MAX, check, session_at};
use super::damaged_rows::counts;
use super::{DamagedRow, RowAt, RowFault, StoreError, Tx};
use claw_domain::{
    ApprovalId, CallId, CallState, EventBody, GrantEffect, Inbound, Origin, Outbound, Outcome,
    SessionId,
};

/// Tables that count their rows, with the highest number that was counted to.
pub(super) const COUNTED: [(&str, &str); 8] = [
    ("inbox", "SELECT coalesce(max(id), 0) FROM inbox WHERE id <= ?1"),
    ("outbox", "SELECT coalesce(max(id), 0) FROM outbox WHERE id <= ?1"),
    ("grants", "SELECT coalesce(max(id), 0) FROM grants WHERE id <= ?1"),
    ("audit", "SELECT coalesce(max(id), 0) FROM audit WHERE id <= ?1"),
    ("updates", "SELECT coalesce(max(nr), 0) FROM updates WHERE nr <= ?1"),
    ("overheard", "SELECT coalesce(max(nr), 0) FROM overheard WHERE nr <= ?1"),
    ("daily_digests", "SELECT coalesce(max(nr), 0) FROM daily_digests WHERE nr <= ?1"),
    ("put_aside", "SELECT coalesce(max(nr), 0) FROM put_aside WHERE nr <= ?1"),
];

/// What is wrong with a row as a whole: its texts, and what its table's readers take them for.
pub(super) type Check = fn(&Row<'_>) -> Result<(), String>;

/// Every text of a row has to be UTF-8, because readers take all columns at once.
pub(super) fn texts(row: &Row<'_>) -> Result<(), String> {
    for (at, name) in row.as_ref().column_names().enumerate() {
        if let Ok(ValueRef::Text(bytes)) = row.get_ref(at)
            && let Err(error) = std::str::from_utf8(bytes)
        {
            return Err(format!("its {name} is not UTF-8: {error}"));
        }
    }
    Ok(())
}

/// Tables whose rows have numbers, in the order in which they are mended: the outbox first, because
/// it must take notices about the inbox.
const NUMBERED: [Numbered; 5] = [
    Numbered {
        sql: "SELECT * FROM outbox ORDER BY id",
        number: "id",
        check: outbound,
        session: session_of,
        at: RowAt::Outbox,
    },
    Numbered {
        sql: "SELECT * FROM inbox WHERE state <> 'absorbed' OR id > ?1 ORDER BY id",
        number: "id",
        check: inbound,
        session: session_of,
        at: RowAt::Inbox,
    },
    Numbered {
        sql: "SELECT * FROM grants",
        number: "id",
        check: grant,
        session: of_nobody,
        at: RowAt::Grant,
    },
    Numbered {
        sql: "SELECT * FROM updates ORDER BY nr",
        number: "nr",
        check: update,
        session: of_nobody,
        at: RowAt::Update,
    },
    Numbered {
        sql: "SELECT * FROM overheard ORDER BY nr",
        number: "nr",
        check: overheard,
        session: of_nobody,
        at: RowAt::Overheard,
    },
];

struct Numbered {
    /// The rows that matter, and those with a number above `?1`.
    sql: &'static str,
    number: &'static str,
    check: Check,
    /// Whose lock a repair takes.
    session: fn(&Row<'_>) -> Option<SessionId>,
    at: fn(i64) -> RowAt,
}

pub(super) fn text(row: &Row<'_>, column: &str) -> Result<String, String> {
    row.get(column).map_err(|error| error.to_string())
}

pub(super) fn column<'r>(row: &'r Row<'_>, column: &str) -> Result<ValueRef<'r>, String> {
    row.get_ref(column).map_err(|error| error.to_string())
}

/// A row of a queue, and the states that it may have there.
fn queued<T: DeserializeOwned>(row: &Row<'_>, states: &[&str]) -> Result<(), String> {
    session_at(row, "session")?;
    check::<T>(&column(row, "body")?)?;
    texts(row)?;
    counts(row)?;
    let state = text(row, "state")?;
    let known = states.contains(&state.as_str());
    known.then_some(()).ok_or_else(|| format!("its state is `{state}`"))
}

/// In an inbox only what waits is looked at.
pub(super) fn inbound(row: &Row<'_>) -> Result<(), String> {
    queued::<Inbound>(row, &["queued", "absorbed"])
}

pub(super) fn outbound(row: &Row<'_>) -> Result<(), String> {
    queued::<Outbound>(row, &["queued", "sending", "sent"])
}

pub(super) fn overheard(row: &Row<'_>) -> Result<(), String> {
    texts(row).and(counts(row))
}

pub(super) fn call(row: &Row<'_>) -> Result<(), String> {
    texts(row)?;
    counts(row)?;
    text(row, "id")?.parse::<CallId>()?;
    let state = text(row, "state")?;
    CallState::parse(&state).ok_or_else(|| format!("its state is `{state}`"))?;
    let origin = text(row, "origin")?;
    let known = origin.is_empty() || Origin::parse(&origin).is_some();
    known.then_some(()).ok_or_else(|| format!("its origin is `{origin}`"))?;
    check::<Value>(&column(row, "arguments")?).map_err(|what| format!("its arguments: {what}"))?;
    match column(row, "outcome")? {
        ValueRef::Null => Ok(()),
        outcome => {
            check::<Outcome>(&outcome).map(drop).map_err(|what| format!("its outcome: {what}"))
        }
    }
}

pub(super) fn grant(row: &Row<'_>) -> Result<(), String> {
    texts(row)?;
    counts(row)?;
    let (effect, origin) = (text(row, "effect")?, text(row, "origin")?);
    GrantEffect::parse(&effect).ok_or_else(|| format!("its effect is `{effect}`"))?;
    Origin::parse(&origin).ok_or_else(|| format!("its origin is `{origin}`"))?;
    if !matches!(column(row, "session")?, ValueRef::Null) {
        session_at(row, "session").map_err(|what| format!("its session: {what}"))?;
    }
    check::<Value>(&column(row, "shape")?).map(drop).map_err(|what| format!("its shape: {what}"))
}

pub(super) fn update(row: &Row<'_>) -> Result<(), String> {
    texts(row)?;
    counts(row)?;
    // The text of one that was handled is gone.
    if text(row, "state")? != "kept" {
        return Ok(());
    }
    check::<Value>(&column(row, "body")?).map(drop)
}

/// The session that a row names, if it is one.
fn session_of(row: &Row<'_>) -> Option<SessionId> {
    session_at(row, "session").ok()
}

fn of_nobody(_: &Row<'_>) -> Option<SessionId> {
    None
}

impl Tx<'_> {
    /// Every row of these tables that its readers stumble over.
    pub(super) fn damaged_in_tables(&self, found: &mut Vec<DamagedRow>) -> Result<(), StoreError> {
        NUMBERED.iter().try_for_each(|table| self.damaged_numbered(table, found))?;
        self.damaged_calls(found)?;
        let mut query =
            self.conn.prepare("SELECT name FROM sqlite_sequence WHERE seq > ?1 ORDER BY name")?;
        let names: Vec<String> =
            query.query_map([ROW_NUMBER_MAX], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let known = names.into_iter().filter(|name| COUNTED.iter().any(|(table, _)| table == name));
        found.extend(known.map(|name| DamagedRow {
            at: RowAt::Sequence(name),
            session: None,
            fault: RowFault::TooHigh,
        }));
        Ok(())
    }

    fn damaged_calls(&self, found: &mut Vec<DamagedRow>) -> Result<(), StoreError> {
        let mut query = self.conn.prepare("SELECT * FROM calls")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let Err(what) = call(row) else { continue };
            let id = match row.get_ref("id")? {
                ValueRef::Text(bytes) => bytes.to_vec(),
                _ => Vec::new(),
            };
            found.push(DamagedRow {
                at: RowAt::Call(id),
                session: session_of(row),
                fault: RowFault::Unreadable(what),
            });
        }
        let lost = "SELECT call, session FROM approvals WHERE state = 'waiting' AND expires_ms > 0
                    AND call NOT IN (SELECT id FROM calls)";
        let mut query = self.conn.prepare(lost)?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            // Of an unreadable question the doctor tells by itself.
            let Ok(id) = text(row, "call") else { continue };
            let at = RowAt::Call(id.into_bytes());
            found.push(DamagedRow { at, session: session_of(row), fault: RowFault::Missing });
        }
        found.extend(self.parked_without_question()?.into_iter().map(|(call, question)| {
            DamagedRow {
                at: RowAt::Approval(question.0),
                session: call.session().cloned(),
                fault: RowFault::Missing,
            }
        }));
        Ok(())
    }

    /// Calls that wait for the answer to a question that is not there, with that question as the
    /// log names it.
    pub(super) fn parked_without_question(&self) -> Result<Vec<(CallId, ApprovalId)>, StoreError> {
        let sql = "SELECT id FROM calls WHERE state = 'waiting' AND id NOT IN (SELECT call FROM approvals)";
        let mut query = self.conn.prepare(sql)?;
        let mut rows = query.query([])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            // Of an unreadable call the doctor tells by itself.
            let Some(call) = text(row, "id").ok().and_then(|id| id.parse::<CallId>().ok()) else {
                continue;
            };
            let question = self.question_in_log(&call)?;
            found.extend(question.map(|question| (call, question)));
        }
        Ok(found)
    }

    /// Under which question a call is parked, as its log says. Nothing when it has a result.
    fn question_in_log(&self, call: &CallId) -> Result<Option<ApprovalId>, StoreError> {
        let (Some(session), Some(seq)) = (call.session(), call.seq()) else { return Ok(None) };
        let sql = "SELECT body FROM events WHERE session = ?1 AND seq > ?2 ORDER BY seq";
        let mut query = self.conn.prepare(sql)?;
        let mut rows = query.query(params![session.as_str(), seq as i64])?;
        let mut parked = None;
        while let Some(row) = rows.next()? {
            match check::<EventBody>(&row.get_ref(0)?) {
                Ok(EventBody::CallParked { call: waits, approval }) if waits == *call => {
                    parked = Some(approval)
                }
                Ok(EventBody::ToolResult { call: done, .. }) if done == *call => return Ok(None),
                _ => {}
            }
        }
        Ok(parked)
    }

    fn damaged_numbered(
        &self,
        table: &Numbered,
        found: &mut Vec<DamagedRow>,
    ) -> Result<(), StoreError> {
        let mut query = self.conn.prepare(table.sql)?;
        let limit: &[&dyn ToSql] = &[&ROW_NUMBER_MAX];
        let mut rows = query.query(limit.get(..query.parameter_count()).unwrap_or_default())?;
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(table.number)?;
            let fault = match (table.check)(row) {
                _ if id > ROW_NUMBER_MAX => RowFault::TooHigh,
                Err(what) => RowFault::Unreadable(what),
                Ok(()) => continue,
            };
            found.push(DamagedRow { at: (table.at)(id), session: (table.session)(row), fault });
        }
        Ok(())
    }
}
