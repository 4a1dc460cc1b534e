//! The daily digests that were told: once a day, whatever the clock does, and the lines of each as
//! they were. Must not know what a line says, or who is told.

use rusqlite::{OptionalExtension as _, params};

use super::{StoreError, Tx, boot};
use claw_domain::UnixMillis;

/// So many digests keep their lines.
const KEPT_MAX: i64 = 100;

/// The digest of a day that was told last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastDailyDigest {
    /// As year, month and day, where the owner lives.
    pub day: String,
    /// What ran up to then was told.
    pub until_ms: UnixMillis,
    /// How long the system has been up since; `None` if it was started anew, or nobody can say.
    pub up_since_ms: Option<i64>,
}

impl Tx<'_> {
    pub fn last_daily_digest(&self) -> Result<Option<LastDailyDigest>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT day, until_ms, boot, up_ms FROM daily_digests WHERE day IS NOT NULL
             ORDER BY nr DESC LIMIT 1",
        )?;
        let up = boot::uptime();
        let found = query.query_row([], |row| {
            let (boot, up_ms): (String, i64) = (row.get(2)?, row.get(3)?);
            Ok(LastDailyDigest {
                day: row.get(0)?,
                until_ms: row.get(1)?,
                up_since_ms: (!boot.is_empty() && boot == up.boot).then(|| up.ms - up_ms),
            })
        });
        Ok(found.optional()?)
    }

    /// Keeps the lines of a digest, and gives it a number. `None`: this day has one.
    pub fn add_daily_digest(
        &self,
        day: Option<&str>,
        until_ms: UnixMillis,
        body: &str,
    ) -> Result<Option<i64>, StoreError> {
        let up = boot::uptime();
        let added = self
            .conn
            .prepare_cached(
                "INSERT INTO daily_digests(day, until_ms, boot, up_ms, body) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT DO NOTHING",
            )?
            .execute(params![day, until_ms, up.boot, up.ms, body])?;
        if added == 0 {
            return Ok(None);
        }
        let nr = self.conn.last_insert_rowid();
        self.conn
            // Never the one that says which day was told last.
            .prepare_cached(
                "DELETE FROM daily_digests WHERE nr <= ?1
                 AND nr <> (SELECT coalesce(max(nr), 0) FROM daily_digests WHERE day IS NOT NULL)",
            )?
            .execute([nr - KEPT_MAX])?;
        Ok(Some(nr))
    }

    /// The lines of a digest, as long as they are kept.
    pub fn daily_digest(&self, nr: i64) -> Result<Option<String>, StoreError> {
        let mut query = self.conn.prepare_cached("SELECT body FROM daily_digests WHERE nr = ?1")?;
        Ok(query.query_row([nr], |row| row.get(0)).optional()?)
    }
}
