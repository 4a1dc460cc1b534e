//! Where the workspace is, and that it does not hold claw's own files. Must not know what tools do
//! there.

use std::path::{Path, PathBuf};

use super::error::ConfigError;
use super::home::{Home, create_dir};

/// Makes the workspace where it is missing, and gives back its real path.
///
/// # Errors
/// A workspace that holds claw's home, or that lies in the home beside its `workspace` folder: the
/// tools could then reach rules, store and keys.
pub(super) fn prepare(written: &Path, place: &str, home: &Home) -> Result<PathBuf, ConfigError> {
    // Checked before it is made, as far as it is there, and again on the real path.
    refuse_overlap(&real_part(written), place, home)?;
    create_dir(written).map_err(|error| of_the_setting(error, place))?;
    let real = written.canonicalize().map_err(|error| {
        of_the_setting(ConfigError::io(written, "this folder cannot be opened", &error), place)
    })?;
    refuse_overlap(&real, place, home)?;
    Ok(real)
}

/// Names the setting before the folder: a person looks for what was written, not for what came of
/// it.
fn of_the_setting(error: ConfigError, place: &str) -> ConfigError {
    ConfigError {
        message: format!("{}: {}", error.place, error.message),
        place: place.to_owned(),
        ..error
    }
}

pub(super) fn refuse_overlap(
    workspace: &Path,
    place: &str,
    home: &Home,
) -> Result<(), ConfigError> {
    let next =
        format!("Choose another folder, or leave it out and use {}", home.workspace().display());
    if home.root().starts_with(workspace) {
        let message = format!(
            "the workspace {} holds claw's home, {}",
            workspace.display(),
            home.root().display()
        );
        return Err(ConfigError::new(place, message, next));
    }
    if workspace.starts_with(home.root()) && !workspace.starts_with(home.workspace()) {
        let message = format!("the workspace {} lies among claw's own files", workspace.display());
        return Err(ConfigError::new(place, message, next));
    }
    Ok(())
}

/// Our servers do not start in such a workspace: a command could not be kept from what lies there.
///
/// # Errors
/// A workspace that is the user's whole home, or holds it.
pub(super) fn refuse_user_home(
    workspace: &Path,
    place: &str,
    user_home: Option<&Path>,
) -> Result<(), ConfigError> {
    let user_home = user_home.and_then(|home| home.canonicalize().ok());
    let Some(user_home) = user_home.filter(|home| home.starts_with(workspace)) else {
        return Ok(());
    };
    let message = format!(
        "the workspace {} holds your whole home, {}",
        workspace.display(),
        user_home.display()
    );
    Err(ConfigError::new(place, message, "Name a folder in it: every file could be changed"))
}

/// The path with the part of it that exists made real.
pub(super) fn real_part(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let existing =
        absolute.ancestors().find_map(|ancestor| Some((ancestor, ancestor.canonicalize().ok()?)));
    match existing {
        Some((ancestor, real)) => match absolute.strip_prefix(ancestor) {
            Ok(rest) if rest.as_os_str().is_empty() => real,
            Ok(rest) => real.join(rest),
            Err(_) => absolute,
        },
        None => absolute,
    }
}
