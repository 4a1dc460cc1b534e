//! Brings a database to the newest schema. Owns `PRAGMA user_version`; must not know what a
//! migration changes.

use std::path::PathBuf;
use std::time::Duration;

use rusqlite::{Connection, Transaction};

use super::schema::{FIRST, SCHEMA};
use super::{Migrated, StoreError};

/// How long another process may take to copy a database and to migrate it.
const MIGRATION_WAIT: Duration = Duration::from_secs(600);

/// The version that `migrations` lead to.
pub(super) fn newest(migrations: &[&str]) -> u32 {
    FIRST + migrations.len() as u32
}

/// Refuses a database that these migrations do not start from or lead to. Changes nothing.
///
/// # Errors
/// It is of a newer claw, or of one from before the first release.
pub(super) fn look(conn: &Connection, migrations: &[&str]) -> Result<(), StoreError> {
    refuse_unknown(version(conn)?, newest(migrations))
}

fn refuse_unknown(found: u32, known: u32) -> Result<(), StoreError> {
    if found > known {
        return Err(StoreError::Newer { found, known });
    }
    if found < FIRST {
        return Err(StoreError::Unreleased { found });
    }
    Ok(())
}

/// Brings a database to the newest version. One with something in it is given to `copy` first, with
/// the version that it has and the one that it gets; if that fails nothing is changed.
///
/// # Errors
/// Those of `look`, of `copy` and of the migrations. The database is as it was.
pub(super) fn migrate(
    conn: &mut Connection,
    migrations: &[&str],
    copy: impl FnOnce(u32, u32) -> Result<PathBuf, StoreError>,
) -> Result<Option<Migrated>, StoreError> {
    let known = newest(migrations);
    if version(conn)? == known {
        return Ok(None);
    }
    // Another process may be migrating at this moment, and copying what there is: it is waited for,
    // and the version is read again inside the write transaction.
    conn.busy_timeout(MIGRATION_WAIT)?;
    let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let from = version(&tx)?;
    refuse_unknown(from, known)?;
    if from == known {
        return Ok(None);
    }
    let migrated = Migrated { from, to: known, copy: copy(from, known)? };
    let applied = apply(&tx, migrations, from);
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

/// The migrations that lead on from version `from`.
fn apply(conn: &Connection, migrations: &[&str], from: u32) -> Result<(), StoreError> {
    for migration in migrations.iter().skip(from.saturating_sub(FIRST) as usize) {
        conn.execute_batch(migration)?;
    }
    Ok(conn.pragma_update(None, "user_version", newest(migrations))?)
}

fn version(conn: &Connection) -> Result<u32, StoreError> {
    Ok(conn.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

/// Writes a new store into an empty file that nobody else knows of yet. Whoever publishes the file
/// syncs it.
pub(super) fn build_new(path: &std::path::Path, migrations: &[&str]) -> Result<(), StoreError> {
    let mut conn = Connection::open(path)?;
    conn.pragma_update(None, "journal_mode", "MEMORY")?;
    conn.pragma_update(None, "synchronous", "OFF")?;
    let tx = conn.transaction()?;
    tx.execute_batch(SCHEMA)?;
    apply(&tx, migrations, FIRST)?;
    Ok(tx.commit()?)
}

#[cfg(test)]
mod tests;
