//! Whether the index equals the files: one function. Owns what is compared; must not know what is
//! done about a difference.

use std::collections::BTreeSet;
use std::io;

use rusqlite::Connection;

use super::{Entry, rows};
use crate::error::ToolError;
use crate::folder::Folder;

/// Which files are compared.
pub enum Scope<'a> {
    /// Those that were just written.
    Paths(&'a BTreeSet<String>),
    /// All, and the inside of the index as well.
    Everything,
}

/// What differs, one sentence each, by path. Every file is read again and taken apart again, so
/// nothing that the index believes is believed.
///
/// # Errors
/// A file cannot be looked at, or SQLite refuses.
pub fn differences(
    db: &Connection,
    folder: &Folder,
    note_bytes_max: u64,
    scope: &Scope<'_>,
) -> Result<Vec<String>, ToolError> {
    let mut found = Vec::new();
    let paths = match scope {
        Scope::Paths(paths) => (*paths).clone(),
        Scope::Everything => {
            let mut paths = all_indexed(db)?;
            let walked = folder.walk(
                |_| (),
                |path, _| -> io::Result<()> {
                    paths.insert(path.to_owned());
                    Ok(())
                },
            );
            walked.map_err(|error| {
                ToolError::io("read", folder.path.display().to_string(), &error)
            })?;
            paths
        }
    };
    for path in &paths {
        let indexed = rows::entry_at(db, path)?;
        let read = folder
            .read(path, note_bytes_max)
            .map_err(|error| ToolError::io("read", path.as_str(), &error))?;
        let file = read.map(|(stamp, content)| Entry::new(path, &stamp, &content).in_index_order());
        match (file, indexed) {
            (None, None) => {}
            (Some(_), None) => found.push(format!("{path}: the file is not in the index")),
            (None, Some(_)) => {
                found.push(format!("{path}: it is in the index and there is no file"))
            }
            (Some(file), Some(indexed)) if file != indexed => {
                found.push(format!("{path}: the index holds something else than the file"));
            }
            (Some(_), Some(_)) => {}
        }
    }
    if matches!(scope, Scope::Everything) {
        found.extend(inside(db)?);
    }
    Ok(found)
}

impl Entry {
    /// Tags are kept sorted.
    fn in_index_order(mut self) -> Self {
        self.note.tags.sort();
        self
    }
}

fn all_indexed(db: &Connection) -> rusqlite::Result<BTreeSet<String>> {
    db.prepare("SELECT path FROM notes")?.query_map([], |row| row.get(0))?.collect()
}

/// Whether the words that are searched are those of the notes, and no row is left over.
fn inside(db: &Connection) -> rusqlite::Result<Option<String>> {
    // With `rank` 1 the words are compared with the text that they were made of.
    let words = db.execute("INSERT INTO words (words, rank) VALUES ('integrity-check', 1)", []);
    let left_over: i64 = db.query_row(
        "SELECT (SELECT count(*) FROM tags WHERE row NOT IN (SELECT row FROM notes))
              + (SELECT count(*) FROM links WHERE row NOT IN (SELECT row FROM notes))
              + (SELECT count(*) FROM known_names WHERE row NOT IN (SELECT row FROM notes))",
        [],
        |row| row.get(0),
    )?;
    Ok(match (words, left_over) {
        (Err(error), _) => {
            Some(format!("the words of the index are not those of the notes: {error}"))
        }
        (Ok(_), 0) => None,
        (Ok(_), 1) => Some("1 row of the index belongs to no note".to_owned()),
        (Ok(_), rows) => Some(format!("{rows} rows of the index belong to no note")),
    })
}
