//! Which messages of a chat show which question, so that a later process can change them. Must not know any chat's wire.

use rusqlite::{OptionalExtension as _, Row, params};

use super::{StoreError, Tx};
use crate::domain::{Address, ApprovalId};

/// A message that shows a question. `state`: open, stale (a newer one shows it), answered, closed; or why (it asks for a word
/// with a denial), why closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostedRow {
    pub approval: ApprovalId,
    pub address: Address,
    pub message: i64,
    pub state: String,
}

impl Tx<'_> {
    pub fn add_posted(&self, posted: &PostedRow) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("INSERT OR REPLACE INTO posted(address, message, approval, state) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![posted.address.0, posted.message, posted.approval.0, posted.state])?;
        Ok(())
    }

    pub fn set_posted(&self, address: &Address, message: i64, state: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("UPDATE posted SET state = ?3 WHERE address = ?1 AND message = ?2")?
            .execute(params![address.0, message, state])?;
        Ok(())
    }

    /// Every message that may still have to change, oldest first.
    pub fn posted(&self) -> Result<Vec<PostedRow>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT approval, address, message, state FROM posted WHERE state <> 'closed' AND state <> 'why closed'
             ORDER BY address, message",
        )?;
        let rows = query.query_map([], read)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// What is on record of one message, also when nothing more will become of it.
    pub fn posted_at(&self, address: &Address, message: i64) -> Result<Option<PostedRow>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT approval, address, message, state FROM posted WHERE address = ?1 AND message = ?2",
        )?;
        Ok(query.query_row(params![address.0, message], read).optional()?)
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<PostedRow> {
    Ok(PostedRow {
        approval: ApprovalId(row.get(0)?),
        address: Address(row.get(1)?),
        message: row.get(2)?,
        state: row.get(3)?,
    })
}
