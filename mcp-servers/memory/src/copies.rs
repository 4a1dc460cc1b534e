//! Files that are one note: conflict copies, and whatever else has the same id. Owns which of them
//! stands for the note; must not know what a tool does with the others.

use rusqlite::{Connection, params};

use crate::index::Entry;

/// Whether another file stands for the note `n`: of several with one id the one that is no conflict
/// copy, then the one with the shortest path. A copy without front matter names its original by the
/// path, also where that has an id of its own.
pub const SHADOWED: &str = "(EXISTS (SELECT 1 FROM notes o WHERE o.id = n.id
        AND (o.copy, length(o.path), o.path) < (n.copy, length(n.path), n.path))
    OR (n.copy AND n.own_id IS NULL AND EXISTS (SELECT 1 FROM notes o WHERE o.path = n.id)))";

/// See [`SHADOWED`].
///
/// # Errors
/// SQLite refuses.
pub fn is_shadowed(db: &Connection, entry: &Entry) -> rusqlite::Result<bool> {
    db.prepare_cached(&format!("SELECT {SHADOWED} FROM notes n WHERE n.path = ?"))?
        .query_row([&entry.path], |row| row.get(0))
}

/// The paths of the other files that are this note.
///
/// # Errors
/// SQLite refuses.
pub fn of(db: &Connection, entry: &Entry) -> rusqlite::Result<Vec<String>> {
    db.prepare_cached(
        "SELECT path FROM notes
         WHERE (id = ?1 OR (id = ?2 AND copy AND own_id IS NULL)) AND path <> ?2 ORDER BY path",
    )?
    .query_map(params![entry.id, entry.path], |row| row.get(0))?
    .collect()
}
