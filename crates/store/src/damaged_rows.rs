//! Damage in the tables that have no repair of their own, whichever there are: a new one cannot be
//! forgotten. Finds it. Must not know what becomes of it.

use std::fmt;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Row, ToSql};
use serde::de::IgnoredAny;

use super::damaged::{ROW_NUMBER_MAX, check, session_at};
use super::damaged_tables::{column, text, texts};
use super::{DamagedRow, RowAt, RowFault, StoreError, Tx, meta};
use claw_domain::{CallId, ClientName, escape};

/// Tables that are looked at elsewhere, and the one that holds what is damaged by its nature.
const OF_THEIR_OWN: [&str; 10] = [
    "approvals",
    "audit",
    "calls",
    "events",
    "grants",
    "inbox",
    "outbox",
    "overheard",
    "put_aside",
    "updates",
];
/// Columns that hold times or counts besides those whose names end so. Ids of services and
/// revisions are none: they may be any number.
const COUNTS: [&str; 10] = [
    "bytes",
    "day",
    "day_calls",
    "last_number",
    "nth",
    "number",
    "part",
    "parts_sent",
    "replies",
    "uses",
];
const COUNT_ENDS: [&str; 4] = ["_ms", "_s", "_tokens", "_seq"];

/// One column of the key of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyPart {
    Number(i64),
    /// Its bytes, whether or not they are UTF-8.
    Text(Vec<u8>),
}

impl KeyPart {
    fn of(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Integer(number) => Self::Number(number),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Self::Text(bytes.to_vec()),
            ValueRef::Null | ValueRef::Real(_) => Self::Text(Vec::new()),
        }
    }

    /// Empty for what is no text.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Text(bytes) => std::str::from_utf8(bytes).unwrap_or_default(),
            Self::Number(_) => "",
        }
    }
}

impl ToSql for KeyPart {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Number(number) => ToSqlOutput::from(*number),
            Self::Text(bytes) => ToSqlOutput::Borrowed(ValueRef::Text(bytes)),
        })
    }
}

impl fmt::Display for KeyPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(bytes) => f.write_str(&escape::visible(&String::from_utf8_lossy(bytes))),
        }
    }
}

/// The key as a person reads it.
pub(super) fn key_shown(key: &[KeyPart]) -> String {
    key.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// No time and no count of a row may be so high that nothing could be added to it.
pub(super) fn counts(row: &Row<'_>) -> Result<(), String> {
    for (at, name) in row.as_ref().column_names().enumerate() {
        let is_count = COUNTS.contains(&name) || COUNT_ENDS.iter().any(|end| name.ends_with(end));
        if let Ok(ValueRef::Integer(number)) = row.get_ref(at)
            && is_count
            && !(-ROW_NUMBER_MAX..=ROW_NUMBER_MAX).contains(&number)
        {
            return Err(format!("its {name} is {number}, and nothing counts so far"));
        }
    }
    Ok(())
}

fn json(row: &Row<'_>, names: &[&str]) -> Result<(), String> {
    for name in names {
        match column(row, name)? {
            ValueRef::Null => {}
            value => check::<IgnoredAny>(&value)
                .map(drop)
                .map_err(|what| format!("its {name}: {what}"))?,
        }
    }
    Ok(())
}

fn call_in(row: &Row<'_>, names: &[&str]) -> Result<(), String> {
    names.iter().try_for_each(|name| {
        text(row, name)?.parse::<CallId>().map(drop).map_err(|what| format!("its {name}: {what}"))
    })
}

fn client_in(row: &Row<'_>, name: &str) -> Result<(), String> {
    ClientName::new(text(row, name)?).map(drop).map_err(|what| format!("its {name}: {what}"))
}

/// What is wrong with a row of this table: its texts, its counts, and what its readers take them
/// for.
pub(super) fn whole(table: &str, row: &Row<'_>) -> Result<(), String> {
    texts(row)?;
    counts(row)?;
    match table {
        "meta" => meta::check_value(&text(row, "key")?, &text(row, "value")?),
        "pins" => json(row, &["raw", "new_raw"]),
        "pin_forms" => json(row, &["raw"]),
        "staged" => call_in(row, &["call", "list"]).and(json(row, &["told"])),
        "rounds" => call_in(row, &["call"]).and(json(row, &["requests", "answers"])),
        "server_tasks" => call_in(row, &["call"]),
        "clients" => client_in(row, "name"),
        "client_calls" => client_in(row, "client"),
        "sessions" => session_at(row, "name").map(drop),
        "session_models" | "session_roles" | "drafts" | "running" => {
            session_at(row, "session").map(drop)
        }
        _ => Ok(()),
    }
}

impl Tx<'_> {
    /// The columns of a table's key, in its order.
    pub(super) fn key_of(&self, table: &str) -> Result<Vec<String>, StoreError> {
        let mut query =
            self.conn.prepare("SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk")?;
        let names = query.query_map([table], |row| row.get(0))?;
        Ok(names.collect::<Result<_, _>>()?)
    }

    /// Every row of the other tables that somebody may stumble over.
    pub(super) fn damaged_in_other_tables(
        &self,
        found: &mut Vec<DamagedRow>,
    ) -> Result<(), StoreError> {
        let mut query = self.conn.prepare(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*'
             ORDER BY name",
        )?;
        let tables: Vec<String> =
            query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        for table in tables.iter().filter(|table| !OF_THEIR_OWN.contains(&table.as_str())) {
            self.damaged_in(table, found)?;
        }
        self.sessions_without_row(found)
    }

    fn damaged_in(&self, table: &str, found: &mut Vec<DamagedRow>) -> Result<(), StoreError> {
        let key = self.key_of(table)?;
        let mut query = self.conn.prepare(&format!("SELECT * FROM {table}"))?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let Err(what) = whole(table, row) else { continue };
            let parts = key.iter().map(|name| Ok(KeyPart::of(row.get_ref(name.as_str())?)));
            let key: Vec<KeyPart> = parts.collect::<rusqlite::Result<_>>()?;
            // The audit's own are told where the audit is looked at.
            let is_audits =
                table == "meta" && meta::is_of_audit(key.first().map_or("", KeyPart::text));
            if !is_audits {
                found.push(DamagedRow {
                    at: RowAt::Row { table: table.to_owned(), key },
                    session: None,
                    fault: RowFault::Unreadable(what),
                });
            }
        }
        Ok(())
    }

    /// Sessions with an open turn that are not in the list: nobody would go on with it.
    fn sessions_without_row(&self, found: &mut Vec<DamagedRow>) -> Result<(), StoreError> {
        let mut query = self.conn.prepare(
            "SELECT DISTINCT session FROM events AS log WHERE session NOT IN (SELECT name FROM sessions)
                AND (SELECT type FROM events WHERE session = log.session AND type IN ('turn.started', 'turn.ended')
                     ORDER BY seq DESC LIMIT 1) = 'turn.started'",
        )?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            // No session has such a name.
            let Ok(session) = session_at(row, 0) else { continue };
            found.push(DamagedRow {
                at: RowAt::Row {
                    table: "sessions".to_owned(),
                    key: vec![KeyPart::Text(session.as_str().as_bytes().to_vec())],
                },
                session: None,
                fault: RowFault::Missing,
            });
        }
        Ok(())
    }
}
