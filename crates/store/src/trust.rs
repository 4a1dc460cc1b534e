//! What an owner lets each server of others do, and when each was seen first. Must not know what a
//! server says, or how an owner is asked about it.

use rusqlite::{OptionalExtension as _, params};

use super::{StoreError, Tx, now_ms};
use claw_domain::{Trust, UnixMillis};

/// What an owner has said about a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustRow {
    /// How it was started when that was said, or when it was seen first.
    pub launch: String,
    /// `None` until an owner has said anything.
    pub level: Option<Trust>,
    pub decided_by: String,
    pub decided_ms: UnixMillis,
    pub first_seen_ms: UnixMillis,
}

/// A level that this claw does not know is none.
fn level(text: Option<String>) -> Option<Trust> {
    text.and_then(|text| Trust::parse(&text))
}

impl Tx<'_> {
    pub fn trust(&self, server: &str) -> Result<Option<TrustRow>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT launch, level, decided_by, decided_ms, first_seen_ms FROM trust WHERE server = ?1",
        )?;
        let row = query.query_row([server], |row| {
            Ok(TrustRow {
                launch: row.get(0)?,
                level: level(row.get(1)?),
                decided_by: row.get(2)?,
                decided_ms: row.get(3)?,
                first_seen_ms: row.get(4)?,
            })
        });
        Ok(row.optional()?)
    }

    /// Notes that a server was seen, if it was not before.
    pub fn first_seen(&self, server: &str, launch: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO trust(server, launch, first_seen_ms) VALUES (?1, ?2, ?3)
                 ON CONFLICT(server) DO NOTHING",
            )?
            .execute(params![server, launch, now_ms()])?;
        Ok(())
    }

    /// Writes what an owner says about a server, as it is started by this launch form.
    pub fn set_trust(
        &self,
        server: &str,
        launch: &str,
        level: Trust,
        by: &str,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO trust(server, launch, level, decided_by, decided_ms, first_seen_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?5)
                 ON CONFLICT(server) DO UPDATE SET launch = ?2, level = ?3, decided_by = ?4, decided_ms = ?5",
            )?
            .execute(params![server, launch, level.as_str(), by, now_ms()])?;
        // What is offered has changed, for every process.
        self.pins_changed()
    }
}
