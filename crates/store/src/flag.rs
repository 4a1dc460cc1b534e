//! The stop switch as a file, for a disk that is full or can only be read: any of a few places
//! holds it, and everybody looks at all of them. Owns the places. Must not know what stops.

use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::{Store, StoreError, Tx};
use claw_domain::canonical::sha256_hex;
use claw_domain::escape;

/// In the home.
const NAME: &str = "stop-switch";
/// The most of it that is read, in bytes: who turned it on.
const BYTES_MAX: u64 = 200;

/// Beside the database, then in memory, where only this user and the system's owner count. What
/// lies in memory is gone after a restart of the system.
fn places(db: &Path) -> Vec<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let home: String = sha256_hex(db.as_os_str().as_encoded_bytes()).chars().take(16).collect();
    let beside = db.with_file_name(NAME);
    let run = PathBuf::from(format!("/run/user/{user}/claw-{NAME}-{home}"));
    let memory = PathBuf::from(format!("/dev/shm/claw-{NAME}-{user}-{home}"));
    vec![beside, run, memory]
}

/// Turns the switch on for the store at `db` without writing to the store. Gives back where it is
/// kept.
///
/// # Errors
/// None of the places takes a file. The fault of the last one.
pub fn raise(db: &Path, by: &str) -> io::Result<PathBuf> {
    let mut fault = io::Error::from(io::ErrorKind::NotFound);
    for place in places(db) {
        if ours(&place) {
            return Ok(place);
        }
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&place) {
            Ok(mut file) => {
                // An empty file is enough.
                let _ = file.write_all(by.as_bytes()).and_then(|()| file.sync_all());
                return Ok(place);
            }
            Err(error) => fault = error,
        }
    }
    Err(fault)
}

/// Whether a place of [`raise`] is in memory, so that a restart of the machine ends it.
pub fn is_in_memory(place: &Path) -> bool {
    // Beside the database it has its plain name.
    !place.ends_with(NAME)
}

/// Who turned it on that way, if anybody did.
pub fn raised(db: &Path) -> Option<String> {
    let place = places(db).into_iter().find(|place| ours(place))?;
    let mut by = Vec::new();
    let read = fs::File::open(&place).and_then(|file| file.take(BYTES_MAX).read_to_end(&mut by));
    let by = escape::visible(String::from_utf8_lossy(&by).trim());
    Some(if read.is_ok() && !by.is_empty() { by } else { place.display().to_string() })
}

/// Turns it off in all places. True if it was on in one.
///
/// # Errors
/// A file that cannot be removed, named.
pub fn lower(db: &Path) -> io::Result<bool> {
    let mut was_on = false;
    for place in places(db).into_iter().filter(|place| ours(place)) {
        fs::remove_file(&place).map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", place.display()))
        })?;
        was_on = true;
    }
    Ok(was_on)
}

/// A plain file of this user or of root. Somebody else's is none.
fn ours(place: &Path) -> bool {
    let user = rustix::process::geteuid().as_raw();
    place
        .symlink_metadata()
        .is_ok_and(|there| there.is_file() && (there.uid() == user || there.uid() == 0))
}

impl Tx<'_> {
    /// See [`raised`].
    pub(super) fn panic_flag(&self) -> Option<String> {
        raised(Path::new(self.conn.path()?))
    }

    pub(super) fn lower_panic_flag(&self) -> io::Result<()> {
        self.conn.path().map_or(Ok(false), |db| lower(Path::new(db))).map(drop)
    }
}

impl Store {
    /// Turns the stop switch on where the store cannot be written. Gives back where that is kept.
    ///
    /// # Errors
    /// No place takes it.
    pub fn raise_panic_flag(&self, by: &str) -> io::Result<PathBuf> {
        let place = raise(self.path(), by)?;
        self.tell_others();
        Ok(place)
    }

    /// Turns it off where the store cannot be written, if nothing else holds it on. False if the
    /// store does.
    ///
    /// # Errors
    /// The store cannot be read, or a file cannot be removed.
    pub fn lower_panic_flag(&self) -> Result<bool, StoreError> {
        if self.read(|tx| tx.panic_in_store())?.is_some() {
            return Ok(false);
        }
        lower(self.path()).map_err(|error| {
            StoreError::Commit(format!("a file keeps the stop switch on: {error}"))
        })?;
        Ok(true)
    }

    /// Whether it was turned on that way. Needs no look into the store.
    pub fn panic_flag_is_up(&self) -> bool {
        raised(self.path()).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_is_seen_wherever_it_could_be_put_and_goes_from_everywhere() {
        let dir = tempfile::tempdir().unwrap();
        let db = dir.path().join("claw.db");
        assert_eq!(raised(&db), None);
        assert_eq!(raise(&db, "ann\u{1b}[2J").unwrap(), dir.path().join(NAME));
        assert!(
            raised(&db).unwrap().starts_with("ann") && !raised(&db).unwrap().contains('\u{1b}')
        );
        lower(&db).unwrap();
        assert_eq!(raised(&db), None);
        // A home that takes no file: the next place holds it.
        fs::create_dir(dir.path().join(NAME)).unwrap();
        if let Ok(place) = raise(&db, "ann") {
            assert!(!place.starts_with(dir.path()) && raised(&db).is_some());
            lower(&db).unwrap();
            assert!(!place.exists() && raised(&db).is_none());
        }
    }
}
