//! Single values: the stop switch and the head of the audit chain.

use rusqlite::OptionalExtension as _;

use super::{StoreError, Tx};

const PANIC: &str = "panic";

impl Tx<'_> {
    pub(super) fn meta(&self, key: &str) -> Result<Option<String>, StoreError> {
        let mut query = self.conn.prepare_cached("SELECT value FROM meta WHERE key = ?1")?;
        Ok(query.query_row([key], |row| row.get(0)).optional()?)
    }

    pub(super) fn set_meta(&self, key: &str, value: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("INSERT INTO meta(key, value) VALUES (?1, ?2) ON CONFLICT(key) DO UPDATE SET value = ?2")?
            .execute([key, value])?;
        Ok(())
    }

    /// Who pulled the stop switch, if it is on. While it is on, no call may start.
    pub fn panic(&self) -> Result<Option<String>, StoreError> {
        Ok(self.meta(PANIC)?.filter(|by| !by.is_empty()))
    }

    /// `Some(by)` turns the stop switch on, `None` off. It survives a restart.
    pub fn set_panic(&self, by: Option<&str>) -> Result<(), StoreError> {
        self.set_meta(PANIC, by.unwrap_or_default())
    }
}

impl Tx<'_> {
    /// What SQLite's own quick check finds wrong, if anything.
    pub fn quick_check(&self) -> Result<Option<String>, StoreError> {
        let found: String = self.conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        Ok((found != "ok").then_some(found))
    }
}
