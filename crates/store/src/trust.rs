//! What an owner lets each server of others do, and the questions about it: each frozen when it is
//! asked, answered once. Must not know what a server says, or how a question looks.

use rusqlite::{OptionalExtension as _, Row, params};

use super::{StoreError, Tx, now_ms};
use claw_domain::{Address, Trust, TrustState, UnixMillis};

const STATES: [(TrustState, &str); 5] = [
    (TrustState::New, "new"),
    (TrustState::Told, "told"),
    (TrustState::Decided, "decided"),
    (TrustState::Stale, "stale"),
    (TrustState::Closed, "closed"),
];

/// What an owner has said about a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustRow {
    /// How it was started when that was said, or when it was seen first.
    pub launch: String,
    /// `None` until an owner has said anything.
    pub level: Option<Trust>,
    pub decided_by: String,
    pub decided_ms: UnixMillis,
    pub first_seen_ms: UnixMillis,
}

/// One question about one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustQuestionRow {
    pub id: String,
    pub server: String,
    pub launch: String,
    /// What the server says about itself, in claw's words.
    pub shown: String,
    pub state: TrustState,
    /// The answer.
    pub level: Option<Trust>,
    /// Where it was asked, and by which message.
    pub address: Address,
    pub message: i64,
    pub decided_by: String,
    pub decided_ms: UnixMillis,
    pub at_ms: UnixMillis,
}

const COLUMNS: &str =
    "id, server, launch, shown, state, level, address, message, decided_by, decided_ms, at_ms";

/// A level that this claw does not know is none.
fn level(text: Option<String>) -> Option<Trust> {
    text.and_then(|text| Trust::parse(&text))
}

fn read(row: &Row<'_>) -> rusqlite::Result<TrustQuestionRow> {
    let state: String = row.get(4)?;
    let known = STATES.into_iter().find(|(_, text)| *text == state);
    Ok(TrustQuestionRow {
        id: row.get(0)?,
        server: row.get(1)?,
        launch: row.get(2)?,
        shown: row.get(3)?,
        // A state that this claw does not know asks nobody.
        state: known.map_or(TrustState::Closed, |(state, _)| state),
        level: level(row.get(5)?),
        address: Address(row.get(6)?),
        message: row.get(7)?,
        decided_by: row.get(8)?,
        decided_ms: row.get(9)?,
        at_ms: row.get(10)?,
    })
}

impl Tx<'_> {
    pub fn trust(&self, server: &str) -> Result<Option<TrustRow>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT launch, level, decided_by, decided_ms, first_seen_ms FROM trust WHERE server = ?1",
        )?;
        let row = query.query_row([server], |row| {
            Ok(TrustRow {
                launch: row.get(0)?,
                level: level(row.get(1)?),
                decided_by: row.get(2)?,
                decided_ms: row.get(3)?,
                first_seen_ms: row.get(4)?,
            })
        });
        Ok(row.optional()?)
    }

    /// Notes that a server was seen, if it was not before.
    pub fn first_seen(&self, server: &str, launch: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO trust(server, launch, first_seen_ms) VALUES (?1, ?2, ?3)
                 ON CONFLICT(server) DO NOTHING",
            )?
            .execute(params![server, launch, now_ms()])?;
        Ok(())
    }

    /// Writes what an owner says about a server, as it is started by this launch form.
    pub fn set_trust(
        &self,
        server: &str,
        launch: &str,
        level: Trust,
        by: &str,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO trust(server, launch, level, decided_by, decided_ms, first_seen_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?5)
                 ON CONFLICT(server) DO UPDATE SET launch = ?2, level = ?3, decided_by = ?4, decided_ms = ?5",
            )?
            .execute(params![server, launch, level.as_str(), by, now_ms()])?;
        // What is offered has changed, for every process.
        self.pins_changed()
    }

    pub fn ask_about_trust(
        &self,
        id: &str,
        server: &str,
        launch: &str,
        shown: &str,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO trust_questions(id, server, launch, shown, at_ms) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![id, server, launch, shown, now_ms()])?;
        Ok(())
    }

    pub fn trust_question(&self, id: &str) -> Result<Option<TrustQuestionRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM trust_questions WHERE id = ?1");
        Ok(self.conn.prepare_cached(&sql)?.query_row([id], read).optional()?)
    }

    /// Those that an owner's screen does not show as they are, oldest first.
    pub fn trust_questions_to_show(&self) -> Result<Vec<TrustQuestionRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM trust_questions WHERE state <> 'closed' AND state <> 'told' ORDER BY at_ms, id"
        );
        let mut query = self.conn.prepare_cached(&sql)?;
        let rows = query.query_map([], read)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Notes by which message an owner was asked. One that ended meanwhile is to be shown as that.
    pub fn trust_question_told(
        &self,
        id: &str,
        at: &Address,
        message: i64,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "UPDATE trust_questions SET address = ?2, message = ?3,
                     state = CASE state WHEN 'new' THEN 'told' WHEN 'closed' THEN 'stale' ELSE state END
                 WHERE id = ?1",
            )?
            .execute(params![id, at.0, message])?;
        Ok(())
    }

    /// The one compare-and-set of the answer. False when it was answered or ended before.
    pub fn decide_trust_question(
        &self,
        id: &str,
        level: Trust,
        by: &str,
    ) -> Result<bool, StoreError> {
        let changed = self
            .conn
            .prepare_cached(
                "UPDATE trust_questions SET state = 'decided', level = ?2, decided_by = ?3, decided_ms = ?4
                 WHERE id = ?1 AND state = 'told'",
            )?
            .execute(params![id, level.as_str(), by, now_ms()])?;
        Ok(changed == 1)
    }

    /// Ends what is open about a server. What nobody was shown needs no end on a screen.
    pub fn end_trust_questions(&self, server: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "UPDATE trust_questions SET decided_ms = ?2,
                     state = CASE state WHEN 'new' THEN 'closed' ELSE 'stale' END
                 WHERE server = ?1 AND state IN ('new', 'told')",
            )?
            .execute(params![server, now_ms()])?;
        Ok(())
    }

    /// Notes that the screen shows the end.
    pub fn close_trust_question(&self, id: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "UPDATE trust_questions SET state = 'closed' WHERE id = ?1 AND state <> 'told'",
            )?
            .execute([id])?;
        Ok(())
    }
}
