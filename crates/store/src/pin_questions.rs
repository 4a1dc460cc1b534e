//! What an owner is asked about tools that have changed: frozen when it is asked, answered once.
//! Must not know what a pin is, or how a question looks.

use rusqlite::{OptionalExtension as _, Row, params};

use super::{StoreError, Tx, now_ms};
use claw_domain::{Address, PinState, UnixMillis};

const STATES: [PinState; 6] = [
    PinState::New,
    PinState::Told,
    PinState::Accepted,
    PinState::Kept,
    PinState::Stale,
    PinState::Closed,
];

fn text_of(state: PinState) -> &'static str {
    match state {
        PinState::New => "new",
        PinState::Told => "told",
        PinState::Accepted => "accepted",
        PinState::Kept => "kept",
        PinState::Stale => "stale",
        PinState::Closed => "closed",
    }
}

/// One question about what has changed at one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinQuestionRow {
    pub id: String,
    pub server: String,
    /// Each tool with the pin of the form that is asked about.
    pub forms: Vec<(String, String)>,
    /// The differences, made visible.
    pub shown: String,
    pub state: PinState,
    /// Where it was asked, and by which message.
    pub address: Address,
    pub message: i64,
    pub decided_by: String,
    pub decided_ms: UnixMillis,
}

const COLUMNS: &str = "id, server, forms, shown, state, address, message, decided_by, decided_ms";

fn read(row: &Row<'_>) -> rusqlite::Result<PinQuestionRow> {
    let (forms, state): (String, String) = (row.get(2)?, row.get(4)?);
    let known = STATES.into_iter().find(|known| text_of(*known) == state);
    Ok(PinQuestionRow {
        id: row.get(0)?,
        server: row.get(1)?,
        // What cannot be read covers nothing, so that a yes to it accepts nothing.
        forms: serde_json::from_str(&forms).unwrap_or_default(),
        shown: row.get(3)?,
        // A state that this claw does not know asks nobody.
        state: known.unwrap_or(PinState::Closed),
        address: Address(row.get(5)?),
        message: row.get(6)?,
        decided_by: row.get(7)?,
        decided_ms: row.get(8)?,
    })
}

impl Tx<'_> {
    /// Asks about what has changed at a server.
    pub fn ask_about_pins(
        &self,
        id: &str,
        server: &str,
        forms: &[(String, String)],
        shown: &str,
    ) -> Result<(), StoreError> {
        let forms = serde_json::to_string(forms)?;
        self.conn
            .prepare_cached("INSERT INTO pin_questions(id, server, forms, shown, at_ms) VALUES (?1, ?2, ?3, ?4, ?5)")?
            .execute(params![id, server, forms, shown, now_ms()])?;
        Ok(())
    }

    pub fn pin_question(&self, id: &str) -> Result<Option<PinQuestionRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM pin_questions WHERE id = ?1");
        Ok(self.conn.prepare_cached(&sql)?.query_row([id], read).optional()?)
    }

    /// Those that an owner's screen does not show as they are, oldest first.
    pub fn pin_questions_to_show(&self) -> Result<Vec<PinQuestionRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM pin_questions WHERE state <> 'closed' AND state <> 'told' ORDER BY at_ms, id"
        );
        let mut query = self.conn.prepare_cached(&sql)?;
        let rows = query.query_map([], read)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Notes by which message an owner was asked. One that ended meanwhile is to be shown as that.
    pub fn pin_question_told(
        &self,
        id: &str,
        at: &Address,
        message: i64,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "UPDATE pin_questions SET address = ?2, message = ?3,
                     state = CASE state WHEN 'new' THEN 'told' WHEN 'closed' THEN 'stale' ELSE state END
                 WHERE id = ?1",
            )?
            .execute(params![id, at.0, message])?;
        Ok(())
    }

    /// The one compare-and-set of the answer: told → accepted or kept. False when it was answered
    /// or ended before.
    pub fn decide_pin_question(
        &self,
        id: &str,
        to: PinState,
        by: &str,
    ) -> Result<bool, StoreError> {
        let changed = self
            .conn
            .prepare_cached(
                "UPDATE pin_questions SET state = ?2, decided_by = ?3, decided_ms = ?4 WHERE id = ?1 AND state = 'told'",
            )?
            .execute(params![id, text_of(to), by, now_ms()])?;
        Ok(changed == 1)
    }

    /// Ends what is open about a server. What nobody was shown needs no end on a screen.
    pub fn end_pin_questions(&self, server: &str, by: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "UPDATE pin_questions SET decided_by = ?2, decided_ms = ?3,
                     state = CASE state WHEN 'new' THEN 'closed' ELSE 'stale' END
                 WHERE server = ?1 AND state IN ('new', 'told')",
            )?
            .execute(params![server, by, now_ms()])?;
        Ok(())
    }

    /// Notes that the screen shows the end.
    pub fn close_pin_question(&self, id: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "UPDATE pin_questions SET state = 'closed' WHERE id = ?1 AND state <> 'told'",
            )?
            .execute([id])?;
        Ok(())
    }
}
