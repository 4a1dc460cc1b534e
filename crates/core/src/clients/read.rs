//! The sessions of a client as it may read them: its own, and no other. Must not know how a log
//! grows.

use serde::Serialize;

use super::{ClientRefusal, Clients};
use crate::domain::{ClientName, SessionId, UnixMillis};
use crate::store::{StoreError, Tx};
use crate::turn::SessionRow;

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
