//! Whether a file is a store of claw, whole enough to be written to; and how a new one comes to be.
//! Looks before anything is changed. Must not know what the rows mean.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::{BUSY_TIMEOUT_MS, StoreError, mark, migrate};
use claw_kit::durable::Part;

/// `claw` in ASCII, as `PRAGMA application_id` has it.
const APPLICATION_ID: i32 = 0x636c_6177;
/// What every store has had since the first claw, which wrote no id. Such a store is refused by its
/// version, with a better sentence than a foreign file gets.
const TABLES: [&str; 5] = ["audit", "events", "inbox", "meta", "outbox"];
/// How many names of another program's tables are told.
const TABLES_TOLD: usize = 3;

/// Makes a store where there is none, whole under a passing name first: an empty file is never a
/// step on the way. Of two processes that do this at the same moment, both get the one that was
/// there first.
///
/// # Errors
/// The folder cannot be written to, or a write-ahead log is there without its database.
pub(super) fn create_if_missing(path: &Path, migrations: &[&str]) -> Result<(), StoreError> {
    let is_there = || path.symlink_metadata().is_ok();
    if is_there() {
        return Ok(());
    }
    // Another process may have made both since the first look.
    if log_bytes(path) > 0 && !is_there() {
        return Err(StoreError::OnlyLog { path: path.display().to_string() });
    }
    let cannot = |source| StoreError::Create { path: path.display().to_string(), source };
    let part = Part::beside(path).map_err(cannot)?;
    migrate::build_new(part.path(), migrations)?;
    // What was noted of an earlier store here is not true of this one.
    mark::forget(path);
    match part.publish(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        published => published.map_err(cannot),
    }
}

/// Opens a store. Refuses what is no store of claw, and one that has lost its newest rows, and
/// changes nothing of it but for SQLite's own repair: who was killed while it changed the file left
/// a journal, which is rolled back.
///
/// # Errors
/// A sentence that names the file and the next step.
pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    let shown = || path.display().to_string();
    // SQLite alone may open the file: closing any other handle would drop the locks that this
    // process has on it.
    let bytes =
        path.metadata().map_err(|source| StoreError::Create { path: shown(), source })?.len();
    if bytes == 0 {
        return Err(StoreError::Empty { path: shown() });
    }
    // Before it is opened, because that makes an empty one.
    let without_log = log_bytes(path) == 0;
    match connect(path).and_then(|conn| Ok((look(path, &conn, without_log)?, conn))) {
        Ok((Found::Ours, conn)) => Ok(conn),
        Ok((Found::Foreign(what), _)) => Err(StoreError::Foreign { path: shown(), what }),
        Ok((Found::Behind(what), _)) => Err(StoreError::LogGone { path: shown(), what }),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            let what = "it is not an SQLite database, or its beginning is damaged".to_owned();
            Err(StoreError::Foreign { path: shown(), what })
        }
        Err(source) => Err(StoreError::Open { path: shown(), source }),
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let access = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, access)?;
    // Closing a database that is refused must not move its log into it.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    conn.busy_timeout(Duration::from_millis(BUSY_TIMEOUT_MS))?;
    Ok(conn)
}

/// What a database is.
enum Found {
    Ours,
    /// With what shows it.
    Foreign(String),
    /// It was further once, with what shows it.
    Behind(String),
}

fn look(path: &Path, conn: &Connection, without_log: bool) -> rusqlite::Result<Found> {
    match conn.pragma_query_value(None, "application_id", |row| row.get(0))? {
        APPLICATION_ID => {}
        0 => {
            if let Some(what) = without_id(conn)? {
                return Ok(Found::Foreign(what));
            }
        }
        id => {
            return Ok(Found::Foreign(format!(
                "another program has marked it with the application id 0x{id:08x}"
            )));
        }
    }
    if !without_log {
        return Ok(Found::Ours);
    }
    Ok(mark::missing(path, conn)?.map_or(Found::Ours, Found::Behind))
}

/// Why a database without an id is none of an early claw, if it is none.
fn without_id(conn: &Connection) -> rusqlite::Result<Option<String>> {
    let mut query =
        conn.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")?;
    let tables: Vec<String> = query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    if TABLES.iter().all(|ours| tables.iter().any(|table| table == ours)) {
        return Ok(None);
    }
    Ok(Some(match tables.get(..TABLES_TOLD.min(tables.len())).unwrap_or_default() {
        [] => "it has no tables; what was in it may have been in a write-ahead log that is gone"
            .to_owned(),
        first => format!("it has other tables, such as {}", first.join(", ")),
    }))
}

/// How long the write-ahead log of a database is; 0 if there is none.
fn log_bytes(path: &Path) -> u64 {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    PathBuf::from(log).metadata().map_or(0, |log| log.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As of a process that was killed while it changed the file, for example from a rollback
    /// journal to a write-ahead log.
    #[test]
    fn a_store_with_a_journal_to_roll_back_is_ours() {
        let dir = tempfile::tempdir().unwrap();
        let (path, killed) = (dir.path().join("claw.db"), dir.path().join("killed.db"));
        create_if_missing(&path, &[]).unwrap();
        let conn = Connection::open(&path).unwrap();
        conn.execute_batch("PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; BEGIN IMMEDIATE")
            .unwrap();
        // More than the cache takes goes into the file before the end, and the journal has what was
        // there.
        let fill = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
                    INSERT INTO meta(key, value) SELECT 'k' || i, hex(randomblob(2000)) FROM n";
        conn.execute_batch(fill).unwrap();
        std::fs::copy(&path, &killed).unwrap();
        std::fs::copy(dir.path().join("claw.db-journal"), dir.path().join("killed.db-journal"))
            .unwrap();
        drop(open(&killed).unwrap());
        assert!(!dir.path().join("killed.db-journal").exists(), "it was rolled back");
        let filled = "SELECT count(*) FROM meta WHERE key LIKE 'k%'";
        let left: i64 =
            Connection::open(&killed).unwrap().query_row(filled, [], |row| row.get(0)).unwrap();
        assert_eq!(left, 0);
    }

    #[test]
    fn a_database_that_is_refused_keeps_its_log_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str| dir.path().join(name);
        let conn = Connection::open(file("other.db")).unwrap();
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
        conn.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE songs(name TEXT)").unwrap();
        drop(conn);
        let bytes = || ["other.db", "other.db-wal"].map(|name| std::fs::read(file(name)).unwrap());
        let before = bytes();
        assert!(!before[1].is_empty());
        let refused = open(&file("other.db")).unwrap_err();
        assert!(matches!(&refused, StoreError::Foreign { what, .. } if what.contains("songs")));
        assert_eq!(bytes(), before);
    }
}
