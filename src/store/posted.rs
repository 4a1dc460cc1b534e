//! Which messages of a chat show which question, so that a later process can change them. Must not know any chat's wire.

use rusqlite::params;

use super::{StoreError, Tx};
use crate::domain::{Address, ApprovalId};

/// A message that shows a question. `state`: open, why (it asks for a word with a denial), answered, closed.
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
        self.posted_rows(
            "SELECT approval, address, message, state FROM posted WHERE state <> 'closed' ORDER BY address, message",
        )
    }

    /// Those whose question is no longer open. A thousand open ones are passed over here, because they are looked through
    /// after every commit.
    pub fn posted_and_closed(&self) -> Result<Vec<PostedRow>, StoreError> {
        self.posted_rows(
            "SELECT posted.approval, posted.address, posted.message, posted.state FROM posted
             JOIN approvals ON approvals.id = posted.approval
             WHERE posted.state <> 'closed' AND approvals.state <> 'waiting' ORDER BY posted.address, posted.message",
        )
    }

    fn posted_rows(&self, sql: &str) -> Result<Vec<PostedRow>, StoreError> {
        let mut query = self.conn.prepare_cached(sql)?;
        let rows = query.query_map([], |row| {
            Ok(PostedRow {
                approval: ApprovalId(row.get(0)?),
                address: Address(row.get(1)?),
                message: row.get(2)?,
                state: row.get(3)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
