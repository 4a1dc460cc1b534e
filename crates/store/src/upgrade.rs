//! The copy of a database as it was before a migration, beside it. Owns its name, and that it is
//! whole and on the disk before anything changes. Must not know what a migration does.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{StoreError, Tx, connect};
use claw_kit::durable::Part;

/// What a migration did, and where the database is kept as it was before.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the store was brought from schema {from} to {to}; as it was before it is kept in {}, for the \
     way back",
    .copy.display()
)]
pub struct Migrated {
    pub from: u32,
    pub to: u32,
    pub copy: PathBuf,
}

/// A kept copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptCopy {
    pub path: PathBuf,
    pub bytes: u64,
    pub modified: SystemTime,
}

/// Copies the database at `path`, owner-only, under a name that says from which schema to which one
/// it is about to go. The caller holds the write lock, so that nothing can come in between copy and
/// migration.
pub(super) fn copy(path: &Path, from: u32, to: u32) -> Result<PathBuf, StoreError> {
    let kept = free_name(path, from, to);
    write(path, from, &kept).map_err(|what| StoreError::Copy {
        copy: kept.display().to_string(),
        from,
        to,
        what,
    })?;
    Ok(kept)
}

/// The copies that lie beside a database, the newest first.
pub fn kept_copies(path: &Path) -> io::Result<Vec<KeptCopy>> {
    let Some(folder) = path.parent() else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(|name| name.starts_with(&beginning(path))) {
            let metadata = entry.metadata()?;
            found.push(KeptCopy {
                path: entry.path(),
                bytes: metadata.len(),
                modified: metadata.modified()?,
            });
        }
    }
    found.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| b.path.cmp(&a.path)));
    Ok(found)
}

fn beginning(path: &Path) -> String {
    format!("{}.before-v", path.file_name().unwrap_or_default().to_string_lossy())
}

/// A name that nothing has yet: whoever went back and forth has more than one copy of a schema.
fn free_name(path: &Path, from: u32, to: u32) -> PathBuf {
    let first = path.with_file_name(format!("{}{from}-to-v{to}", beginning(path)));
    let mut name = first.clone();
    let mut number = 1;
    while name.symlink_metadata().is_ok() {
        number += 1;
        name = PathBuf::from(format!("{}.{number}", first.display()));
    }
    name
}

fn write(path: &Path, from: u32, kept: &Path) -> Result<(), String> {
    // The owner's alone from its first byte on; it goes if anything fails.
    let part = Part::beside(path).map_err(|error| error.to_string())?;
    // By another connection, because none can copy inside of its own transaction. It sees what is
    // committed.
    let from_db = connect(path).map_err(|error| error.to_string())?;
    Tx::new(&from_db).copy_into(part.path()).map_err(|error| error.to_string())?;
    check(part.path(), from)?;
    part.publish(kept).map_err(|error| error.to_string())
}

/// A copy that could not be read would be worse than none.
fn check(part: &Path, from: u32) -> Result<(), String> {
    let copied = rusqlite::Connection::open(part).map_err(|error| error.to_string())?;
    let version: u32 = copied
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .map_err(|error| error.to_string())?;
    match Tx::new(&copied).quick_check().map_err(|error| error.to_string())? {
        None if version == from => Ok(()),
        None => Err(format!("the copy has schema {version}")),
        Some(fault) => Err(format!("the copy is damaged ({fault})")),
    }
}
