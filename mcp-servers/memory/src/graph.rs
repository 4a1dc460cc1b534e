//! The small knowledge graph: notes are its entities, `[[links]]` its relations. Owns which notes
//! stand one hop away from a name, and the words for why. Must not know how a name is found in a
//! text, or how a note is shown.

use std::collections::BTreeSet;

use rusqlite::Connection;

use crate::edges::{self, Edge};
use crate::error::Result;
use crate::index::words::{Query, folded};
use crate::names::{Mention, Mentions};
use crate::recall::{self, Hit, Question};

/// Notes of one name that count, the newest. A name that many notes have says little.
const SAME_NAME_MAX: usize = 8;

/// A note one hop away from a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    pub row: i64,
    /// `it is linked from Anna (works at)`.
    pub why: String,
}

/// What the names of a query bring besides the notes that hold its words.
#[derive(Debug, Default)]
pub struct Brought {
    /// Each with why it came.
    pub notes: Vec<(Hit, String)>,
    /// Notes that stand there as well. Some of them may not fit the filters.
    pub left_out: u64,
    /// Names of the query that were not followed.
    pub names_left_out: u64,
}

/// Notes one hop away from the names of a query, without those that were found anyway. First what
/// the names themselves name, then what is linked, in the order of the names.
///
/// # Errors
/// SQLite refuses.
pub fn brought(
    db: &Connection,
    mentions: &Mentions,
    question: &Question,
    hits: &[Hit],
    max: usize,
) -> Result<Brought> {
    let mut hops = (Vec::new(), Vec::new());
    for mention in &mentions.found {
        of_mention(db, mention, question, max, &mut hops)?;
    }
    let mut brought = Brought { names_left_out: mentions.left_out, ..Brought::default() };
    let mut seen: BTreeSet<i64> = hits.iter().map(|hit| hit.row).collect();
    for Hop { row, why } in hops.0.into_iter().chain(hops.1) {
        if !seen.insert(row) {
            continue;
        }
        if brought.notes.len() == max {
            brought.left_out += 1;
            continue;
        }
        // The filters hold for them, too.
        brought.notes.extend(recall::considered(db, question, row)?.map(|hit| (hit, why)));
    }
    Ok(brought)
}

/// The notes that are named, and those beside them.
type Hops = (Vec<Hop>, Vec<Hop>);

fn of_mention(
    db: &Connection,
    mention: &Mention,
    question: &Question,
    max: usize,
    (named, beside): &mut Hops,
) -> Result<()> {
    let itself = |row, why: &str| Hop { row, why: why.to_owned() };
    for row in of_name(db, &mention.said)? {
        named.push(itself(row, &format!("it is named {}", mention.said)));
    }
    beside.extend(around(db, &mention.said)?);
    for term in &mention.means {
        let (name, why) = (folded(term), format!("{} means {term}", mention.said));
        let rows = of_name(db, &name)?;
        let hops = around(db, &name)?;
        if rows.is_empty() && hops.is_empty() {
            let words = Query::of(term);
            if !words.words.is_empty() {
                let nearest = Vec::new();
                let question = Question { words, limit: max, nearest, ..question.clone() };
                let hits = recall::hits(db, &question)?;
                named.extend(hits.into_iter().map(|hit| itself(hit.row, &why)));
            }
        }
        named.extend(rows.into_iter().map(|row| itself(row, &why)));
        beside.extend(hops);
    }
    Ok(())
}

/// The rows of the notes of a folded name, the newest first.
///
/// # Errors
/// SQLite refuses.
pub fn of_name(db: &Connection, name: &str) -> rusqlite::Result<Vec<i64>> {
    db.prepare_cached(
        "SELECT row FROM notes WHERE copy = 0
            AND (id = ?1 OR row IN (SELECT row FROM known_names WHERE name = ?1))
         ORDER BY dated DESC, path LIMIT ?2",
    )?
    .query_map((name, SAME_NAME_MAX as i64), |row| row.get(0))?
    .collect()
}

/// The notes one hop away from a folded name: what its notes link to, and what links to it. A name
/// that only links have has neighbours, too.
fn around(db: &Connection, name: &str) -> Result<Vec<Hop>> {
    let rows = of_name(db, name)?;
    if rows.is_empty() {
        let edges = edges::naming(db, &[name.to_owned()], None)?;
        return Ok(hops("it links to", name, edges).collect());
    }
    let mut around = Vec::new();
    for row in rows {
        let subject: String = db
            .prepare_cached("SELECT subject FROM notes WHERE row = ?")?
            .query_row([row], |row| row.get(0))?;
        around.extend(hops("it is linked from", &subject, edges::from(db, row)?));
        around.extend(hops("it links to", &subject, edges::to(db, row)?));
    }
    Ok(around)
}

fn hops(how: &str, subject: &str, edges: Vec<Edge>) -> impl Iterator<Item = Hop> {
    let how = format!("{how} {subject}");
    edges.into_iter().filter_map(move |edge| {
        let why = match edge.relation.as_str() {
            "" => how.clone(),
            relation => format!("{how} ({relation})"),
        };
        Some(Hop { row: edge.row?, why })
    })
}
