//! Which notes hold the words of a question. Owns these rows, looked up once for a question; must
//! not know what they are good for.

use rusqlite::{Connection, params};

use crate::index::words::any_of;

/// Notes of one word that are looked up. A word in more of them tells little.
pub const ROWS_MAX: usize = 1_000;

/// The notes that hold a word.
pub struct Holders {
    pub word: String,
    /// In order; one more than [`ROWS_MAX`] if there are more.
    pub rows: Vec<i64>,
}

impl Holders {
    /// Of each word, in their order.
    ///
    /// # Errors
    /// SQLite refuses.
    pub fn of(db: &Connection, words: &[String]) -> rusqlite::Result<Vec<Self>> {
        let mut statement =
            db.prepare_cached("SELECT rowid FROM words WHERE words MATCH ?1 LIMIT ?2")?;
        let mut all = Vec::with_capacity(words.len());
        for word in words {
            let only = any_of(std::slice::from_ref(word));
            let rows = statement
                .query_map(params![only, ROWS_MAX as i64 + 1], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            all.push(Self { word: word.clone(), rows });
        }
        Ok(all)
    }

    /// Whether it stands in at least every other note, as far as was looked. Of few
    /// notes nothing is said.
    pub fn is_in_every_other(&self) -> bool {
        let last = self.rows.last().and_then(|last| usize::try_from(*last).ok());
        self.is_cut() && last.is_some_and(|last| last <= 2 * self.rows.len())
    }

    /// Whether not all of its notes are known.
    pub fn is_cut(&self) -> bool {
        self.rows.len() > ROWS_MAX
    }
}

/// As many as there are notes, or a few more.
///
/// # Errors
/// SQLite refuses.
pub fn notes(db: &Connection) -> rusqlite::Result<usize> {
    let notes: Option<i64> =
        db.prepare_cached("SELECT max(row) FROM notes")?.query_row([], |row| row.get(0))?;
    Ok(usize::try_from(notes.unwrap_or_default()).unwrap_or_default())
}
