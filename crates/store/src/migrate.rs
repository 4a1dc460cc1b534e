//! Brings a database to the newest schema. Owns `PRAGMA user_version`; must not know what a
//! migration changes.

use std::path::PathBuf;
use std::time::Duration;

use rusqlite::{Connection, Transaction};

use super::schema::MIGRATIONS;
use super::{Migrated, StoreError};

/// How long another process may take to copy a database and to migrate it.
const MIGRATION_WAIT: Duration = Duration::from_secs(600);

/// Brings a database to the newest version. A database from a newer claw is refused, untouched. One
/// with something in it is given to `copy` first, with the version that it has and the one that it
/// gets; if that fails nothing is changed.
pub(super) fn migrate(
    conn: &mut Connection,
    copy: impl FnOnce(u32, u32) -> Result<PathBuf, StoreError>,
) -> Result<Option<Migrated>, StoreError> {
    let known = MIGRATIONS.len() as u32;
    if version(conn)? == known {
        return Ok(None);
    }
    // Another process may be migrating at this moment, and copying what there is: it is waited for,
    // and the version is read again inside the write transaction.
    conn.busy_timeout(MIGRATION_WAIT)?;
    let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let from = version(&tx)?;
    if from > known {
        return Err(StoreError::Newer { found: from, known });
    }
    if from == known {
        return Ok(None);
    }
    let migrated = Migrated { from, to: known, copy: copy(from, known)? };
    let applied = apply(&tx, from, known);
    finish(tx, applied, &migrated)?;
    Ok(Some(migrated))
}

fn finish(
    tx: Transaction<'_>,
    applied: Result<(), StoreError>,
    migrated: &Migrated,
) -> Result<(), StoreError> {
    if let Err(error) = applied {
        tx.rollback()?;
        // Nothing was changed, so there is nothing to go back to.
        let _ = std::fs::remove_file(&migrated.copy);
        return Err(error);
    }
    // Where this fails it is not known what is on the disk, so that the copy stays.
    Ok(tx.commit()?)
}

fn apply(conn: &Connection, from: u32, to: u32) -> Result<(), StoreError> {
    for migration in MIGRATIONS.iter().take(to as usize).skip(from as usize) {
        conn.execute_batch(migration)?;
    }
    Ok(conn.pragma_update(None, "user_version", to)?)
}

fn version(conn: &Connection) -> Result<u32, StoreError> {
    Ok(conn.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

/// Writes a new store into an empty file that nobody else knows of yet. Whoever publishes the file
/// syncs it.
pub(super) fn build_new(path: &std::path::Path) -> Result<(), StoreError> {
    let mut conn = Connection::open(path)?;
    conn.pragma_update(None, "journal_mode", "MEMORY")?;
    conn.pragma_update(None, "synchronous", "OFF")?;
    let tx = conn.transaction()?;
    apply(&tx, 0, MIGRATIONS.len() as u32)?;
    Ok(tx.commit()?)
}

/// The newest version.
#[cfg(test)]
pub(super) fn known() -> u32 {
    MIGRATIONS.len() as u32
}

/// A new database as an older claw would have made it.
#[cfg(test)]
pub(super) fn build(path: &std::path::Path, version: u32) -> Connection {
    drop(Connection::open(path).unwrap());
    let conn = super::connect(path).unwrap();
    apply(&conn, 0, version).unwrap();
    conn
}

#[cfg(test)]
mod tests;
