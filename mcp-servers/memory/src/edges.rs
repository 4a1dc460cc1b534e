//! The links of a note in both directions, as the index has them. Owns these look-ups and their
//! bounds; must not know what they are for.

use std::collections::BTreeSet;

use rusqlite::Connection;

use crate::error::Result;
use crate::find;
use crate::index::words::folded;

/// Links of one note that are looked at in either direction.
pub const EDGES_MAX: usize = 64;

/// One end of a link, seen from the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The note there. `None` where a link names what is no note.
    pub row: Option<i64>,
    pub id: Option<String>,
    /// The subject of the note, or what the link names.
    pub subject: String,
    /// What relates the two, if the link says so.
    pub relation: String,
}

/// What the links of a note lead to, in their order.
///
/// # Errors
/// SQLite refuses.
pub fn from(db: &Connection, row: i64) -> Result<Vec<Edge>> {
    let links: Vec<(String, String)> = db
        .prepare_cached("SELECT relation, target FROM links WHERE row = ? ORDER BY rowid LIMIT ?")?
        .query_map((row, EDGES_MAX as i64), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut edges = Vec::new();
    for (relation, target) in links {
        edges.push(match find::named(db, &target)? {
            Some(note) if note.row == row => continue,
            Some(note) => {
                Edge { row: Some(note.row), id: Some(note.id), subject: note.subject, relation }
            }
            None => Edge { row: None, id: None, subject: target, relation },
        });
    }
    Ok(edges)
}

/// The notes with a link to this one, by any of its names, the newest first.
///
/// # Errors
/// SQLite refuses.
pub fn to(db: &Connection, row: i64) -> Result<Vec<Edge>> {
    let mut names: Vec<String> = db
        .prepare_cached("SELECT name FROM known_names WHERE row = ?")?
        .query_map([row], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let id: String = db
        .prepare_cached("SELECT id FROM notes WHERE row = ?")?
        .query_row([row], |row| row.get(0))?;
    names.push(folded(&id));
    naming(db, &names, Some(row))
}

/// The notes with a link to one of these names in small letters, the newest first.
///
/// # Errors
/// SQLite refuses.
pub fn naming(db: &Connection, names: &[String], except: Option<i64>) -> Result<Vec<Edge>> {
    let mut found: Vec<(i64, Edge)> = Vec::new();
    for name in names {
        let mut statement = db.prepare_cached(
            "SELECT notes.row, dated, id, subject, relation FROM links
                JOIN notes ON notes.row = links.row
             WHERE key = ? AND notes.row IS NOT ? ORDER BY dated DESC, path LIMIT ?",
        )?;
        let rows = statement.query_map((name, except, EDGES_MAX as i64), |row| {
            let edge = Edge {
                row: row.get(0)?,
                id: row.get(2)?,
                subject: row.get(3)?,
                relation: row.get(4)?,
            };
            Ok((row.get(1)?, edge))
        })?;
        found.extend(rows.collect::<rusqlite::Result<Vec<_>>>()?);
    }
    found.sort_by_key(|(dated, edge)| (std::cmp::Reverse(*dated), edge.row));
    let mut seen = BTreeSet::new();
    found.retain(|(_, edge)| seen.insert((edge.row, edge.relation.clone())));
    found.truncate(EDGES_MAX);
    Ok(found.into_iter().map(|(_, edge)| edge).collect())
}
