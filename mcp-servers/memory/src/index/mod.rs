//! The index: SQLite with FTS5, made of the files alone. Owns opening it, and throwing it away when
//! it is of another version or damaged. Must not know tools, or how a hit is chosen.

pub mod entry;
pub mod equal;
mod rows;
mod schema;
pub mod sync;
pub mod words;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode};

pub use entry::Entry;
pub use rows::{entry_at, entry_of_row, row_at};

const FILE: &str = "index.db";

/// How long SQLite waits for another process in the middle of a commit.
const BUSY_TIME: Duration = Duration::from_secs(10);

/// Pages that are kept in memory, in KiB.
const CACHE_KIB: i64 = 512;

pub struct Index {
    pub db: Connection,
    /// Its file.
    pub path: PathBuf,
    /// Why there is a new one, if the one that was there could not be used.
    pub made_anew: Option<String>,
}

impl Index {
    /// Opens the index in the folder `state`, or makes an empty one.
    ///
    /// # Errors
    /// A new one cannot be made either.
    pub fn open(state: &Path) -> rusqlite::Result<Self> {
        let path = state.join(FILE);
        let existed = path.exists();
        let why = match open_at(&path) {
            Ok(db) => return Ok(Self { db, path, made_anew: None }),
            Err(error) if is_unusable(&error) => error.to_string(),
            Err(error) => return Err(error),
        };
        for ending in ["", "-wal", "-shm"] {
            // What was not there is not missed, and what stays makes the next line fail.
            let _ = std::fs::remove_file(state.join(format!("{FILE}{ending}")));
        }
        Ok(Self { db: open_at(&path)?, path, made_anew: existed.then_some(why) })
    }
}

fn open_at(path: &Path) -> rusqlite::Result<Connection> {
    let db = Connection::open(path)?;
    db.busy_timeout(BUSY_TIME)?;
    db.pragma_update(None, "journal_mode", "wal")?;
    // A power loss may cost the newest rows, which are made of the files again.
    db.pragma_update(None, "synchronous", "normal")?;
    prepared(db)
}

fn prepared(db: Connection) -> rusqlite::Result<Connection> {
    // Without it a cached statement is parsed again at each new value.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    db.pragma_update(None, "cache_size", -CACHE_KIB)?;
    db.pragma_update(None, "temp_store", "memory")?;
    db.set_prepared_statement_cache_capacity(48);
    let version: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    match version {
        schema::VERSION => {}
        0 => {
            db.execute_batch(&format!(
                "BEGIN IMMEDIATE; {} PRAGMA user_version = {}; COMMIT;",
                schema::SCHEMA,
                schema::VERSION
            ))?;
        }
        _ => return Err(rusqlite::Error::InvalidQuery),
    }
    Ok(db)
}

/// Of another version, or damaged.
pub fn is_unusable(error: &rusqlite::Error) -> bool {
    matches!(error, rusqlite::Error::InvalidQuery)
        || matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
        )
}
