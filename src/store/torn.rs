//! Rows of a log that cannot be read, or are not there: finding them, and putting them aside so that the log can be used again.
//! What is put aside is kept as it was, in a table of its own.

use rusqlite::{OptionalExtension as _, params};

use super::{StoreError, Tx, now_ms};
use crate::domain::{EventBody, SessionId, UnixMillis};

/// A place at which a log is torn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornEvent {
    pub session: SessionId,
    pub seq: u64,
    /// Why it cannot be read, or that it is missing.
    pub what: String,
}

impl Tx<'_> {
    /// Reads every event of every log. Costs as much as all logs are long.
    pub fn torn_events(&self) -> Result<Vec<TornEvent>, StoreError> {
        let mut query = self.conn.prepare("SELECT session, seq, body FROM events ORDER BY session, seq")?;
        let mut rows = query.query([])?;
        let (mut torn, mut last) = (Vec::new(), (String::new(), 0_u64));
        while let Some(row) = rows.next()? {
            let (name, seq, body): (String, i64, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let (session, seq) = (super::inbox::session_of(name.clone())?, seq as u64);
            let before = if last.0 == name { last.1 } else { 0 };
            let missing = before + 1..seq;
            torn.extend(missing.map(|seq| TornEvent {
                session: session.clone(),
                seq,
                what: "it is missing".to_owned(),
            }));
            if let Err(error) = serde_json::from_str::<EventBody>(&body) {
                torn.push(TornEvent { session, seq, what: error.to_string() });
            }
            last = (name, seq);
        }
        Ok(torn)
    }

    /// Keeps the row as it is in `events_torn`, and puts `instead` into its place. Only for the holder of the session's lock.
    pub fn put_event_aside(&self, torn: &TornEvent, instead: &EventBody) -> Result<(), StoreError> {
        let at = params![torn.session.as_str(), torn.seq as i64];
        let row: Option<(UnixMillis, String)> = self
            .conn
            .query_row("SELECT at_ms, body FROM events WHERE session = ?1 AND seq = ?2", at, |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        if row.as_ref().is_some_and(|(_, body)| serde_json::from_str::<EventBody>(body).is_ok()) {
            return Ok(());
        }
        self.conn.execute(
            "INSERT INTO events_torn(session, seq, at_ms, type, body, put_aside_ms)
             SELECT session, seq, at_ms, type, body, ?3 FROM events WHERE session = ?1 AND seq = ?2",
            params![torn.session.as_str(), torn.seq as i64, now_ms()],
        )?;
        let body = serde_json::to_value(instead)?;
        let kind = body.get("type").and_then(serde_json::Value::as_str).unwrap_or_default();
        self.conn.execute(
            "INSERT OR REPLACE INTO events(session, seq, at_ms, type, body) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![
                torn.session.as_str(),
                torn.seq as i64,
                row.map_or_else(now_ms, |(at_ms, _)| at_ms),
                kind,
                body.to_string()
            ],
        )?;
        Ok(())
    }
}
