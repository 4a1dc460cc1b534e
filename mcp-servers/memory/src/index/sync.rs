//! Brings the index to what the files are. Owns when a file is read again; must not know who has
//! changed it. Whoever calls holds the lock of the notes, so that no older content comes last.

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::Connection;

use super::{Entry, rows};
use crate::error::ToolError;
use crate::folder::watch::Watch;
use crate::folder::{Content, Folder, PassedOver, Stamp};

/// A file that was changed so recently may change again under the same stamp: the clock of a file
/// system is coarse (4 ms on ext4, 2 s on FAT). It is read again at the next look.
const UNSETTLED_NS: i128 = 2_000_000_000;

/// What a look at the files has found.
#[derive(Debug, Default)]
pub struct Synced {
    /// Files that were read and had another content than the index.
    pub changed: u64,
    pub gone: u64,
    pub passed_over: Vec<PassedOver>,
}

/// Looks at all files, and reads those whose stamp is new. `folders` becomes all folders.
///
/// # Errors
/// A folder cannot be read, or SQLite refuses. The index is as it was then.
pub fn everything(
    db: &mut Connection,
    folder: &Folder,
    watch: &mut Watch,
    folders: &mut Vec<String>,
    note_bytes_max: u64,
) -> Result<Synced, ToolError> {
    let tx = db.transaction()?;
    let mut synced = Synced::default();
    let mut seen = HashSet::new();
    let root = folder.path.clone();
    synced.passed_over = folder
        .walk(
            |below| {
                watch.add(&root, below);
                folders.push(below.to_owned());
            },
            |path, stamp| -> Result<(), Failed> {
                let known = rows::known(&tx, path)?;
                if let Some((row, known_stamp, _)) = &known {
                    seen.insert(*row);
                    if *known_stamp == stamp.as_text() {
                        return Ok(());
                    }
                }
                if let Some(row) = one(&tx, folder, path, note_bytes_max, &mut synced)? {
                    seen.insert(row);
                }
                Ok(())
            },
        )
        .map_err(|failed| failed.into_tool_error(&folder.path))?;
    let gone: Vec<String> = tx
        .prepare("SELECT row, path FROM notes")?
        .query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?
        .filter_map(|row| row.map(|(row, path)| (!seen.contains(&row)).then_some(path)).transpose())
        .collect::<rusqlite::Result<_>>()?;
    for path in gone {
        rows::remove(&tx, &path)?;
        synced.gone += 1;
    }
    tx.commit()?;
    Ok(synced)
}

/// Looks at some files, whatever their stamps are.
///
/// # Errors
/// A file cannot be looked at, or SQLite refuses. The index is as it was then.
pub fn some(
    db: &mut Connection,
    folder: &Folder,
    paths: &BTreeSet<String>,
    note_bytes_max: u64,
) -> Result<Synced, ToolError> {
    let tx = db.transaction()?;
    let mut synced = Synced::default();
    for path in paths {
        one(&tx, folder, path, note_bytes_max, &mut synced)
            .map_err(|failed| failed.into_tool_error(&folder.path.join(path)))?;
    }
    tx.commit()?;
    Ok(synced)
}

/// Reads one file and brings its row to it. Gives the row.
fn one(
    db: &Connection,
    folder: &Folder,
    path: &str,
    note_bytes_max: u64,
    synced: &mut Synced,
) -> Result<Option<i64>, Failed> {
    let known = rows::known(db, path)?;
    let Some((stamp, content)) = folder.read(path, note_bytes_max)? else {
        if rows::remove(db, path)?.is_some() {
            synced.gone += 1;
        }
        return Ok(None);
    };
    let stamp_text = if is_settled(&stamp) { stamp.as_text() } else { String::new() };
    if let (Some((row, known_stamp, digest)), Content::Text(bytes)) = (&known, &content)
        && *digest == super::entry::digest(bytes)
        && is_dated_by_itself(db, *row)?
    {
        if *known_stamp != stamp_text {
            rows::stamp(db, path, &stamp_text)?;
        }
        return Ok(Some(*row));
    }
    let entry = Entry::new(path, &stamp, &content);
    let row = rows::put(db, &entry, &stamp_text)?;
    synced.changed += 1;
    Ok(Some(row))
}

/// Whether the note says a date. One without is dated by its file, which may be written anew with
/// the same content.
fn is_dated_by_itself(db: &Connection, row: i64) -> rusqlite::Result<bool> {
    db.prepare_cached("SELECT coalesce(updated, created) IS NOT NULL FROM notes WHERE row = ?")?
        .query_row([row], |row| row.get(0))
}

fn is_settled(stamp: &Stamp) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = i128::try_from(now.as_nanos()).unwrap_or(i128::MAX);
    stamp.changed_ns + UNSETTLED_NS < now
}

/// Why a look failed.
enum Failed {
    Io(io::Error),
    Index(rusqlite::Error),
}

impl Failed {
    fn into_tool_error(self, path: &Path) -> ToolError {
        match self {
            Self::Io(error) => ToolError::io("read", path.display().to_string(), &error),
            Self::Index(error) => ToolError::Index(error),
        }
    }
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<rusqlite::Error> for Failed {
    fn from(error: rusqlite::Error) -> Self {
        Self::Index(error)
    }
}
