//! What was said in a group and not to claw: the newest messages of each place, until claw is
//! spoken to there. Must not know any chat's wire.

use rusqlite::params;

use super::{StoreError, Tx};
use claw_domain::Address;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverheardRow {
    pub address: Address,
    /// When it was written, in seconds since 1970.
    pub at_s: i64,
    /// Who wrote it.
    pub name: String,
    pub text: String,
}

impl Tx<'_> {
    /// Keeps a message, and of its place no more than the newest `keep`.
    pub fn add_overheard(&self, row: &OverheardRow, keep: u32) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO overheard(address, at_s, name, text) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![row.address.0, row.at_s, row.name, row.text])?;
        self.conn
            .prepare_cached(
                "DELETE FROM overheard WHERE address = ?1 AND nr NOT IN
                     (SELECT nr FROM overheard WHERE address = ?1 ORDER BY nr DESC LIMIT ?2)",
            )?
            .execute(params![row.address.0, keep])?;
        Ok(())
    }

    /// What is kept of a place, oldest first.
    pub fn overheard(&self, address: &Address) -> Result<Vec<OverheardRow>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT at_s, name, text FROM overheard WHERE address = ?1 ORDER BY nr",
        )?;
        let row = |row: &rusqlite::Row<'_>| {
            Ok(OverheardRow {
                address: address.clone(),
                at_s: row.get(0)?,
                name: row.get(1)?,
                text: row.get(2)?,
            })
        };
        let rows = query.query_map([&address.0], row)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    pub fn forget_overheard(&self, address: &Address) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("DELETE FROM overheard WHERE address = ?1")?
            .execute([&address.0])?;
        Ok(())
    }

    /// Forgets what was written before `before_s` anywhere.
    pub fn forget_overheard_before(&self, before_s: i64) -> Result<usize, StoreError> {
        Ok(self
            .conn
            .prepare_cached("DELETE FROM overheard WHERE at_s < ?1")?
            .execute([before_s])?)
    }
}
