//! The windows of long logs in a form that is read at once: a copy of events, which may be lost or
//! wrong at any time. Owns when such a copy is used. Must not know what a model sees of a window.

mod rows;

use rusqlite::{OptionalExtension as _, params};

use super::damaged::json_at;
use super::{RowAt, StoreError, Tx};
use claw_domain::canonical::sha256_hex;
use claw_domain::{Event, EventBody, SessionId, UnixMillis};
use rows::{read, written};

/// The form of [`rows`]. A copy in another one is not used: give it a new name with every change of
/// what a row or an event holds.
const FORM: &str = concat!("5 of ", env!("CARGO_PKG_VERSION"));
/// So many events may be read one by one before their window is kept.
pub(super) const READ_ONE_BY_ONE_MAX: usize = 256;

/// The part of a log that a turn needs.
#[derive(Debug)]
pub struct LogWindow {
    pub events: Vec<Event>,
    /// How many of them were rows of their own, and not part of a kept window.
    pub one_by_one: usize,
}

impl LogWindow {
    /// Whether the next one who needs this window should find it kept.
    pub fn is_worth_keeping(&self) -> bool {
        self.one_by_one > READ_ONE_BY_ONE_MAX
    }
}

impl Tx<'_> {
    /// The events with a number of at least `from`, which is where the window begins. As far as it
    /// was kept they come from there; they are the same as in the log, in which no event ever
    /// changes.
    pub(super) fn window_from(
        &self,
        session: &SessionId,
        from: u64,
    ) -> Result<LogWindow, StoreError> {
        let Some(mut events) = self.kept_window(session, from)? else {
            let events = self.events_from(session, from)?;
            return Ok(LogWindow { one_by_one: events.len(), events });
        };
        let through = events.last().map_or(from, |last| last.seq);
        let rest = self.events_after(session, through)?;
        let one_by_one = rest.len();
        events.extend(rest);
        Ok(LogWindow { events, one_by_one })
    }

    /// Keeps the window of a session as it is now, instead of the one that was kept before.
    pub fn keep_window(&self, session: &SessionId) -> Result<(), StoreError> {
        let from = self.window_begins(session)?;
        let events = self.window_from(session, from)?.events;
        let Some(through) = events.last().map(|last| last.seq as i64) else { return Ok(()) };
        let body = written(events)?;
        self.conn
            .prepare_cached(
                "INSERT INTO kept_windows(session, form, from_seq, through_seq, digest, body)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT(session) DO UPDATE SET form = excluded.form, from_seq = excluded.from_seq,
                     through_seq = excluded.through_seq, digest = excluded.digest, body = excluded.body",
            )?
            .execute(params![session.as_str(), FORM, from as i64, through, sha256_hex(&body), body])?;
        Ok(())
    }

    /// For whoever changes what was in a log.
    pub(super) fn forget_kept_window(&self, session: &SessionId) -> Result<(), StoreError> {
        self.conn.execute("DELETE FROM kept_windows WHERE session = ?1", [session.as_str()])?;
        Ok(())
    }

    /// What was kept of the events from `from` on. None if nothing was, or if it is not what this
    /// log holds.
    fn kept_window(
        &self,
        session: &SessionId,
        from: u64,
    ) -> Result<Option<Vec<Event>>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT digest, body, through_seq - from_seq + 1 FROM kept_windows
             WHERE session = ?1 AND form = ?2 AND from_seq <= ?3 AND through_seq >= ?3",
        )?;
        let mut rows = query.query(params![session.as_str(), FORM, from as i64])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let (expected, body) = (row.get_ref(0)?, row.get_ref(1)?);
        let (Ok(expected), Ok(body)) = (expected.as_bytes(), body.as_bytes()) else {
            return Ok(None);
        };
        if expected != sha256_hex(body).as_bytes() {
            tracing::warn!(%session, "what was kept of a window is damaged; its events are read \
                instead");
            return Ok(None);
        }
        let Some(events) = read(body, row.get::<_, i64>(2)? as usize, from) else {
            return Ok(None);
        };
        Ok(match events.last() {
            Some(last) if self.holds(session, last)? => Some(events),
            _ => None,
        })
    }

    /// Whether this very event is in the log. A log that was put in the place of another one ends
    /// differently.
    fn holds(&self, session: &SessionId, event: &Event) -> Result<bool, StoreError> {
        let mut query = self
            .conn
            .prepare_cached("SELECT at_ms, body FROM events WHERE session = ?1 AND seq = ?2")?;
        let seq = event.seq as i64;
        let found = query
            .query_row(params![session.as_str(), seq], |row| {
                let body =
                    json_at::<EventBody>(row, 1, || RowAt::Event { session: session.clone(), seq });
                Ok((row.get::<_, UnixMillis>(0)?, body))
            })
            .optional()?;
        // One that cannot be read is named by whoever reads the log.
        Ok(matches!(found, Some((at_ms, Ok(body))) if at_ms == event.at_ms && body == event.body))
    }
}
