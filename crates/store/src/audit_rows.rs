//! The rows of the audit as they are read: all, those of one call, and the lines of a list. Must
//! not know the chain that binds them.

use rusqlite::{OptionalExtension as _, params};
use serde::Serialize;
use serde_json::Value;

use super::damaged::{json_at, text_at};
use super::{RowAt, StoreError, Tx};
use claw_domain::{CallId, UnixMillis};

#[derive(Clone, Debug, Serialize)]
pub struct AuditRow {
    pub id: i64,
    pub at_ms: UnixMillis,
    pub kind: String,
    pub call: String,
    pub body: Value,
    pub hash: String,
}

impl Tx<'_> {
    /// Rows after `after`, oldest first, at most `limit`.
    pub fn audit_after(&self, after: i64, limit: u32) -> Result<Vec<AuditRow>, StoreError> {
        self.audit_rows("WHERE id > ?1 ORDER BY id LIMIT ?2", params![after, limit])
    }

    /// The row with which the newest `count` lines of a list begin, if there are more: a line for
    /// each call, and for each row that is of no call. Tools that are pinned one behind the other,
    /// as at a first start, are one line.
    pub fn audit_begins(&self, count: u32) -> Result<Option<i64>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT id FROM audit AS line WHERE call NOT GLOB '*:git' AND NOT EXISTS
                 (SELECT 1 FROM audit AS older WHERE older.call = line.call AND older.call <> '' AND older.id < line.id)
             AND NOT (kind = 'pinned' AND EXISTS
                 (SELECT 1 FROM audit AS before WHERE before.id = line.id - 1 AND before.kind = 'pinned'))
             ORDER BY id DESC LIMIT 1 OFFSET ?1",
        )?;
        Ok(query.query_row([count.saturating_sub(1)], |row| row.get(0)).optional()?)
    }

    /// The next `count` lines of a list, from the row `from` on: of each the rows up to `through`,
    /// oldest first. The lines behind them begin after the first row of the last one.
    pub fn audit_lines(
        &self,
        from: i64,
        through: i64,
        count: u32,
    ) -> Result<Vec<Vec<AuditRow>>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT id, call, kind = 'pinned' FROM audit AS line WHERE id >= ?1 AND id <= ?2 AND call NOT GLOB '*:git' AND NOT EXISTS
                 (SELECT 1 FROM audit AS older WHERE older.call = line.call AND older.call <> '' AND older.id < line.id)
             AND NOT (kind = 'pinned' AND EXISTS
                 (SELECT 1 FROM audit AS before WHERE before.id = line.id - 1 AND before.kind = 'pinned'))
             ORDER BY id LIMIT ?3",
        )?;
        let mut lines = query.query(params![from, through, count])?;
        let mut found = Vec::new();
        while let Some(line) = lines.next()? {
            let id: i64 = line.get(0)?;
            let call = text_at(line, 1, || RowAt::Audit(id))?;
            found.push(if line.get(2)? {
                let which =
                    "WHERE id >= ?1 AND id < coalesce((SELECT min(id) FROM audit WHERE id > ?1
                     AND kind <> 'pinned'), ?2 + 1) AND id <= ?2 ORDER BY id";
                self.audit_rows(which, params![id, through])?
            } else if call.is_empty() {
                self.audit_rows("WHERE id = ?1", params![id])?
            } else {
                let which = "WHERE call = ?1 AND call <> '' AND id <= ?2 ORDER BY id";
                self.audit_rows(which, params![call, through])?
            });
        }
        Ok(found)
    }

    /// All rows of one call, oldest first, also those from when its id was written otherwise.
    pub fn audit_of(&self, call: &CallId) -> Result<Vec<AuditRow>, StoreError> {
        let (today, earlier) = (call.to_string(), call.earlier_text());
        let which = "WHERE call IN (?1, coalesce(?2, ?1)) AND call <> '' ORDER BY id";
        self.audit_rows(which, params![today, earlier])
    }

    /// The number of the row before the newest `limit` ones, to read on from. Numbers have no gaps.
    pub fn audit_before_newest(&self, limit: u32) -> Result<i64, StoreError> {
        Ok((self.audit_head()?.0 - i64::from(limit)).max(self.audit_cut()?.0))
    }

    fn audit_rows(
        &self,
        which: &str,
        given: &[&dyn rusqlite::ToSql],
    ) -> Result<Vec<AuditRow>, StoreError> {
        let mut query = self.conn.prepare_cached(&format!(
            "SELECT id, at_ms, kind, call, body, hash FROM audit {which}"
        ))?;
        let mut rows = query.query(given)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let id = row.get(0)?;
            let at = || RowAt::Audit(id);
            found.push(AuditRow {
                id,
                at_ms: row.get(1)?,
                kind: text_at(row, 2, at)?,
                call: text_at(row, 3, at)?,
                body: json_at(row, 4, at)?,
                hash: text_at(row, 5, at)?,
            });
        }
        Ok(found)
    }
}
