//! The graph for its owner to look at: one note with what stands around it, or every note that
//! links to something. Must not know how it is drawn.

use rusqlite::Connection;
use serde::Serialize;

use crate::edges::{self, Edge};
use crate::error::{Result, ToolError};
use crate::index::words::folded;
use crate::{find, graph};

/// A note, or a name that links have and no note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Node {
    /// `None` for what is no note.
    pub id: Option<String>,
    pub subject: String,
    /// What it links to, the first 64.
    pub links: Vec<End>,
    /// What links to it, the newest 64; empty in the list of all.
    pub linked_from: Vec<End>,
}

/// The other end of a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct End {
    /// `None` where a link names what is no note.
    pub id: Option<String>,
    pub subject: String,
    /// What relates the two; empty if the link does not say.
    pub relation: String,
}

impl From<Edge> for End {
    fn from(edge: Edge) -> Self {
        Self { id: edge.id, subject: edge.subject, relation: edge.relation }
    }
}

/// Every note that links to something, by subject.
///
/// # Errors
/// SQLite refuses.
pub fn all(db: &Connection) -> Result<Vec<Node>> {
    let rows: Vec<(i64, String, String)> = db
        .prepare_cached(
            "SELECT row, id, subject FROM notes WHERE row IN (SELECT row FROM links)
             ORDER BY subject, path",
        )?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut nodes = Vec::new();
    for (row, id, subject) in rows {
        let links = ends(edges::from(db, row)?);
        nodes.push(Node { id: Some(id), subject, links, linked_from: Vec::new() });
    }
    Ok(nodes)
}

/// The notes of an id, a path or a name; else the name itself, if a link has it.
///
/// # Errors
/// There is neither.
pub fn named(db: &Connection, name: &str) -> Result<Vec<Node>> {
    let rows = match find::note(db, name) {
        Ok(entry) => vec![crate::index::row_at(db, &entry.path)?],
        Err(ToolError::NoNote { .. }) => graph::of_name(db, &folded(name))?,
        Err(error) => return Err(error),
    };
    let mut nodes = Vec::new();
    for row in rows {
        let (id, subject) = db
            .prepare_cached("SELECT id, subject FROM notes WHERE row = ?")?
            .query_row([row], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let (links, linked_from) = (ends(edges::from(db, row)?), ends(edges::to(db, row)?));
        nodes.push(Node { id: Some(id), subject, links, linked_from });
    }
    if !nodes.is_empty() {
        return Ok(nodes);
    }
    match ends(edges::naming(db, &[folded(name)], None)?) {
        ends if ends.is_empty() => Err(ToolError::Refused(format!(
            "no note and no link is named `{name}`; `claw memory list` shows all notes, `claw \
             memory graph` all links"
        ))),
        linked_from => {
            let subject = name.trim().to_owned();
            Ok(vec![Node { id: None, subject, links: Vec::new(), linked_from }])
        }
    }
}

fn ends(edges: Vec<Edge>) -> Vec<End> {
    edges.into_iter().map(End::from).collect()
}
