//! The windows of long logs in a form that is read at once: a copy of events, which may be lost or
//! wrong at any time. Owns when such a copy is used. Must not know what a model sees of a window.

use std::collections::HashMap;

use rusqlite::{OptionalExtension as _, params};
use serde::{Deserialize, Serialize};

use super::damaged::json_at;
use super::{RowAt, StoreError, Tx};
use claw_domain::canonical::sha256_hex;
use claw_domain::{
    Address, Block, Event, EventBody, Finish, Origin, SessionId, ToolUse, TurnEnd, UnixMillis,
    Usage,
};

/// The form of [`Row`]. A copy in another one is not used: give it a new name with every change of
/// what a row or an event holds.
const FORM: &str = concat!("2 of ", env!("CARGO_PKG_VERSION"));
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

/// The names that come again and again, on a line, and the events, each on a line.
fn written(events: Vec<Event>) -> Result<String, serde_json::Error> {
    let mut names = Names::default();
    let mut rows = String::new();
    let mut before = (0_u64, 0 as UnixMillis);
    for Event { seq, at_ms, body } in events {
        let place = (seq.wrapping_sub(before.0), at_ms.wrapping_sub(before.1));
        before = (seq, at_ms);
        rows.push('\n');
        rows.push_str(&serde_json::to_string(&Row::of(place, body, &mut names))?);
    }
    Ok(serde_json::to_string(&names.all)? + &rows)
}

/// The events with a number of at least `from`, of about `count` that were written. Each goes where
/// it stays as soon as it is read: most of what a long window costs is memory that is used once.
fn read(body: &[u8], count: usize, from: u64) -> Option<Vec<Event>> {
    let (names, rows) = std::str::from_utf8(body).ok()?.split_once('\n')?;
    let names: Vec<String> = serde_json::from_str(names).ok()?;
    // No row is shorter than a byte, whatever the count says.
    let mut events = Vec::with_capacity(count.min(rows.len()));
    let (mut seq, mut at_ms) = (0_u64, 0 as UnixMillis);
    for row in serde_json::Deserializer::from_str(rows).into_iter::<Row>() {
        let (place, body) = row.ok()?.body(&names)?;
        (seq, at_ms) = (seq.wrapping_add(place.0), at_ms.wrapping_add(place.1));
        if seq >= from {
            events.push(Event { seq, at_ms, body });
        }
    }
    Some(events)
}

/// Who speaks, and which model answers: a few, which stand in nearly every event.
#[derive(Default)]
struct Names {
    all: Vec<String>,
    places: HashMap<String, u32>,
}

impl Names {
    fn place(&mut self, name: String) -> u32 {
        if let Some(known) = self.places.get(&name) {
            return *known;
        }
        let place = self.all.len() as u32;
        self.all.push(name.clone());
        self.places.insert(name, place);
        place
    }
}

/// How much greater the number of an event and its time are than those of the one before it. Time
/// may go back, and nothing keeps a damaged log from holding any time.
type Place = (u64, UnixMillis);

/// An event without the names of its fields, which are most of what takes time in reading one. What
/// is rare stands in the form that it has in the log. A `u32` is a place among the names.
#[derive(Serialize, Deserialize)]
enum Row {
    #[serde(rename = "S")]
    TurnStarted(Place, Origin, u32, Option<u32>),
    #[serde(rename = "U")]
    UserMessage(Place, Vec<Piece>, i64, u32, Origin),
    #[serde(rename = "P")]
    PromptPacked(Place, u64, u64, u64),
    #[serde(rename = "R")]
    ModelReply(Place, Vec<Piece>, Ended, [u64; 4], u32, u32, Option<String>),
    #[serde(rename = "A")]
    Answered(Place),
    #[serde(rename = "O")]
    Other(Place, Box<EventBody>),
}

#[derive(Serialize, Deserialize)]
enum Piece {
    #[serde(rename = "T")]
    Text(String),
    #[serde(rename = "U")]
    ToolUse(ToolUse),
    #[serde(rename = "O")]
    Other(Block),
}

#[derive(Serialize, Deserialize)]
enum Ended {
    #[serde(rename = "C")]
    Complete,
    #[serde(rename = "U")]
    ToolUse,
    #[serde(rename = "M")]
    MaxTokens,
    #[serde(rename = "R")]
    Refusal(String),
}

impl Row {
    fn of(place: Place, body: EventBody, names: &mut Names) -> Self {
        match body {
            EventBody::TurnStarted { origin, principal, role } => {
                let principal = names.place(principal);
                Self::TurnStarted(place, origin, principal, role.map(|role| names.place(role)))
            }
            EventBody::UserMessage { blocks, inbox_id, from, origin } => {
                let from = names.place(from.0);
                Self::UserMessage(place, pieces(blocks), inbox_id, from, origin)
            }
            EventBody::PromptPacked { from_seq, dropped_events, estimated_tokens } => {
                Self::PromptPacked(place, from_seq, dropped_events, estimated_tokens)
            }
            EventBody::ModelReply { blocks, finish, usage, provider, model, notice } => {
                let finish = match finish {
                    Finish::Complete => Ended::Complete,
                    Finish::ToolUse => Ended::ToolUse,
                    Finish::MaxTokens => Ended::MaxTokens,
                    Finish::Refusal { reason } => Ended::Refusal(reason),
                };
                let Usage { input_tokens, output_tokens, cached_tokens, cache_write_tokens } =
                    usage;
                let usage = [input_tokens, output_tokens, cached_tokens, cache_write_tokens];
                let (provider, model) = (names.place(provider), names.place(model));
                Self::ModelReply(place, pieces(blocks), finish, usage, provider, model, notice)
            }
            EventBody::TurnEnded { end: TurnEnd::Answered } => Self::Answered(place),
            body => Self::Other(place, Box::new(body)),
        }
    }

    /// None if it uses a name that is not there.
    fn body(self, names: &[String]) -> Option<(Place, EventBody)> {
        let name = |nth: u32| names.get(nth as usize).cloned();
        Some(match self {
            Self::TurnStarted(place, origin, principal, role) => {
                let role = match role {
                    Some(nth) => Some(name(nth)?),
                    None => None,
                };
                (place, EventBody::TurnStarted { origin, principal: name(principal)?, role })
            }
            Self::UserMessage(place, pieces, inbox_id, from, origin) => {
                let (blocks, from) = (blocks(pieces), Address(name(from)?));
                (place, EventBody::UserMessage { blocks, inbox_id, from, origin })
            }
            Self::PromptPacked(place, from_seq, dropped_events, estimated_tokens) => {
                (place, EventBody::PromptPacked { from_seq, dropped_events, estimated_tokens })
            }
            Self::ModelReply(place, pieces, finish, usage, provider, model, notice) => {
                let finish = match finish {
                    Ended::Complete => Finish::Complete,
                    Ended::ToolUse => Finish::ToolUse,
                    Ended::MaxTokens => Finish::MaxTokens,
                    Ended::Refusal(reason) => Finish::Refusal { reason },
                };
                let [input_tokens, output_tokens, cached_tokens, cache_write_tokens] = usage;
                let usage =
                    Usage { input_tokens, output_tokens, cached_tokens, cache_write_tokens };
                let (blocks, provider, model) = (blocks(pieces), name(provider)?, name(model)?);
                (place, EventBody::ModelReply { blocks, finish, usage, provider, model, notice })
            }
            Self::Answered(place) => (place, EventBody::TurnEnded { end: TurnEnd::Answered }),
            Self::Other(place, body) => (place, *body),
        })
    }
}

fn pieces(blocks: Vec<Block>) -> Vec<Piece> {
    let piece = |block| match block {
        Block::Text { text } => Piece::Text(text),
        Block::ToolUse(tool_use) => Piece::ToolUse(tool_use),
        other => Piece::Other(other),
    };
    blocks.into_iter().map(piece).collect()
}

fn blocks(pieces: Vec<Piece>) -> Vec<Block> {
    let block = |piece| match piece {
        Piece::Text(text) => Block::Text { text },
        Piece::ToolUse(tool_use) => Block::ToolUse(tool_use),
        Piece::Other(block) => block,
    };
    pieces.into_iter().map(block).collect()
}
