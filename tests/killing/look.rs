//! A look into claw's database from outside, in plain SQL and JSON: the oracle must not share code
//! with what it judges.

use std::path::Path;

use super::remembered;
use rusqlite::{Connection, OpenFlags, Row};
use serde_json::Value;

/// The session of all runs of the console rig.
pub const SESSION: &str = "main";

pub struct Look {
    conn: Connection,
}

pub struct CallRow {
    pub id: String,
    /// `claw` for a question about several calls.
    pub server: String,
    pub tool: String,
    pub state: String,
}

pub struct Approval {
    pub id: String,
    pub call: String,
    pub state: String,
    /// It is about something staged.
    pub staged: bool,
    pub by: String,
    /// The question about several calls that asks this one.
    pub list: Option<String>,
    /// The questions that this one asks, in the order of their numbers; none of a plain question.
    pub members: Vec<String>,
}

impl Approval {
    pub fn is_list(&self) -> bool {
        !self.members.is_empty()
    }
}

/// A staged action, by its call.
pub struct StagedRow {
    pub call: String,
    /// The call of the question that stands for the whole list.
    pub list: String,
    /// Of the effect.
    pub id: String,
}

pub struct Audited {
    /// In milliseconds since 1970.
    pub at_ms: i64,
    pub kind: String,
    pub call: String,
    pub body: Value,
}

/// A column of JSON.
pub fn json(row: &Row<'_>, index: usize) -> rusqlite::Result<Value> {
    Ok(serde_json::from_str(&row.get::<_, String>(index)?).unwrap_or(Value::Null))
}

impl Look {
    pub fn open(db: &Path) -> rusqlite::Result<Self> {
        let conn = Connection::open_with_flags(db, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        conn.busy_timeout(std::time::Duration::from_secs(5))?;
        Ok(Self { conn })
    }

    pub fn all<T>(
        &self,
        sql: &str,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        self.conn.prepare(sql)?.query_map([], |row| read(row))?.collect()
    }

    pub fn count(&self, sql: &str) -> rusqlite::Result<i64> {
        self.conn.query_row(sql, [], |row| row.get(0))
    }

    /// Whether the message with this task is on the disk.
    pub fn has_message(&self, task: &str) -> rusqlite::Result<bool> {
        let sql =
            "SELECT EXISTS(SELECT 1 FROM inbox WHERE kind = 'message' AND instr(body, ?1) > 0)";
        self.conn.query_row(sql, [format!("TASK {task} ")], |row| row.get(0))
    }

    /// The ids and texts of all messages that were ever taken in, and whether each is in the log.
    pub fn messages(&self) -> rusqlite::Result<Vec<(i64, Value, String)>> {
        self.all("SELECT id, body, state FROM inbox WHERE kind = 'message' ORDER BY id", |row| {
            Ok((row.get(0)?, json(row, 1)?, row.get(2)?))
        })
    }

    pub fn waiting(&self) -> rusqlite::Result<Vec<Approval>> {
        let mut approvals = self.approvals()?;
        approvals.retain(|approval| approval.state == "waiting");
        Ok(approvals)
    }

    /// What is not at rest, empty when everything is.
    pub fn unrest(&self) -> rusqlite::Result<Vec<String>> {
        let mut unrest = Vec::new();
        for (what, sql) in [
            (
                "open turns",
                "SELECT count(*) FILTER (WHERE type = 'turn.started') - count(*) FILTER (WHERE type = 'turn.ended') FROM events",
            ),
            ("queued inbox rows", "SELECT count(*) FROM inbox WHERE state = 'queued'"),
            (
                "outbox rows that nobody was shown",
                "SELECT count(*) FROM outbox WHERE state = 'queued'",
            ),
            ("open questions", "SELECT count(*) FROM approvals WHERE state = 'waiting'"),
        ] {
            let count = self.count(sql)?;
            if count != 0 {
                unrest.push(format!("{count} {what}"));
            }
        }
        Ok(unrest)
    }

    /// The log of a session, as (number, event).
    pub fn events(&self, session: &str) -> rusqlite::Result<Vec<(i64, Value)>> {
        let mut query =
            self.conn.prepare("SELECT seq, body FROM events WHERE session = ?1 ORDER BY seq")?;
        query.query_map([session], |row| Ok((row.get(0)?, json(row, 1)?)))?.collect()
    }

    pub fn calls(&self) -> rusqlite::Result<Vec<CallRow>> {
        self.all("SELECT id, server, state, tool FROM calls ORDER BY id", |row| {
            Ok(CallRow {
                id: row.get(0)?,
                server: row.get(1)?,
                state: row.get(2)?,
                tool: row.get(3)?,
            })
        })
    }

    pub fn approvals(&self) -> rusqlite::Result<Vec<Approval>> {
        let sql = "SELECT id, call, state, json_extract(question, '$.staged') IS NOT NULL,
                          coalesce(decided_by, ''), list,
                          coalesce(json_extract(question, '$.list.items'), '[]')
                   FROM approvals ORDER BY asked_ms, id";
        self.all(sql, |row| {
            let items = json(row, 6)?;
            let items = items.as_array().into_iter().flatten();
            let members = items.filter_map(|item| item["approval"].as_str().map(str::to_owned));
            Ok(Approval {
                id: row.get(0)?,
                call: row.get(1)?,
                state: row.get(2)?,
                staged: row.get(3)?,
                by: row.get(4)?,
                list: row.get(5)?,
                members: members.collect(),
            })
        })
    }

    pub fn staged(&self) -> rusqlite::Result<Vec<StagedRow>> {
        let sql = "SELECT s.call, s.list, CASE WHEN c.server = 'memory'
                          THEN json_extract(c.arguments, '$.text') ELSE json_extract(c.arguments, '$.id') END
                   FROM staged AS s
                   LEFT JOIN calls AS c ON c.id = s.call ORDER BY s.call";
        self.all(sql, |row| {
            let id: Option<String> = row.get(2)?;
            let id = remembered::first_word(id.unwrap_or_default());
            Ok(StagedRow { call: row.get(0)?, list: row.get(1)?, id })
        })
    }

    pub fn audit(&self) -> rusqlite::Result<Vec<Audited>> {
        self.all("SELECT at_ms, kind, call, body FROM audit ORDER BY id", |row| {
            Ok(Audited {
                at_ms: row.get(0)?,
                kind: row.get(1)?,
                call: row.get(2)?,
                body: json(row, 3)?,
            })
        })
    }

    /// `ok`, or what SQLite finds broken in the file.
    pub fn integrity(&self) -> rusqlite::Result<String> {
        self.conn.query_row("PRAGMA integrity_check", [], |row| row.get(0))
    }
}
