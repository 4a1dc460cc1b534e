//! One file of a login, its owner's alone: read, and replaced as a whole. Must not know what stands
//! in it.

use std::fs;
use std::io;
use std::path::Path;

use claw_kit::durable;
use serde::Serialize;
use serde::de::DeserializeOwned;

const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// `None` if there is none.
///
/// # Errors
/// It cannot be read, or is none of claw's.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, String> {
    let said = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(said(&error)),
        Ok(about) if !about.is_file() || about.len() > FILE_BYTES_MAX => {
            return Err(said(&"it is no file of claw's: remove it, and log in again"));
        }
        Ok(_) => {}
    }
    let text = fs::read_to_string(path).map_err(|error| said(&error))?;
    serde_json::from_str(&text)
        .map(Some)
        .map_err(|error| said(&format!("it is broken ({error}): remove it, and log in again")))
}

pub(super) fn write<T: Serialize>(path: &Path, what: &T) -> Result<(), String> {
    let failed =
        |error: &dyn std::fmt::Display| format!("{} cannot be written ({error})", path.display());
    let text = serde_json::to_string_pretty(what).map_err(|error| failed(&error))?;
    if let Some(folder) = path.parent() {
        durable::create_dirs(folder, 0o700).map_err(|error| failed(&error))?;
    }
    durable::replace(path, &text, 0o600).map_err(|error| failed(&error))
}

/// False if there was none.
pub(super) fn remove(path: &Path) -> Result<bool, String> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(format!("{} cannot be removed ({error})", path.display())),
    }
}
