//! The file of the jobs: SQLite in WAL mode, for several processes. Owns opening it; must not know
//! what a job means.

pub mod firings;
pub mod history;
pub mod jobs;
mod schema;

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::types::Type;
use rusqlite::{Connection, Row};
use serde::de::DeserializeOwned;

/// How long SQLite waits for another process in the middle of a commit.
const BUSY_TIME: Duration = Duration::from_secs(10);

/// Pages that are kept in memory, in KiB.
const CACHE_KIB: i64 = 512;

/// Why the file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error("its folder cannot be made: {0}")]
    Folder(#[from] std::io::Error),
    #[error("it is of version {0}, which a newer claw has written")]
    Newer(i64),
}

/// Opens the file, or makes it.
///
/// # Errors
/// It is no such file, or of a newer version, or cannot be written.
pub fn open(path: &Path) -> Result<Connection, FileError> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        make_private(folder)?;
    }
    let mut db = Connection::open(path)?;
    db.busy_timeout(BUSY_TIME)?;
    db.pragma_update(None, "journal_mode", "wal")?;
    // What was answered is on the disk, also after a power loss.
    db.pragma_update(None, "synchronous", "full")?;
    // Without it a cached statement is parsed again at each new value.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    db.pragma_update(None, "cache_size", -CACHE_KIB)?;
    db.pragma_update(None, "temp_store", "memory")?;
    let version = version_of(&db)?;
    if version > schema::VERSION {
        return Err(FileError::Newer(version));
    }
    if version < schema::VERSION {
        let tx = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        // Another process may have been quicker.
        if version_of(&tx)? == 0 {
            tx.execute_batch(schema::SCHEMA)?;
            tx.pragma_update(None, "user_version", schema::VERSION)?;
        }
        tx.commit()?;
    }
    Ok(db)
}

/// Makes a folder that is missing, for its owner alone.
fn make_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn version_of(db: &Connection) -> rusqlite::Result<i64> {
    db.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// A column that holds JSON.
fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
    })
}
