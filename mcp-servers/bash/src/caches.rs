//! The places in the HOME of commands that hold caches alone: what a command that nobody was asked
//! about, or one at level `write`, may change of it. All else in a HOME is obeyed by programs as
//! soon as it is there (`.bashrc`, `.gitconfig`, `.npmrc`, `usercustomize.py`). Must not know who
//! keeps to it.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// What package managers and compilers fill all day, and nothing that is settings, a program on a
/// search path or a plugin.
const FOLDERS: &[&str] = &[
    ".cache",
    ".cargo/registry",
    ".cargo/git",
    "go",
    ".gradle/caches",
    ".gradle/daemon",
    ".gradle/native",
    ".gradle/wrapper",
    ".local/share/pnpm/store",
    ".yarn/berry",
    ".bun/install/cache",
    ".nuget/packages",
    ".m2/repository",
    ".ivy2/cache",
];

/// With these cargo keeps two of its processes from unpacking the same crate.
const LOCKS: &[&str] = &[".cargo/.package-cache", ".cargo/.package-cache-mutate"];

/// For a person or a model.
pub const IN_WORDS: &str = "~/.cache, ~/.cargo/registry, ~/.cargo/git, ~/go and the like";

/// Makes what is missing, and gives what is there. Must be called inside of the box. What is a link
/// or behind one is left out: it can lead to the rest.
pub fn prepare(home: &Path) -> Vec<PathBuf> {
    let folders = FOLDERS.iter().map(|below| made(home, below, |path| fs::create_dir_all(path)));
    let locks = LOCKS.iter().map(|below| {
        made(home, below, |path| {
            OpenOptions::new().create(true).append(true).open(path).map(|_| ())
        })
    });
    folders.chain(locks).flatten().collect()
}

fn made(home: &Path, below: &str, make: impl Fn(&Path) -> io::Result<()>) -> Option<PathBuf> {
    let path = home.join(below);
    if fs::symlink_metadata(&path).is_err() {
        make(&path).ok()?;
    }
    path.canonicalize().ok().filter(|real| *real == path)
}

/// Whether this path, relative to a HOME, is such a place or lies in one.
pub fn hold(below: &Path) -> bool {
    FOLDERS.iter().chain(LOCKS).any(|place| below.starts_with(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_made_and_what_is_a_link_is_left_out() {
        let base = tempfile::tempdir().unwrap();
        let home = base.path().canonicalize().unwrap();
        assert_eq!(prepare(&home).len(), FOLDERS.len() + LOCKS.len());
        fs::remove_dir(home.join("go")).unwrap();
        std::os::unix::fs::symlink(&home, home.join("go")).unwrap();
        fs::remove_dir_all(home.join(".gradle")).unwrap();
        std::os::unix::fs::symlink(&home, home.join(".gradle")).unwrap();
        let left = prepare(&home);
        assert_eq!(left.len(), FOLDERS.len() + LOCKS.len() - 5, "{left:?}");
    }

    #[test]
    fn no_place_is_one_from_which_something_is_obeyed() {
        for obeyed in [
            "",
            ".bashrc",
            ".gitconfig",
            ".config/git/config",
            ".npmrc",
            ".cargo/config.toml",
            ".cargo/bin/cargo-fmt",
            ".gradle/init.d/x.gradle",
            ".local/lib/python3.11/site-packages/usercustomize.py",
            ".local/bin/git",
            ".cachet/x",
        ] {
            assert!(!hold(Path::new(obeyed)), "{obeyed}");
        }
        assert!(hold(Path::new(".cargo/registry/src/x")) && hold(Path::new(".cache")));
    }
}
