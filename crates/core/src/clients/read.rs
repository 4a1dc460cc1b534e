//! The sessions of a client as it may read them: its own, and no other. Must not know how a log
//! grows.

use serde::Serialize;

use super::ask::became;
use super::{ClientRefusal, Clients};
use crate::domain::{
    Block, ClientName, Event, EventBody, Origin, SessionId, TurnEnd, UnixMillis, text_of,
};
use crate::store::{StoreError, Tx};

/// The most rows of one part.
const ROWS_MAX: usize = 200;

/// A session of a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClientSession {
    /// What the client calls it; `None` for its usual one.
    pub session: Option<String>,
    pub created_ms: UnixMillis,
    pub last_ms: UnixMillis,
    pub turns: u64,
    /// A turn has no end yet.
    pub is_open: bool,
}

/// A part of a session.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SessionPart {
    pub rows: Vec<SessionRow>,
    /// The number behind which the next part begins; `None` where nothing is left.
    pub next_after: Option<u64>,
}

/// What a client may know of an event.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SessionRow {
    Message {
        seq: u64,
        at_ms: UnixMillis,
        from: &'static str,
        text: String,
    },
    Reply {
        seq: u64,
        at_ms: UnixMillis,
        text: String,
        calls: Vec<String>,
    },
    /// A call of the agent waits for the owner's answer.
    Asked {
        seq: u64,
        at_ms: UnixMillis,
        call: String,
        question: String,
    },
    /// A question has its answer, or was closed.
    Answered {
        seq: u64,
        at_ms: UnixMillis,
        call: String,
        allowed: bool,
    },
    Result {
        seq: u64,
        at_ms: UnixMillis,
        call: String,
        state: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        #[serde(skip_serializing_if = "String::is_empty")]
        text: String,
    },
    TurnStarted {
        seq: u64,
        at_ms: UnixMillis,
    },
    TurnEnded {
        seq: u64,
        at_ms: UnixMillis,
        end: TurnEnd,
    },
}

impl SessionRow {
    /// `None` for what is claw's own business: what was packed, recalled, cut or summarised.
    pub(super) fn of(event: &Event) -> Option<Self> {
        let (seq, at_ms) = (event.seq, event.at_ms);
        Some(match &event.body {
            EventBody::TurnStarted { .. } => Self::TurnStarted { seq, at_ms },
            EventBody::UserMessage { blocks, origin, .. } => {
                let from = match origin {
                    Origin::McpClient => "client",
                    Origin::Owner | Origin::Button => "owner",
                    _ => "other",
                };
                Self::Message { seq, at_ms, from, text: text_of(blocks) }
            }
            EventBody::ModelReply { blocks, .. } => {
                let name = |block: &Block| match block {
                    Block::ToolUse(tool_use) => Some(tool_use.name.clone()),
                    _ => None,
                };
                let calls = blocks.iter().filter_map(name).collect();
                Self::Reply { seq, at_ms, text: text_of(blocks), calls }
            }
            EventBody::CallParked { call, approval } => {
                Self::Asked { seq, at_ms, call: call.to_string(), question: approval.to_string() }
            }
            EventBody::CallAnswered { call, answer, .. } => {
                let allowed = matches!(answer, Some(crate::domain::Answer::Allow { .. }));
                Self::Answered { seq, at_ms, call: call.to_string(), allowed }
            }
            EventBody::ToolResult { call, outcome } => {
                let (state, reason) = became(outcome);
                let text = match outcome {
                    crate::domain::Outcome::Ended { output } => output.text.clone(),
                    _ => String::new(),
                };
                Self::Result { seq, at_ms, call: call.to_string(), state, reason, text }
            }
            EventBody::TurnEnded { end } => Self::TurnEnded { seq, at_ms, end: end.clone() },
            _ => return None,
        })
    }
}

impl Clients {
    /// The sessions of this client, the newest first.
    pub fn sessions(&self, client: &ClientName) -> Result<Vec<ClientSession>, ClientRefusal> {
        let found = self.shared.store.read(|tx| {
            let mut found = Vec::new();
            for row in tx.sessions_of_client(client)? {
                let Ok(session) = SessionId::new(row.name.clone()) else { continue };
                found.push(ClientSession {
                    session: client.own_name(&session).map(str::to_owned),
                    created_ms: row.created_ms,
                    last_ms: row.last_ms,
                    turns: row.turns,
                    is_open: tx.turn_open(&session)?,
                });
            }
            Ok(found)
        });
        Ok(found?)
    }

    /// What was said and done in a session of this client behind the event `after_seq`.
    pub fn read_session(
        &self,
        client: &ClientName,
        session: &SessionId,
        after_seq: u64,
        limit: usize,
    ) -> Result<SessionPart, ClientRefusal> {
        if !client.has(session) {
            return Err(ClientRefusal::NoSession);
        }
        let part = self.shared.store.read(|tx| {
            let exists = tx.last_seq(session)? > 0;
            Ok(if exists { Some(part_of(tx, session, after_seq, limit)?) } else { None })
        });
        part?.ok_or(ClientRefusal::NoSession)
    }
}

/// Events behind `after_seq`, as far as a client may know them.
pub(super) fn part_of(
    tx: &Tx<'_>,
    session: &SessionId,
    after_seq: u64,
    limit: usize,
) -> Result<SessionPart, StoreError> {
    let limit = limit.clamp(1, ROWS_MAX);
    let (mut rows, mut after) = (Vec::new(), after_seq);
    loop {
        let events = tx.some_events_after(session, after, ROWS_MAX as u32)?;
        let is_all = events.len() < ROWS_MAX;
        for event in &events {
            if rows.len() == limit {
                return Ok(SessionPart { rows, next_after: Some(after) });
            }
            rows.extend(SessionRow::of(event));
            after = event.seq;
        }
        if is_all {
            return Ok(SessionPart { rows, next_after: None });
        }
    }
}
