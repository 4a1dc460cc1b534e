//! What happens in the sessions of a client, from a cursor on. Must not know who waits for it.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;

use super::read::part_of;
use super::{ClientRefusal, Clients};
use crate::domain::{ClientName, SessionId};
use crate::turn::SessionRow;

/// The most sessions that are looked at without being named.
const SESSIONS_MAX: usize = 50;
/// The longest cursor.
const CURSOR_BYTES_MAX: usize = 16 * 1024;

/// Something that has happened in a session of a client.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClientEvent {
    /// What the client calls the session; `None` for its usual one.
    pub session: Option<String>,
    #[serde(flatten)]
    pub row: SessionRow,
}

/// What has happened, and where to go on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EventsPart {
    pub events: Vec<ClientEvent>,
    pub cursor: String,
}

/// How far each session was read. The own name of a session is the key; the usual one has none.
type Read = BTreeMap<String, u64>;

impl Clients {
    /// What has happened behind a cursor in one session, or in the newest ones of this client.
    /// Without a cursor nothing has: the cursor of now is given.
    pub fn events(
        &self,
        client: &ClientName,
        session: Option<&SessionId>,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<EventsPart, ClientRefusal> {
        if session.is_some_and(|session| !client.has(session)) {
            return Err(ClientRefusal::NoSession);
        }
        let mut read = cursor.map(decoded).transpose()?;
        let sessions = match session {
            Some(session) => vec![session.clone()],
            None => self.newest(client)?,
        };
        let mut events = Vec::new();
        let mut now = read.take();
        for session in sessions {
            let own = client.own_name(&session).map(str::to_owned);
            let key = own.clone().unwrap_or_default();
            let last = self.shared.store.read(|tx| tx.last_seq(&session))?;
            let Some(read) = &mut now else {
                now = Some(Read::from([(key, last)]));
                continue;
            };
            if cursor.is_none() {
                read.insert(key, last);
                continue;
            }
            let after = read.get(&key).copied().unwrap_or_default().min(last);
            let room = limit.saturating_sub(events.len());
            if room == 0 {
                read.insert(key, after);
                continue;
            }
            let part = self.shared.store.read(|tx| part_of(tx, &session, after, room))?;
            let row = |row| ClientEvent { session: own.clone(), row };
            events.extend(part.rows.into_iter().map(row));
            read.insert(key, part.next_after.unwrap_or(last));
        }
        let cursor = URL_SAFE_NO_PAD.encode(serde_json::json!(now.unwrap_or_default()).to_string());
        Ok(EventsPart { events, cursor })
    }

    fn newest(&self, client: &ClientName) -> Result<Vec<SessionId>, ClientRefusal> {
        let rows = self.shared.store.read(|tx| tx.sessions_of_client(client))?;
        let names = rows.into_iter().take(SESSIONS_MAX).map(|row| row.name);
        Ok(names.filter_map(|name| SessionId::new(name).ok()).collect())
    }
}

fn decoded(cursor: &str) -> Result<Read, ClientRefusal> {
    let odd = || {
        let text = "the cursor is none that claw has given; leave it out to begin from now on";
        ClientRefusal::Odd(text.to_owned())
    };
    if cursor.len() > CURSOR_BYTES_MAX {
        return Err(odd());
    }
    let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| odd())?;
    serde_json::from_slice(&bytes).map_err(|_| odd())
}
