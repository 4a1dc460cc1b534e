//! A log as text that other programs can read and another home can take in: a header, then one
//! event a line, all canonical JSON, so that the same log is the same bytes. Pure. Must not know
//! where the text comes from or goes to.
//!
//! Two exports of one log under two names differ in that name alone: in the header (`id`,
//! `session`, and the digest over what follows), in each line's `id`, and in the ids of calls.

use claw_kit::counted::counted_with;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::kinds::{ModelView, meaning};
use super::log::Log;
use super::next::Bounds;
use super::replay::replay;
use crate::domain::canonical::{canonical_json, sha256_hex};
use crate::domain::{Block, CallId, Event, EventBody, SessionId};

const VERSION: u32 = 1;
/// The longest line, in bytes. One event holds at most a reply or a result, which have limits of
/// their own.
const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    claw_export: u32,
    events: u64,
    id: String,
    session: SessionId,
    /// Over all lines behind this one, their line ends included.
    sha256: String,
}

/// What is wrong with a text, and in which line. Lines count from 1, which is the header.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct ExportError {
    pub line: usize,
    pub what: String,
}

impl crate::domain::Blamed for ExportError {
    fn blame(&self) -> crate::domain::Blame {
        crate::domain::Blame::User
    }
}

/// A log that was read back.
#[derive(Clone, Debug, PartialEq)]
pub struct Exported {
    pub session: SessionId,
    pub events: Vec<Event>,
}

/// Writes a whole log.
pub fn write(session: &SessionId, events: &[Event]) -> Result<String, serde_json::Error> {
    let mut lines = String::new();
    for event in events {
        lines.push_str(&line_of(session, event)?);
        lines.push('\n');
    }
    let header = Header {
        claw_export: VERSION,
        events: events.len() as u64,
        id: session.to_string(),
        session: session.clone(),
        sha256: sha256_hex(&lines),
    };
    Ok(format!("{}\n{lines}", canonical_json(&serde_json::to_value(header)?)))
}

/// One event as it stands in an export: with an id.
pub fn line_of(session: &SessionId, event: &Event) -> Result<String, serde_json::Error> {
    let mut value = serde_json::to_value(event)?;
    if let Value::Object(map) = &mut value {
        map.insert("id".into(), json!(format!("{session}:{}", event.seq)));
    }
    Ok(canonical_json(&value))
}

/// Reads what [`write`] wrote, and nothing else: whoever changed, cut or invented it is told the
/// line. What is taken in must be at rest, because an open turn would go on, and a log that claw
/// itself could have written.
pub fn read(bytes: &[u8], bounds: &Bounds) -> Result<Exported, ExportError> {
    let wrong = |line: usize, what: String| ExportError { line, what };
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        wrong(before.split(|byte| *byte == b'\n').count(), "it is not UTF-8 text".to_owned())
    })?;
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let header = header(first).map_err(|what| wrong(1, what))?;
    let mut events = Vec::new();
    for (line, text) in (2..).zip(rest.split_terminator('\n')) {
        let event =
            event(text, &header.session, line as u64 - 1).map_err(|what| wrong(line, what))?;
        events.push(event);
    }
    with_todays_ids(&mut events);
    let last = events.len() + 1;
    if events.len() as u64 != header.events {
        return Err(wrong(
            last,
            format!(
                "{} here, and the header says {}",
                counted_with(events.len(), "event", "is", "are"),
                header.events
            ),
        ));
    }
    if sha256_hex(rest) != header.sha256 {
        return Err(wrong(1, "the digest is another one than that of the lines below".to_owned()));
    }
    if events.is_empty() {
        return Err(wrong(1, "the log is empty".to_owned()));
    }
    let log = Log::new(header.session.clone(), events.clone(), header.events);
    if !log.confirmed().is_empty() {
        let what = "a staged action was confirmed and has no result, and would be run here; let \
            it end and export it again";
        return Err(wrong(last, what.to_owned()));
    }
    if log.open_turn().is_some() {
        let what = "the last turn has no end, and would go on here; let it end (or `/stop` it) \
            and export it again";
        return Err(wrong(last, what.to_owned()));
    }
    if let Some(difference) = replay(&header.session, events.clone(), bounds).difference {
        return Err(wrong(
            difference.seq as usize + 1,
            format!("no claw writes such a log: {}", difference.sentence()),
        ));
    }
    Ok(Exported { session: header.session, events })
}

fn header(line: &str) -> Result<Header, String> {
    let value: Value =
        serde_json::from_str(line).map_err(|_| "it is no header of a claw export".to_owned())?;
    match value.get("claw_export").and_then(Value::as_u64) {
        Some(version) if version == u64::from(VERSION) => {}
        Some(version) => {
            return Err(format!("the export has version {version}, and this claw reads {VERSION}"));
        }
        None => return Err("it is no header of a claw export".to_owned()),
    }
    let header: Header =
        serde_json::from_value(value).map_err(|error| format!("the header: {error}"))?;
    if header.id != header.session.as_str() {
        return Err("the header's id is not its session".to_owned());
    }
    Ok(header)
}

fn event(line: &str, session: &SessionId, seq: u64) -> Result<Event, String> {
    if line.len() > LINE_BYTES_MAX {
        return Err(format!("it is longer than {LINE_BYTES_MAX} bytes"));
    }
    let mut event: Event = serde_json::from_str(line).map_err(|error| error.to_string())?;
    if event.seq != seq {
        return Err(format!("event {} stands where {seq} should", event.seq));
    }
    if event.body.call_mut().is_some_and(|call| call.session() != Some(session)) {
        return Err("it names a call of another session".to_owned());
    }
    if line_of(session, &event).map_err(|error| error.to_string())? != line {
        return Err("it is not written as this claw writes it".to_owned());
    }
    Ok(event)
}

/// An export from before ids said who made the call has pauses and actions under ids like those of
/// replies. It is read as what it meant.
fn with_todays_ids(events: &mut [Event]) {
    let mut turn_seq = 0;
    for Event { seq, body, .. } in events {
        match body {
            EventBody::TurnStarted { .. } => turn_seq = *seq,
            EventBody::CallParked { call, .. } | EventBody::CallAnswered { call, .. } => {
                if let CallId::Reply { session, reply_seq, block } = call
                    && *reply_seq == turn_seq
                {
                    *call = CallId::pause_of_earlier(session, turn_seq, *block);
                }
            }
            EventBody::ActionAnswered { call, .. } | EventBody::ActionResult { call, .. } => {
                if let CallId::Reply { session, reply_seq, block } = call {
                    let (session, result_seq) = (session.clone(), *reply_seq);
                    *call = CallId::Action { session, result_seq, index: *block };
                }
            }
            _ => {}
        }
    }
}

impl Exported {
    /// The same log under another name: its calls are that session's.
    pub fn renamed(mut self, name: &SessionId) -> Self {
        for event in &mut self.events {
            if let Some(call) = event.body.call_mut() {
                call.rename_session(name);
            }
        }
        self.session = name.clone();
        self
    }

    /// The artifacts that the log refers to by digest: images.
    pub fn images(&self) -> Vec<String> {
        let blocks = self.events.iter().filter_map(|event| match meaning(event).seen {
            ModelView::Person(blocks) | ModelView::Model(blocks) => Some(blocks),
            _ => None,
        });
        let digests = blocks.flatten().filter_map(|block| match block {
            Block::ImageRef { digest, .. } => Some(digest.clone()),
            _ => None,
        });
        digests.collect()
    }
}

#[cfg(test)]
mod tests;
