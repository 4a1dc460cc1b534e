//! Entries as rows and back. Owns the SQL of a single file; must not know the folder.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::Entry;
use super::words::{folded, grams};
use crate::note::{Kind, Link, Note, Source};

/// Puts an entry in place of what stood under its path. Gives its row.
pub fn put(db: &Connection, entry: &Entry, stamp: &str) -> rusqlite::Result<i64> {
    let row = remove(db, &entry.path)?;
    let Note { kind, subject, body, tags, aliases, source, created, updated, .. } = &entry.note;
    let who = source.who.as_deref();
    let names: Vec<&str> = tags.iter().chain(aliases).map(String::as_str).chain(who).collect();
    let names = names.join(" ");
    let grams = [subject.as_str(), body, &names].map(grams).join(" ");
    db.prepare_cached(
        "INSERT INTO notes (row, path, stamp, digest, id, copy, own_id, kind, subject, body, names, grams,
            aliases, who, session, turn, file, agent, created, updated, dated, valid_from, superseded_by, supersedes, fault)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?
    .execute(params![
        row,
        entry.path,
        stamp,
        entry.digest,
        entry.id,
        entry.is_copy,
        entry.note.id,
        kind.as_str(),
        subject,
        body,
        names,
        grams.trim(),
        aliases.join("\n"),
        who,
        source.session,
        source.turn,
        source.file,
        source.agent,
        created,
        updated,
        entry.dated,
        entry.note.valid_from,
        entry.note.superseded_by,
        entry.note.supersedes,
        entry.note.fault,
    ])?;
    let row = db.last_insert_rowid();
    for tag in tags {
        db.prepare_cached("INSERT OR IGNORE INTO tags (tag, row) VALUES (?, ?)")?
            .execute(params![tag, row])?;
    }
    for link in &entry.note.links {
        db.prepare_cached("INSERT INTO links (row, relation, target, key) VALUES (?, ?, ?, ?)")?
            .execute(params![row, link.relation, link.target, folded(&link.target)])?;
    }
    let stem = crate::folder::stem(&entry.path);
    for name in aliases.iter().map(String::as_str).chain([subject.as_str(), stem]) {
        db.prepare_cached("INSERT OR IGNORE INTO known_names (name, row) VALUES (?, ?)")?
            .execute(params![folded(name), row])?;
    }
    Ok(row)
}

/// Notes the stamp of a file whose content has not changed.
pub fn stamp(db: &Connection, path: &str, stamp: &str) -> rusqlite::Result<()> {
    db.prepare_cached("UPDATE notes SET stamp = ? WHERE path = ?")?.execute([stamp, path])?;
    Ok(())
}

/// Removes what stands under a path. Gives its row, which an entry that replaces it takes.
pub fn remove(db: &Connection, path: &str) -> rusqlite::Result<Option<i64>> {
    let row = db
        .prepare_cached("SELECT row FROM notes WHERE path = ?")?
        .query_row([path], |row| row.get(0))
        .optional()?;
    if let Some(row) = row {
        db.prepare_cached("DELETE FROM notes WHERE row = ?")?.execute([row])?;
    }
    Ok(row)
}

/// The row of what stands under a path, for which there is an entry.
pub fn row_at(db: &Connection, path: &str) -> rusqlite::Result<i64> {
    db.prepare_cached("SELECT row FROM notes WHERE path = ?")?.query_row([path], |row| row.get(0))
}

/// Row, stamp and digest of what stands under a path.
pub fn known(db: &Connection, path: &str) -> rusqlite::Result<Option<(i64, String, String)>> {
    db.prepare_cached("SELECT row, stamp, digest FROM notes WHERE path = ?")?
        .query_row([path], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()
}

/// The columns that [`entry`] reads.
const COLUMNS: &str =
    "row, path, digest, id, copy, own_id, kind, subject, body, aliases, who, session, turn, file,
    agent, created, updated, dated, valid_from, superseded_by, supersedes, fault";

/// The entry under a path, as the index has it.
pub fn entry_at(db: &Connection, path: &str) -> rusqlite::Result<Option<Entry>> {
    entry_where(db, "path = ?", path)
}

pub fn entry_of_row(db: &Connection, row: i64) -> rusqlite::Result<Option<Entry>> {
    entry_where(db, "row = ?", row)
}

fn entry_where(
    db: &Connection,
    condition: &str,
    value: impl rusqlite::ToSql,
) -> rusqlite::Result<Option<Entry>> {
    let found = db
        .prepare_cached(&format!("SELECT {COLUMNS} FROM notes WHERE {condition}"))?
        .query_row([value], |row| Ok((row.get::<_, i64>(0)?, entry(row)?)))
        .optional()?;
    let Some((row, mut entry)) = found else { return Ok(None) };
    entry.note.tags = db
        .prepare_cached("SELECT tag FROM tags WHERE row = ? ORDER BY tag")?
        .query_map([row], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    entry.note.links = db
        .prepare_cached("SELECT relation, target FROM links WHERE row = ? ORDER BY rowid")?
        .query_map([row], |row| Ok(Link { relation: row.get(0)?, target: row.get(1)? }))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(Some(entry))
}

/// Without tags and links, which have tables of their own.
fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let kind: String = row.get("kind")?;
    let aliases: String = row.get("aliases")?;
    let note = Note {
        id: row.get("own_id")?,
        kind: Kind::of(&kind).unwrap_or_default(),
        subject: row.get("subject")?,
        body: row.get("body")?,
        tags: Vec::new(),
        aliases: aliases.lines().map(str::to_owned).collect(),
        source: Source {
            who: row.get("who")?,
            session: row.get("session")?,
            turn: row.get("turn")?,
            file: row.get("file")?,
            agent: row.get("agent")?,
        },
        created: row.get("created")?,
        updated: row.get("updated")?,
        valid_from: row.get("valid_from")?,
        superseded_by: row.get("superseded_by")?,
        supersedes: row.get("supersedes")?,
        links: Vec::new(),
        fault: row.get("fault")?,
    };
    Ok(Entry {
        path: row.get("path")?,
        digest: row.get("digest")?,
        id: row.get("id")?,
        is_copy: row.get("copy")?,
        note,
        dated: row.get("dated")?,
    })
}
