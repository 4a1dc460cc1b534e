//! Closed rows of the queues: what was taken in, delivered or answered, and by now says nothing
//! that the logs do not say. Owns which of them may go.

use rusqlite::params;

use super::{StoreError, Tx};
use claw_domain::UnixMillis;

/// Rows are about in the order of time, so a look ends at the first young one and reads what is old
/// alone. What still waits, and what could still be compared with a row that waits in its session,
/// stays.
const CLOSED: [&str; 3] = [
    "DELETE FROM inbox WHERE id IN (
         SELECT id FROM inbox WHERE state = 'absorbed' AND at_ms < ?1
         AND id < coalesce((SELECT id FROM inbox WHERE at_ms >= ?1 ORDER BY id LIMIT 1), 9223372036854775807)
         ORDER BY id LIMIT ?2)",
    "DELETE FROM outbox WHERE id IN (
         SELECT id FROM outbox WHERE state = 'sent' AND at_ms < ?1
         AND id < coalesce((SELECT id FROM outbox WHERE at_ms >= ?1 ORDER BY id LIMIT 1), 9223372036854775807)
         AND session NOT IN (SELECT session FROM outbox WHERE state IN ('queued', 'sending'))
         ORDER BY id LIMIT ?2)",
    "DELETE FROM posted WHERE (address, message) IN (
         SELECT address, message FROM posted WHERE state IN ('closed', 'why closed')
         AND coalesce((SELECT decided_ms < ?1 AND state <> 'waiting' FROM approvals WHERE id = approval), 1)
         LIMIT ?2)",
];

impl Tx<'_> {
    /// Removes closed rows from before `before_ms`, at most `rows` of each queue. Gives back how
    /// many went.
    pub fn forget_delivered(&self, before_ms: UnixMillis, rows: u32) -> Result<usize, StoreError> {
        let mut gone = 0;
        for sql in CLOSED {
            gone += self.conn.prepare_cached(sql)?.execute(params![before_ms, rows])?;
        }
        Ok(gone)
    }
}
