//! How far the store had come, in a file beside it: the only evidence when its write-ahead log is
//! lost. Owns that file. Must not know who asks.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

/// Digits of a number in the file: all lines are of one length, so that one write replaces the
/// other whole.
const DIGITS: usize = 20;
/// The numbers that only ever grow, each by a commit that is synced: a name for people, and how it
/// is read.
const COUNTED: [(&str, &str); 3] = [
    (
        "row {} of the inbox",
        "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'inbox'",
    ),
    (
        "row {} of the outbox",
        "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'outbox'",
    ),
    (
        "row {} of the audit",
        // A head that cannot be read is no row that is lost.
        "SELECT max(coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'audit.head'), 0),
            coalesce((SELECT max(id) FROM audit), 0))",
    ),
];
/// No more is taken for a count.
const NUMBER_MAX: i64 = super::damaged::ROW_NUMBER_MAX;

fn file_of(db: &Path) -> PathBuf {
    let mut name = db.as_os_str().to_owned();
    name.push("-mark");
    PathBuf::from(name)
}

fn counts(conn: &Connection) -> rusqlite::Result<[i64; COUNTED.len()]> {
    let mut found = [0; COUNTED.len()];
    for (number, (_, sql)) in found.iter_mut().zip(COUNTED) {
        *number = conn.query_row(sql, [], |row| row.get(0))?;
    }
    Ok(found)
}

/// Notes how far the store is. Not synced: a kill keeps it, and after a power loss an older note,
/// or none, proves less and nothing wrong.
///
/// # Errors
/// The store cannot be read, or the file cannot be written.
pub(super) fn note(conn: &Connection) -> io::Result<()> {
    let Some(db) = conn.path() else { return Ok(()) };
    let counted = counts(conn).map_err(io::Error::other)?;
    // A number that nobody counted to is damage, and goes when that is repaired.
    let line: Vec<String> = counted
        .map(|number| format!("{:0DIGITS$}", if number > NUMBER_MAX { 0 } else { number.max(0) }))
        .to_vec();
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(file_of(Path::new(db)))?;
    file.write_all((line.join(" ") + "\n").as_bytes())
}

/// What was noted and is not there, if a database that should have a write-ahead log says less than
/// was noted.
pub(super) fn missing(db: &Path, conn: &Connection) -> rusqlite::Result<Option<String>> {
    let Some(noted) = read(&file_of(db)) else { return Ok(None) };
    let mode: String = conn.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    // A copy that somebody has put here has no log, and misses none.
    if !mode.eq_ignore_ascii_case("wal") {
        return Ok(None);
    }
    let there = counts(conn)?;
    let behind =
        COUNTED.iter().zip(noted.iter().zip(there)).find(|(_, (noted, there))| **noted > *there);
    Ok(behind.map(|((name, _), (noted, there))| {
        let noted = name.replace("{}", &noted.to_string());
        format!("{noted} had been written, and it ends with {there}")
    }))
}

/// Before another store takes the place of the one that was noted.
pub(super) fn forget(db: &Path) {
    let _not_there = fs::remove_file(file_of(db));
}

/// Nothing where there is no file, or one that is torn.
fn read(file: &Path) -> Option<Vec<i64>> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.strip_suffix('\n')?;
    let numbers: Vec<i64> =
        line.split(' ').map(|digits| digits.parse().ok()).collect::<Option<_>>()?;
    (numbers.len() == COUNTED.len() && line.len() == COUNTED.len() * (DIGITS + 1) - 1)
        .then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;

    #[test]
    fn what_is_torn_proves_nothing_and_an_impossible_number_is_not_noted() {
        let dir = tempfile::tempdir().unwrap();
        let db = dir.path().join("claw.db");
        drop(Store::open(&db).unwrap());
        let conn = Connection::open(&db).unwrap();
        conn.pragma_update(None, "journal_mode", "WAL").unwrap();
        let insert =
            format!("INSERT INTO sqlite_sequence VALUES ('inbox', 7), ('outbox', {})", i64::MAX);
        conn.execute_batch(&insert).unwrap();
        note(&conn).unwrap();
        assert_eq!(read(&file_of(&db)), Some(vec![7, 0, 0]));
        assert_eq!(missing(&db, &conn).unwrap(), None);
        conn.execute_batch("UPDATE sqlite_sequence SET seq = 6 WHERE name = 'inbox'").unwrap();
        let said = missing(&db, &conn).unwrap().unwrap();
        assert_eq!(said, "row 7 of the inbox had been written, and it ends with 6");
        for torn in ["", "7 0 0\n", "\0\0\0"] {
            fs::write(file_of(&db), torn).unwrap();
            assert_eq!(missing(&db, &conn).unwrap(), None, "{torn:?}");
        }
    }
}
