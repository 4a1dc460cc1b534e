//! Whether vectors find more than words alone, on the notes themselves. Owns how that is tried;
//! must not know who does what about it.
//!
//! A subject stands for a question, and the body of its note for the answer: which place does the
//! right note have if only bodies are looked at, by words alone and by both? The other notes are
//! compared by their whole vector, subject included, which makes it harder for vectors, not easier.

use rusqlite::{Connection, params};

use super::fault::Fault;
use super::fuse::fused;
use super::nearest::{NEAREST_MAX, Near, Rows, cosine};
use super::store::{Store, Trial};
use crate::error::ToolError;
use crate::index::words::Query;

/// Subjects that are tried.
const ASKED_MAX: i64 = 60;

/// Fewer subjects say nothing.
pub const ASKED_MIN: u64 = 20;

/// Characters of a body that says enough to be found by.
const BODY_CHARS_MIN: i64 = 20;

/// Places that count.
const FIRST: usize = 10;

/// Why there is no result.
pub enum NoTrial {
    Fault(Fault),
    Index(ToolError),
}

impl From<rusqlite::Error> for NoTrial {
    fn from(error: rusqlite::Error) -> Self {
        Self::Index(error.into())
    }
}

/// A note that is asked for by its subject.
pub struct Sample {
    row: i64,
    digest: String,
    pub subject: String,
    pub body: String,
}

/// Notes with a vector whose subject no other one has, in no order that means anything.
///
/// # Errors
/// SQLite refuses.
pub fn samples(store: &Store, model: &str, dimension: usize) -> rusqlite::Result<Vec<Sample>> {
    store
        .db
        .prepare_cached(
            "SELECT row, digest, subject, body FROM notes.notes
             WHERE length(body) >= ?1 AND digest IN
                (SELECT digest FROM vectors WHERE model = ?3 AND dimension = ?4)
             GROUP BY lower(subject) HAVING count(*) = 1 ORDER BY digest LIMIT ?2",
        )?
        .query_map(params![BODY_CHARS_MIN, ASKED_MAX, model, dimension as i64], |row| {
            Ok(Sample {
                row: row.get(0)?,
                digest: row.get(1)?,
                subject: row.get(2)?,
                body: row.get(3)?,
            })
        })?
        .collect()
}

/// Compares. Each sample has the vector of its subject and the one of its body.
///
/// # Errors
/// SQLite refuses.
pub fn run(
    store: &Store,
    rows: &Rows,
    model: &str,
    notes: u64,
    samples: &[(Sample, Vec<f32>, Vec<f32>)],
) -> rusqlite::Result<Trial> {
    let (mut by_words, mut by_both) = (0.0, 0.0);
    for (sample, subject, body) in samples {
        let words = found_by_words(&store.db, &sample.subject)?;
        let mut near = rows.nearest(store, model, subject)?;
        near.retain(|one| one.digest != sample.digest);
        let own = Near { digest: sample.digest.clone(), cosine: cosine(subject, body) };
        let place = near.partition_point(|one| one.cosine >= own.cosine);
        near.insert(place, own);
        near.truncate(NEAREST_MAX);
        by_words += worth(&words, sample.row);
        by_both += worth(&fused(words, &rows_of(&store.db, "notes", &near)?), sample.row);
    }
    let asked = samples.len() as u64;
    let mean = |sum: f64| if asked == 0 { 0.0 } else { sum / asked as f64 };
    Ok(Trial { notes, asked, by_words: mean(by_words), by_both: mean(by_both) })
}

/// 1 for the first place, a half for the second, and so on.
fn worth(rows: &[(i64, f64)], wanted: i64) -> f64 {
    let place = rows.iter().take(FIRST).position(|(row, _)| *row == wanted);
    place.map_or(0.0, |place| 1.0 / (place + 1) as f64)
}

/// What words find in bodies alone.
fn found_by_words(db: &Connection, subject: &str) -> rusqlite::Result<Vec<(i64, f64)>> {
    let Some(expression) = Query::of(subject).expression() else { return Ok(Vec::new()) };
    db.prepare_cached(
        "SELECT rowid, -bm25(words, 0.0, 1.0, 0.0, 0.0) FROM notes.words WHERE words MATCH ?1
         ORDER BY 2 DESC, rowid LIMIT ?2",
    )?
    .query_map(params![format!("{{body}} : ({expression})"), NEAREST_MAX as i64], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })?
    .collect()
}

/// The rows of notes, in their order. Two files with the same content are two rows.
///
/// # Errors
/// SQLite refuses.
pub fn rows_of(db: &Connection, schema: &str, near: &[Near]) -> rusqlite::Result<Vec<i64>> {
    let mut statement = db
        .prepare_cached(&format!("SELECT row FROM {schema}.notes WHERE digest = ? ORDER BY row"))?;
    let mut rows = Vec::with_capacity(near.len());
    for one in near {
        for row in statement.query_map([&one.digest], |row| row.get(0))? {
            rows.push(row?);
        }
    }
    Ok(rows)
}
