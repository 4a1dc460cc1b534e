//! What the date of a note counts for in a question that names a day, a month or a year. Owns the
//! weight and the look-ups; must not know how dates are written.
//!
//! A note of that time is put forward among those that words or vectors find. It is never found for
//! its date alone: "let us meet in May" is no question about all that was noted in May.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::days::Days;

/// What a note of that time gets, as a share of what the best note scores. On conversations 0 to 4
/// of LoCoMo, 0.2 to 1 are much the same.
const WEIGHT: f64 = 0.4;

/// When the notes were that a question asks about.
///
/// # Errors
/// SQLite refuses.
pub fn spans(db: &Connection, days: &Days) -> rusqlite::Result<Vec<(i64, i64)>> {
    if days.is_empty() {
        return Ok(Vec::new());
    }
    let end = |sql| -> rusqlite::Result<Option<i64>> {
        db.prepare_cached(sql)?.query_row([], |row| row.get(0))
    };
    let first = end("SELECT min(dated) FROM notes")?;
    let last = end("SELECT max(dated) FROM notes")?;
    Ok(first.zip(last).map(|(first, last)| days.spans(first, last)).unwrap_or_default())
}

/// Adds the notes of that time that hold a word and were not among the best.
///
/// # Errors
/// SQLite refuses.
pub fn add(
    db: &Connection,
    rows: &mut Vec<(i64, f64)>,
    spans: &[(i64, i64)],
    expression: &str,
    limit: usize,
) -> rusqlite::Result<()> {
    let mut known: HashSet<i64> = rows.iter().map(|(row, _)| *row).collect();
    for (from, to) in spans {
        // The plus keeps SQLite from asking for each of these notes by itself.
        let found: Vec<(i64, f64)> = db
            .prepare_cached(
                "SELECT rowid, -bm25(words, 2.0, 1.0, 1.0, 1.0) FROM words WHERE words MATCH ?1
                    AND +rowid IN (SELECT row FROM notes WHERE dated >= ?2 AND dated < ?3)
                 ORDER BY 2 DESC, rowid LIMIT ?4",
            )?
            .query_map(params![expression, from, to, limit as i64], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?
            .collect::<rusqlite::Result<_>>()?;
        rows.extend(found.into_iter().filter(|(row, _)| known.insert(*row)));
    }
    Ok(())
}

/// Puts the notes of that time forward. Best first, before and after.
///
/// # Errors
/// SQLite refuses.
pub fn favoured(
    db: &Connection,
    mut rows: Vec<(i64, f64)>,
    spans: &[(i64, i64)],
) -> rusqlite::Result<Vec<(i64, f64)>> {
    let best = rows.first().map_or(0.0, |(_, score)| *score);
    if spans.is_empty() || rows.is_empty() {
        return Ok(rows);
    }
    let mut statement = db.prepare_cached("SELECT dated FROM notes WHERE row = ?")?;
    for (row, score) in &mut rows {
        let dated: Option<i64> = statement.query_row([*row], |row| row.get(0)).optional()?;
        let is_of =
            dated.is_some_and(|dated| spans.iter().any(|(from, to)| *from <= dated && dated < *to));
        if is_of {
            *score += WEIGHT * best;
        }
    }
    rows.sort_by(|(row, score), (other_row, other)| {
        other.total_cmp(score).then_with(|| row.cmp(other_row))
    });
    Ok(rows)
}
