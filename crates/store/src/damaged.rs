//! Rows that cannot be read, are not there, or have a number that nothing counts to: finding them.
//! Must not know what becomes of them.

use std::fmt;

use rusqlite::types::ValueRef;
use rusqlite::{Row, RowIndex};
use serde::de::DeserializeOwned;

use super::damaged_rows::{KeyPart, counts, key_shown};
use super::damaged_tables::{column, text, texts};
use super::{StoreError, Tx, meta};
use claw_domain::{Answer, ApprovalState, CallId, EventBody, Question, SessionId, escape};

/// How many events in a row may be missing. A number further ahead was never counted to.
pub(super) const GAP_EVENTS_MAX: i64 = 1_000;
/// The highest number of an inbox or outbox row that is taken for a count. SQLite stops at 2⁶³ − 1.
pub(super) const ROW_NUMBER_MAX: i64 = 1 << 53;

/// Which row of the store it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowAt {
    Event {
        session: SessionId,
        seq: i64,
    },
    Inbox(i64),
    Outbox(i64),
    Approval(String),
    /// The bytes of its id, whatever they are.
    Call(Vec<u8>),
    Grant(i64),
    Update(i64),
    Overheard(i64),
    Audit(i64),
    /// From where this table counts on.
    Sequence(String),
    /// A row of any other table, by the columns of its key.
    Row {
        table: String,
        key: Vec<KeyPart>,
    },
}

impl fmt::Display for RowAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event { session, seq } => write!(f, "event {seq} of `{session}`"),
            Self::Inbox(id) => write!(f, "row {id} of the inbox"),
            Self::Outbox(id) => write!(f, "row {id} of the outbox"),
            Self::Approval(id) => write!(f, "the question `{id}`"),
            Self::Call(id) => {
                write!(f, "the call `{}`", escape::visible(&String::from_utf8_lossy(id)))
            }
            Self::Grant(id) => write!(f, "the grant {id}"),
            Self::Update(nr) => write!(f, "row {nr} of the updates"),
            Self::Overheard(nr) => write!(f, "row {nr} of what was overheard"),
            Self::Audit(id) => write!(f, "row {id} of the audit"),
            Self::Sequence(table) => write!(f, "the last number of the table {table}"),
            Self::Row { table, key } => match (table.as_str(), key.first().map(KeyPart::text)) {
                ("meta", Some(meta::AUDIT_HEAD)) => f.write_str("the head of the audit"),
                ("meta", Some(meta::AUDIT_CUT)) => f.write_str("where the audit begins"),
                ("meta", Some(meta::AUDIT_SEAL)) => f.write_str("the seal of the audit"),
                ("meta", Some(meta::DAY_SPENT)) => f.write_str("what models have taken today"),
                ("meta", Some(meta::PANIC)) => f.write_str("the stop switch"),
                _ => write!(f, "the row `{}` of the table {table}", key_shown(key)),
            },
        }
    }
}

/// What is wrong with a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowFault {
    /// It is there, and not what claw writes.
    Unreadable(String),
    /// Its neighbours are there and it is not.
    Missing,
    /// Its number is far from the last one before it, whose number is `after`.
    FarAhead { after: i64 },
    /// Rows are not numbered so high, and none could follow.
    TooHigh,
}

impl fmt::Display for RowFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(what) => f.write_str(what),
            Self::Missing => f.write_str("it is missing"),
            Self::FarAhead { after } => {
                write!(f, "its number does not follow {after}, the last one before it")
            }
            Self::TooHigh => f.write_str("its number is too high for another row to follow"),
        }
    }
}

/// A row that holds its session up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedRow {
    pub at: RowAt,
    /// Whose it is, if that can be read.
    pub session: Option<SessionId>,
    pub fault: RowFault,
}

/// The bytes of a column, of whatever type.
fn bytes_of<'a>(value: &ValueRef<'a>) -> Result<&'a [u8], String> {
    match value {
        ValueRef::Text(bytes) => Ok(bytes),
        other => Err(format!("it is {}, not text", other.data_type())),
    }
}

/// What is wrong with a column that should hold a `T` as JSON.
pub(super) fn check<T: DeserializeOwned>(value: &ValueRef<'_>) -> Result<T, String> {
    let text = std::str::from_utf8(bytes_of(value)?)
        .map_err(|error| format!("it is not UTF-8: {error}"))?;
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// A column that holds a `T` as JSON.
///
/// # Errors
/// [`StoreError::Unreadable`], which names the row.
pub(super) fn json_at<T: DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
    at: impl FnOnce() -> RowAt,
) -> Result<T, StoreError> {
    check(&row.get_ref(column)?).map_err(|what| StoreError::Unreadable { at: at(), what })
}

/// A column that holds text.
///
/// # Errors
/// [`StoreError::Unreadable`], which names the row.
pub(super) fn text_at(
    row: &Row<'_>,
    column: usize,
    at: impl FnOnce() -> RowAt,
) -> Result<String, StoreError> {
    let text = bytes_of(&row.get_ref(column)?).and_then(|bytes| {
        std::str::from_utf8(bytes).map_err(|error| format!("it is not UTF-8: {error}"))
    });
    text.map(ToOwned::to_owned).map_err(|what| StoreError::Unreadable { at: at(), what })
}

/// The name of a row's session, if it is one.
pub(super) fn session_at(row: &Row<'_>, column: impl RowIndex) -> Result<SessionId, String> {
    let value = row.get_ref(column).map_err(|error| error.to_string())?;
    let name = std::str::from_utf8(bytes_of(&value)?);
    let name = name.map_err(|error| format!("its session is not UTF-8: {error}"))?;
    SessionId::new(name.to_owned()).map_err(|error| error.to_string())
}

/// Whether an event can follow the one with the number `last` (0: none), counting what may be
/// missing.
pub(super) fn follows(seq: i64, last: i64) -> bool {
    seq > last && seq - last <= GAP_EVENTS_MAX
}

impl Tx<'_> {
    /// What an insert's failure is about: SQLite calls a table full that has counted to its highest
    /// number.
    pub(super) fn numbers_over(
        &self,
        error: rusqlite::Error,
        table: &str,
        at: fn(i64) -> RowAt,
    ) -> StoreError {
        let error = StoreError::from(error);
        let counted = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = ?1";
        let last = self.conn.query_row(counted, [table], |row| row.get::<_, i64>(0));
        match last {
            Ok(last) if last > ROW_NUMBER_MAX && matches!(error, StoreError::DiskFull) => {
                StoreError::Unreadable { at: at(last), what: RowFault::TooHigh.to_string() }
            }
            _ => error,
        }
    }

    /// Every row that somebody would stumble over. Reads all of the store but for what is closed.
    pub fn damaged_rows(&self) -> Result<Vec<DamagedRow>, StoreError> {
        let mut found = Vec::new();
        // The audit first: it tells of all other repairs.
        self.damaged_audit(&mut found)?;
        self.damaged_events(&mut found)?;
        self.damaged_approvals(&mut found)?;
        self.damaged_in_tables(&mut found)?;
        self.damaged_in_other_tables(&mut found)?;
        Ok(found)
    }

    fn damaged_events(&self, found: &mut Vec<DamagedRow>) -> Result<(), StoreError> {
        let mut query =
            self.conn.prepare("SELECT session, seq, body FROM events ORDER BY session, seq")?;
        let mut rows = query.query([])?;
        let mut last: (Option<SessionId>, i64) = (None, 0);
        while let Some(row) = rows.next()? {
            // No session has such a name, so that it holds none up.
            let Ok(session) = session_at(row, 0) else { continue };
            let seq: i64 = row.get(1)?;
            let after = if last.0.as_ref() == Some(&session) { last.1 } else { 0 };
            let mut add = |seq, fault| {
                let at = RowAt::Event { session: session.clone(), seq };
                found.push(DamagedRow { at, session: Some(session.clone()), fault });
            };
            if !follows(seq, after) {
                add(seq, RowFault::FarAhead { after });
                last = (Some(session), after);
                continue;
            }
            (after + 1..seq).for_each(|missing| add(missing, RowFault::Missing));
            if let Err(what) = check::<EventBody>(&row.get_ref(2)?) {
                add(seq, RowFault::Unreadable(what));
            }
            last = (Some(session), seq);
        }
        Ok(())
    }

    fn damaged_approvals(&self, found: &mut Vec<DamagedRow>) -> Result<(), StoreError> {
        let mut query = self.conn.prepare("SELECT * FROM approvals ORDER BY id")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let Err(what) = approval(row) else { continue };
            let at = match row.get_ref("id")? {
                ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
                    Ok(id) => RowAt::Approval(id.to_owned()),
                    // Nobody can name it: what is left is a call without a question.
                    Err(_) => RowAt::Row {
                        table: "approvals".to_owned(),
                        key: vec![KeyPart::Text(bytes.to_vec())],
                    },
                },
                _ => continue,
            };
            found.push(DamagedRow {
                at,
                session: session_at(row, "session").ok(),
                fault: RowFault::Unreadable(what),
            });
        }
        Ok(())
    }
}

/// What is wrong with a question as a whole.
pub(super) fn approval(row: &Row<'_>) -> Result<(), String> {
    check::<Question>(&column(row, "question")?)?;
    match column(row, "answer")? {
        ValueRef::Null => {}
        value => drop(check::<Answer>(&value)?),
    }
    texts(row)?;
    counts(row)?;
    let state = text(row, "state")?;
    ApprovalState::parse(&state).ok_or_else(|| format!("its state is `{state}`"))?;
    text(row, "call")?.parse::<CallId>().map(drop).map_err(|what| format!("its call: {what}"))
}
