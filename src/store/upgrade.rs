//! The copy of a database as it was before a migration, beside it. Owns its name, and that it is whole and on the disk before
//! anything changes. Must not know what a migration does.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{StoreError, Tx, connect};

/// What a migration did, and where the database is kept as it was before.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the store was brought from schema {from} to {to}; as it was before it is kept in {}, for the way back",
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

/// Copies the database at `path`, owner-only, under a name that says from which schema to which one it is about to go. The
/// caller holds the write lock, so that nothing can come in between copy and migration.
pub(super) fn copy(path: &Path, from: u32, to: u32) -> Result<PathBuf, StoreError> {
    let kept = free_name(path, from, to);
    write(path, from, &kept).map_err(|what| StoreError::Copy { copy: kept.display().to_string(), from, to, what })?;
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
            found.push(KeptCopy { path: entry.path(), bytes: metadata.len(), modified: metadata.modified()? });
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
    let part = Part::create(path).map_err(|error| error.to_string())?;
    // By another connection, because none can copy inside of its own transaction. It sees what is committed.
    let from_db = connect(path).map_err(|error| error.to_string())?;
    Tx::new(&from_db).copy_into(&part.0).map_err(|error| error.to_string())?;
    check(&part.0, from)?;
    let synced = File::open(&part.0).and_then(|file| file.sync_all());
    synced
        .and_then(|()| publish(&part.0, kept))
        .and_then(|()| File::open(kept.parent().unwrap_or(Path::new(".")))?.sync_all())
        .map_err(|error| error.to_string())
}

/// A link is refused where the name is taken, which a rename is not. Some file systems have no links.
fn publish(part: &Path, kept: &Path) -> io::Result<()> {
    match fs::hard_link(part, kept) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists && kept.symlink_metadata().is_err() => {
            fs::rename(part, kept)
        }
        done => done,
    }
}

/// A copy that could not be read would be worse than none.
fn check(part: &Path, from: u32) -> Result<(), String> {
    let copied = rusqlite::Connection::open(part).map_err(|error| error.to_string())?;
    let version: u32 =
        copied.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(|error| error.to_string())?;
    match Tx::new(&copied).quick_check().map_err(|error| error.to_string())? {
        None if version == from => Ok(()),
        None => Err(format!("the copy has schema {version}")),
        Some(fault) => Err(format!("the copy is damaged ({fault})")),
    }
}

/// A file under a passing name, the owner's alone from its first byte on; it goes when this is dropped. The doctor knows the name,
/// for what a kill leaves.
struct Part(PathBuf);

impl Part {
    fn create(path: &Path) -> io::Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let part = path.with_file_name(format!("{name}.snapshot-{}-migrating", std::process::id()));
        // A process of the same number that was killed may have left one, and the write lock lets in one at a time.
        let _ = fs::remove_file(&part);
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part)?;
        Ok(Self(part))
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
