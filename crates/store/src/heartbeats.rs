//! What is known of each heartbeat from one time to the next: how far its times are seen to, what
//! it has used today, what its check gave. Must not know when a heartbeat fires.

use serde::{Deserialize, Serialize};

use super::{StoreError, Tx};
use claw_domain::UnixMillis;

/// Before the name of a heartbeat.
pub(super) const HEARTBEAT: &str = "heartbeat.";

/// One heartbeat.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HeartbeatState {
    /// Of its entry. All below but the day's use is of this revision.
    pub revision: i64,
    /// Its times are seen to up to this one, in milliseconds.
    pub seen_ms: UnixMillis,
    /// The day that is counted, as year, month and day.
    pub day: String,
    /// Replies of models on that day.
    pub requests: u64,
    /// Tokens on that day, in and out.
    pub tokens: u64,
    /// The owner was told that it has stopped, up to this time.
    pub stopped_until_ms: UnixMillis,
    /// Of what its check gave last; `None` before the first.
    pub check_digest: Option<String>,
    /// What the owner was told to be wrong with it, until that is over.
    pub fault: Option<String>,
    /// The same of the end of a turn.
    pub turn_fault: Option<String>,
}

impl HeartbeatState {
    /// What was used on a day: requests, tokens.
    pub fn used_on(&self, day: &str) -> (u64, u64) {
        if self.day == day { (self.requests, self.tokens) } else { (0, 0) }
    }

    /// Counts a reply of a model.
    pub fn add_request(&mut self, day: &str, tokens: u64) {
        let (requests, before) = self.used_on(day);
        day.clone_into(&mut self.day);
        (self.requests, self.tokens) = (requests + 1, before.saturating_add(tokens));
    }
}

impl Tx<'_> {
    /// What is known of a heartbeat. What cannot be read counts as nothing known.
    pub fn heartbeat(&self, name: &str) -> Result<HeartbeatState, StoreError> {
        Ok(self
            .meta(&format!("{HEARTBEAT}{name}"))?
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default())
    }

    pub fn set_heartbeat(&self, name: &str, state: &HeartbeatState) -> Result<(), StoreError> {
        let text = serde_json::json!(state).to_string();
        self.set_meta(&format!("{HEARTBEAT}{name}"), &text)
    }

    /// All heartbeats that have ever been seen, by name.
    pub fn heartbeats(&self) -> Result<Vec<(String, HeartbeatState)>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT key, value FROM meta WHERE key >= ?1 AND key < ?2 ORDER BY key",
        )?;
        // The character behind the dot.
        let rows = query.query_map([HEARTBEAT, "heartbeat/"], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
        })?;
        let mut found = Vec::new();
        for row in rows {
            let (key, text) = row?;
            let name = key.strip_prefix(HEARTBEAT).unwrap_or(&key).to_owned();
            found.push((name, serde_json::from_str(&text).unwrap_or_default()));
        }
        Ok(found)
    }
}
