//! Which notes answer a question. Owns what counts as current, the filters and the order of hits;
//! must not know how a hit is shown.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::context::{self, QueryWords};
use crate::copies;
use crate::dated;
use crate::days::Days;
use crate::error::Result;
use crate::holders::{self, Holders};
use crate::index::words::Query;
use crate::index::{Entry, entry_of_row};
use crate::narrow;
use crate::note::{Kind, time};
use crate::vectors::fused;

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Without words the newest notes come first.
    pub words: Query,
    /// What it names of the calendar. Notes of that time come first.
    pub days: Days,
    pub kind: Option<Kind>,
    pub tag: Option<String>,
    /// Of the date of a note, both included.
    pub since: Option<i64>,
    pub until: Option<i64>,
    /// What was so at this time. `None` is now.
    pub as_of: Option<i64>,
    /// Also notes that have been superseded.
    pub superseded: bool,
    pub limit: usize,
    /// Rows of the notes nearest in meaning, best first.
    pub nearest: Vec<i64>,
    /// Words do not count, to measure the other half.
    pub is_nearest_alone: bool,
}

/// What has brought a note.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// Words of the question, or its filters alone.
    #[default]
    Words,
    /// Its vector, and no word that was looked for.
    Meaning,
    /// A note that was said right before or after it.
    Beside,
}

impl By {
    /// For whoever looks for the words in it and does not find them.
    pub fn why(self) -> Option<&'static str> {
        match self {
            Self::Words => None,
            Self::Meaning => Some("it is near in meaning"),
            Self::Beside => Some("it was said right before or after a note that was found"),
        }
    }
}

/// A note that answers.
#[derive(Clone, Debug)]
pub struct Hit {
    pub row: i64,
    pub entry: Entry,
    pub by: By,
    /// The id of the note that is right now instead.
    pub superseded_by: Option<String>,
    /// It is not so yet.
    pub is_to_come: bool,
}

/// Rows that are looked at first. Where filters leave too few of them, more are.
const ROWS_FIRST: usize = 300;
const ROWS_FACTOR: usize = 10;

/// What a word counts for in the subject, the body, the other names, and in pairs of characters.
const BY_WORDS: &str =
    "SELECT rowid, -bm25(words, 2.0, 1.0, 1.0, 1.0) FROM words WHERE words MATCH ?1
    ORDER BY 2 DESC, rowid LIMIT ?2";
const BY_DATE: &str =
    "SELECT row, 0.0 FROM notes WHERE ?1 IS NULL ORDER BY dated DESC, path LIMIT ?2";

/// The hits, best first.
///
/// # Errors
/// SQLite refuses.
pub fn hits(db: &Connection, question: &Question) -> Result<Vec<Hit>> {
    let words = &question.words.words;
    // One word alone has nothing to be compared with.
    let holders = if words.len() < 2 { Vec::new() } else { Holders::of(db, words)? };
    let words = QueryWords { notes: holders::notes(db)?, holders: &holders };
    if let Some(narrow) = narrow::expression(words.notes, &holders, question.limit) {
        let hits = found(db, question, Some(narrow), &words)?;
        if hits.len() >= question.limit {
            return Ok(hits);
        }
        // The filters have left too few of them.
    }
    found(db, question, question.words.expression(), &words)
}

fn found(
    db: &Connection,
    question: &Question,
    expression: Option<String>,
    words: &QueryWords<'_>,
) -> Result<Vec<Hit>> {
    let sql = if expression.is_some() { BY_WORDS } else { BY_DATE };
    let mut limit = ROWS_FIRST.max(question.limit);
    loop {
        let rows: Vec<(i64, f64)> = db
            .prepare_cached(sql)?
            .query_map(params![expression, limit as i64], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        let is_all = rows.len() < limit;
        let mut by_words: HashSet<i64> = HashSet::new();
        let is_ranked = expression.is_some();
        let rows = match is_ranked {
            true => ranked(db, question, rows, words, &mut by_words)?,
            false => rows,
        };
        let brought_by = |row: i64| match (is_ranked, question.nearest.contains(&row)) {
            (true, true) if !by_words.contains(&row) => By::Meaning,
            (true, false) if !by_words.contains(&row) => By::Beside,
            _ => By::Words,
        };
        let mut hits = Vec::new();
        for (row, _) in &rows {
            if hits.len() == question.limit {
                return Ok(hits);
            }
            if let Some(hit) = considered(db, question, *row)? {
                hits.push(Hit { by: brought_by(*row), ..hit });
            }
        }
        if is_all {
            return Ok(hits);
        }
        limit *= ROWS_FACTOR;
    }
}

/// All that counts beside the words of each note by itself: nearness in meaning, the date, and what
/// was said around it. `by_words` becomes the notes that were found by words.
fn ranked(
    db: &Connection,
    question: &Question,
    mut rows: Vec<(i64, f64)>,
    words: &QueryWords<'_>,
    by_words: &mut HashSet<i64>,
) -> Result<Vec<(i64, f64)>> {
    let spans = dated::spans(db, &question.days)?;
    if question.is_nearest_alone {
        let rows = dated::favoured(db, fused(Vec::new(), &question.nearest), &spans)?;
        return Ok(context::ranked(db, rows, &QueryWords { holders: &[], ..*words })?);
    }
    if let Some(expression) = question.words.expression() {
        dated::add(db, &mut rows, &spans, &expression, ROWS_FIRST)?;
    }
    by_words.extend(rows.iter().map(|(row, _)| *row));
    let rows = dated::favoured(db, fused(rows, &question.nearest), &spans)?;
    Ok(context::ranked(db, rows, words)?)
}

/// A note as a hit, if it fits the filters and the time that is asked about.
///
/// # Errors
/// SQLite refuses.
pub fn considered(db: &Connection, question: &Question, row: i64) -> Result<Option<Hit>> {
    let Some(entry) = entry_of_row(db, row)? else { return Ok(None) };
    let note = &entry.note;
    let fits = question.kind.is_none_or(|kind| kind == note.kind)
        && question.tag.as_ref().is_none_or(|tag| note.tags.contains(tag))
        && question.since.is_none_or(|since| entry.dated >= since)
        && question.until.is_none_or(|until| entry.dated <= until);
    if !fits || copies::is_shadowed(db, &entry)? {
        return Ok(None);
    }
    let at = question.as_of.unwrap_or_else(time::now);
    let starts = starts(&entry);
    let is_to_come = starts.is_some_and(|starts| starts > at);
    if is_to_come && question.as_of.is_some() {
        return Ok(None);
    }
    let superseded_by =
        successor(db, &entry)?.filter(|successor| successor.starts.is_none_or(|s| s <= at));
    if superseded_by.is_some() && !question.superseded {
        return Ok(None);
    }
    let superseded_by = superseded_by.map(|successor| successor.id);
    Ok(Some(Hit { row, entry, by: By::Words, superseded_by, is_to_come }))
}

/// From when on a note is so. One that supersedes another and names no time is so from its date on.
fn starts(entry: &Entry) -> Option<i64> {
    entry.note.valid_from.or_else(|| entry.note.supersedes.as_ref().map(|_| entry.dated))
}

/// The note that is right instead of an earlier one.
pub struct Successor {
    pub id: String,
    starts: Option<i64>,
}

/// Either note may name the other: a kill between the two writes loses nothing. One that names a
/// note which is not there (forgotten, or never written) is current: nothing is right instead.
///
/// # Errors
/// SQLite refuses.
pub fn successor(db: &Connection, entry: &Entry) -> Result<Option<Successor>> {
    const STARTS: &str = "coalesce(valid_from, dated)";
    if let Some(id) = entry.note.superseded_by.as_ref().filter(|id| **id != entry.id) {
        let found = db
            .prepare_cached(&format!(
                "SELECT {STARTS} FROM notes WHERE id = ? ORDER BY copy, length(path), path LIMIT 1"
            ))?
            .query_row([id], |row| Ok(Successor { id: id.clone(), starts: row.get(0)? }))
            .optional()?;
        if found.is_some() {
            return Ok(found);
        }
    }
    let found = db
        .prepare_cached(&format!(
            "SELECT id, {STARTS} FROM notes WHERE supersedes = ?1 AND id <> ?1 ORDER BY copy, 2, path LIMIT 1"
        ))?
        .query_row([&entry.id], |row| Ok(Successor { id: row.get(0)?, starts: row.get(1)? }))
        .optional()?;
    Ok(found)
}
