//! The folders that hold the user's and claw's own files: no tool server works in one of them, or
//! in a folder that holds one, unless somebody has chosen that. Owns where they are by the
//! environment, and the canonical form of a path. Must not know what a server makes of it.

use std::env;
use std::io;
use std::path::{Path, PathBuf};

/// One of these folders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    /// Canonical, whether it exists or not.
    pub path: PathBuf,
    /// As the object of a sentence.
    pub what: &'static str,
}

/// The user's home, and claw's: `CLAW_HOME`, else `.claw` in the user's.
pub fn homes() -> Vec<Home> {
    let user = env::home_dir().filter(|home| home.is_absolute());
    let named = env::var_os("CLAW_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let claw = named.or_else(|| Some(user.as_ref()?.join(".claw")));
    let home = |path: PathBuf, what| Home { path: canonical_even_if_missing(&path), what };
    [
        user.map(|path| home(path, "the user's home")),
        claw.map(|path| home(path, "claw's own files")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The canonical form of a path that need not exist yet: its longest existing part is resolved, the
/// rest is appended.
pub fn canonical_even_if_missing(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut missing = Vec::new();
    let mut existing = absolute.as_path();
    loop {
        match existing.canonicalize() {
            Ok(canonical) => {
                return missing.iter().rev().fold(canonical, |path, name| path.join(name));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // Unreadable: nobody can say more about it than its own words.
            Err(_) => return absolute,
        }
        match (existing.parent(), existing.file_name()) {
            (Some(parent), Some(name)) => {
                missing.push(name);
                existing = parent;
            }
            _ => return absolute,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_that_exists_is_resolved_and_the_rest_stays() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().canonicalize().unwrap().join("real");
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, dir.path().join("link")).unwrap();
        let path = canonical_even_if_missing(&dir.path().join("link/not/yet"));
        assert_eq!(path, real.join("not/yet"));
    }
}
