//! The append-only logs of the sessions. Only the holder of a session's lock appends to its log.

use rusqlite::{OptionalExtension as _, params};
use serde::Deserialize;
use serde_json::Value;

use super::damaged::{follows, json_at};
use super::{LogWindow, RowAt, StoreError, Tx};
use claw_domain::{Event, EventBody, SessionId};

/// All that is asked of the event with which a window begins: it may hold thousands of lines.
#[derive(Deserialize)]
struct Boundary {
    /// Of a summary or a dropped window.
    through_seq: Option<u64>,
}

impl Tx<'_> {
    /// Appends an event that the log's holder has numbered. A gap or a number used twice is an
    /// error: it means that two processes thought they were the holder.
    pub fn append_event(&self, session: &SessionId, event: &Event) -> Result<(), StoreError> {
        let last: i64 = self
            .conn
            .prepare_cached("SELECT coalesce(max(seq), 0) FROM events WHERE session = ?1")?
            .query_row([session.as_str()], |row| row.get(0))?;
        if event.seq as i64 != last.saturating_add(1) {
            return Err(StoreError::Gap {
                session: session.to_string(),
                event: event.seq,
                last: last as u64,
            });
        }
        let body = serde_json::to_value(&event.body)?;
        let kind = body.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        self.conn
            .prepare_cached(
                "INSERT INTO events(session, seq, at_ms, type, body) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![
                session.as_str(),
                event.seq as i64,
                event.at_ms,
                kind,
                body.to_string()
            ])?;
        Ok(())
    }

    /// An error if the log does not reach to this event, although its holder has queued it.
    pub fn must_hold_event(&self, session: &SessionId, seq: u64) -> Result<(), StoreError> {
        let last = self.last_seq(session)?;
        if last >= seq {
            return Ok(());
        }
        Err(StoreError::Gap { session: session.to_string(), event: seq, last })
    }

    /// Takes in the whole log of a session that was not there before. False, and nothing is
    /// written, if it was.
    pub fn import_log(&self, session: &SessionId, events: &[Event]) -> Result<bool, StoreError> {
        let known: bool = self
            .conn
            .prepare_cached(
                "SELECT EXISTS(SELECT 1 FROM sessions WHERE name = ?1) OR EXISTS(SELECT 1 FROM events WHERE session = ?1)",
            )?
            .query_row([session.as_str()], |row| row.get(0))?;
        if known {
            return Ok(false);
        }
        self.touch_session(session, super::now_ms())?;
        events.iter().try_for_each(|event| self.append_event(session, event))?;
        Ok(true)
    }

    /// The part of a log that a turn needs: from the newest boundary (a summary, a dropped window,
    /// `/new`) on. What is before it is never read again, so the cost does not grow with the
    /// history.
    pub fn window(&self, session: &SessionId) -> Result<LogWindow, StoreError> {
        self.window_from(session, self.window_begins(session)?)
    }

    /// The number of the first event of the window.
    pub(super) fn window_begins(&self, session: &SessionId) -> Result<u64, StoreError> {
        // By name, because SQLite would rather walk through the whole log from its end.
        let mut query = self.conn.prepare_cached(
            "SELECT seq, body FROM events INDEXED BY events_boundaries WHERE session = ?1
             AND type IN ('summary', 'window.dropped', 'session.cleared') ORDER BY seq DESC LIMIT 1",
        )?;
        let mut rows = query.query([session.as_str()])?;
        let Some(row) = rows.next()? else { return Ok(1) };
        let seq: i64 = row.get(0)?;
        let boundary: Boundary =
            json_at(row, 1, || RowAt::Event { session: session.clone(), seq })?;
        Ok(boundary.through_seq.map_or(seq as u64, |through| through + 1))
    }

    /// All events with a number of at least `from`, in order.
    pub fn events_from(&self, session: &SessionId, from: u64) -> Result<Vec<Event>, StoreError> {
        self.events_following(session, from, (from <= 1).then_some(0))
    }

    /// All events behind the one with this number.
    pub(super) fn events_after(
        &self,
        session: &SessionId,
        last: u64,
    ) -> Result<Vec<Event>, StoreError> {
        self.events_following(session, last + 1, Some(last as i64))
    }

    /// The first of them has to follow the one with the number `last`, if that is known.
    fn events_following(
        &self,
        session: &SessionId,
        from: u64,
        mut last: Option<i64>,
    ) -> Result<Vec<Event>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT seq, at_ms, body FROM events WHERE session = ?1 AND seq >= ?2 ORDER BY seq",
        )?;
        let mut rows = query.query(params![session.as_str(), from as i64])?;
        let mut events = Vec::new();
        while let Some(row) = rows.next()? {
            let seq: i64 = row.get(0)?;
            let at = || RowAt::Event { session: session.clone(), seq };
            if last.is_some_and(|last| !follows(seq, last)) {
                return Err(StoreError::Unreadable {
                    at: at(),
                    what: "its number follows no other".to_owned(),
                });
            }
            last = Some(seq);
            events.push(Event { seq: seq as u64, at_ms: row.get(1)?, body: json_at(row, 2, at)? });
        }
        Ok(events)
    }

    /// At most so many events behind the one with this number.
    pub fn some_events_after(
        &self,
        session: &SessionId,
        after: u64,
        most: u32,
    ) -> Result<Vec<Event>, StoreError> {
        self.event_rows(
            "SELECT seq, at_ms, body FROM events WHERE session = ?1 AND seq > ?2
             ORDER BY seq LIMIT ?3",
            params![session.as_str(), after as i64, most],
            session,
        )
    }

    /// The number of the turn that has taken this message of the inbox in.
    pub fn turn_of_message(
        &self,
        session: &SessionId,
        inbox_id: i64,
    ) -> Result<Option<u64>, StoreError> {
        // From the end, because somebody asks about what was just said.
        let mut query = self.conn.prepare_cached(
            "SELECT (SELECT max(seq) FROM events AS begun
                     WHERE begun.session = ?1 AND begun.seq < said.seq AND begun.type = 'turn.started')
             FROM events AS said WHERE said.session = ?1 AND said.type = 'user.message'
                 AND json_extract(said.body, '$.inbox_id') = ?2
             ORDER BY said.seq DESC LIMIT 1",
        )?;
        let found: Option<Option<i64>> =
            query.query_row(params![session.as_str(), inbox_id], |row| row.get(0)).optional()?;
        Ok(found.flatten().map(|seq| seq as u64))
    }

    /// The events of the turn that begins with this number, to its end.
    pub fn turn_events(&self, session: &SessionId, from: u64) -> Result<Vec<Event>, StoreError> {
        self.event_rows(
            "SELECT seq, at_ms, body FROM events WHERE session = ?1 AND seq >= ?2
                 AND seq <= coalesce((SELECT min(seq) FROM events
                     WHERE session = ?1 AND seq > ?2 AND type = 'turn.ended'), 9223372036854775807)
             ORDER BY seq",
            params![session.as_str(), from as i64],
            session,
        )
    }

    fn event_rows(
        &self,
        sql: &str,
        given: &[&dyn rusqlite::ToSql],
        session: &SessionId,
    ) -> Result<Vec<Event>, StoreError> {
        self.all(sql, given, |row| {
            let seq: i64 = row.get(0)?;
            let at = || RowAt::Event { session: session.clone(), seq };
            Ok(Event { seq: seq as u64, at_ms: row.get(1)?, body: json_at(row, 2, at)? })
        })
    }

    /// The message with which a session began.
    pub fn first_message(&self, session: &SessionId) -> Result<Option<EventBody>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT seq, body FROM events WHERE session = ?1 AND type = 'user.message' ORDER BY seq LIMIT 1",
        )?;
        let mut rows = query.query([session.as_str()])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let seq: i64 = row.get(0)?;
        json_at(row, 1, || RowAt::Event { session: session.clone(), seq }).map(Some)
    }

    /// The event with this number, and the newest message of a person before it, as far as both are
    /// there.
    pub fn event_and_message_before(
        &self,
        session: &SessionId,
        seq: u64,
    ) -> Result<(Option<EventBody>, Option<EventBody>), StoreError> {
        let one = |sql: &str| -> Result<Option<EventBody>, StoreError> {
            let mut query = self.conn.prepare_cached(sql)?;
            let body = query
                .query_row(params![session.as_str(), seq as i64], |row| row.get::<_, String>(0))
                .optional()?;
            Ok(body.map(|body| serde_json::from_str(&body)).transpose()?)
        };
        let event = one("SELECT body FROM events WHERE session = ?1 AND seq = ?2")?;
        let message = one(
            "SELECT body FROM events WHERE session = ?1 AND seq < ?2 AND type = 'user.message' ORDER BY seq DESC LIMIT 1",
        )?;
        Ok((event, message))
    }

    /// What was recalled in the turn that holds this event, up to it.
    pub fn recalled_before(
        &self,
        session: &SessionId,
        seq: u64,
    ) -> Result<Vec<EventBody>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT body FROM events WHERE session = ?1 AND seq <= ?2 AND type = 'turn.recalled' AND seq > coalesce(
                (SELECT seq FROM events WHERE session = ?1 AND seq <= ?2 AND type = 'turn.started'
                 ORDER BY seq DESC LIMIT 1), 0)
             ORDER BY seq",
        )?;
        let rows = query
            .query_map(params![session.as_str(), seq as i64], |row| row.get::<_, String>(0))?
            .collect::<Result<Vec<_>, _>>()?;
        rows.iter().map(|body| Ok(serde_json::from_str(body)?)).collect()
    }

    /// The number of the newest event, 0 for an empty log.
    pub fn last_seq(&self, session: &SessionId) -> Result<u64, StoreError> {
        let mut query = self
            .conn
            .prepare_cached("SELECT coalesce(max(seq), 0) FROM events WHERE session = ?1")?;
        Ok(query.query_row([session.as_str()], |row| row.get::<_, i64>(0))? as u64)
    }

    /// Who has begun the turn that is open, if one is.
    pub fn turn_begun_by(&self, session: &SessionId) -> Result<Option<String>, StoreError> {
        if !self.turn_open(session)? {
            return Ok(None);
        }
        let begun =
            self.window(session)?.events.into_iter().rev().find_map(|event| match event.body {
                EventBody::TurnStarted { principal, .. } => Some(principal),
                _ => None,
            });
        Ok(begun)
    }

    /// Whether the newest turn of a log has no end yet.
    pub fn turn_open(&self, session: &SessionId) -> Result<bool, StoreError> {
        Ok(self.open_turn(session)?.is_some())
    }

    /// The number of the event with which the open turn began.
    pub fn open_turn(&self, session: &SessionId) -> Result<Option<u64>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT type, seq FROM events WHERE session = ?1 AND type IN ('turn.started', 'turn.ended')
             ORDER BY seq DESC LIMIT 1",
        )?;
        let mut rows = query.query([session.as_str()])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let is_open = row.get::<_, String>(0)? == "turn.started";
        Ok(is_open.then_some(row.get::<_, i64>(1)? as u64))
    }
}
