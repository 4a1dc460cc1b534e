//! A note by its id, its path or its name, and the notes around it. Owns these look-ups; must not
//! know what they are for.

use rusqlite::{Connection, OptionalExtension as _};

use crate::error::{Result, ToolError};
use crate::index::words::folded;
use crate::index::{Entry, entry_at, entry_of_row};
use crate::recall::successor;

/// The note that an id or a path names.
///
/// # Errors
/// There is none.
pub fn note(db: &Connection, id: &str) -> Result<Entry> {
    let id = id.trim().trim_start_matches('[').trim_end_matches(']');
    if let Some(entry) = entry_at(db, id)? {
        return Ok(entry);
    }
    let row = db
        .prepare_cached(
            "SELECT row FROM notes WHERE id = ? ORDER BY copy, length(path), path LIMIT 1",
        )?
        .query_row([id], |row| row.get(0))
        .optional()?;
    let entry = row.map(|row| entry_of_row(db, row)).transpose()?.flatten();
    entry.ok_or_else(|| ToolError::NoNote { id: id.to_owned(), where_it_is: "" })
}

/// What a link names.
pub struct Named {
    pub row: i64,
    pub id: String,
    pub subject: String,
}

/// The note that a link names: by subject, other name, file name, path or id.
///
/// # Errors
/// SQLite refuses.
pub fn named(db: &Connection, name: &str) -> Result<Option<Named>> {
    let found = db
        .prepare_cached(
            "SELECT row, id, subject FROM notes WHERE id = ?1 OR path IN (?1, ?1 || '.md')
                OR row IN (SELECT row FROM known_names WHERE name = ?2)
             ORDER BY copy, length(path), path LIMIT 1",
        )?
        .query_row([name, &folded(name)], |row| {
            Ok(Named { row: row.get(0)?, id: row.get(1)?, subject: row.get(2)? })
        })
        .optional()?;
    Ok(found)
}

/// The ids of all notes with this subject or other name, without conflict copies.
///
/// # Errors
/// SQLite refuses.
pub fn all_named(db: &Connection, name: &str) -> Result<Vec<String>> {
    let ids = db
        .prepare_cached(
            "SELECT DISTINCT id FROM notes
             WHERE copy = 0 AND row IN (SELECT row FROM known_names WHERE name = ?1)
             ORDER BY dated DESC, path LIMIT 8",
        )?
        .query_map([folded(name)], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(ids)
}

/// The notes with this subject or other name, the newest first: those that are so now, or if none
/// is any more, those that were.
///
/// # Errors
/// SQLite refuses.
pub fn current_of_name(db: &Connection, name: &str) -> Result<Vec<Entry>> {
    let all: Vec<Entry> =
        all_named(db, name)?.iter().map(|id| note(db, id)).collect::<Result<_>>()?;
    let mut current = Vec::new();
    for entry in &all {
        if successor(db, entry)?.is_none() {
            current.push(entry.clone());
        }
    }
    Ok(if current.is_empty() { all } else { current })
}
