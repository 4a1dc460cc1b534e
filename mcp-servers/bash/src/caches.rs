//! The places in the HOME of commands that hold caches alone: what a command that nobody was asked
//! about, or one at level `write`, may change of it. All else in a HOME is obeyed by programs as
//! soon as it is there (`.bashrc`, `.gitconfig`, `.npmrc`, `usercustomize.py`). Must not know who
//! keeps to it.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// What package managers and compilers fill all day. No settings of the user's and nothing on a
/// search path, but programs for package managers: what `npx`, corepack and Gradle's wrapper have
/// fetched, and sources that a later build compiles. `docs/box.md` says so.
const FOLDERS: &[&str] = &[
    ".cache",
    ".cargo/registry",
    ".cargo/git",
    "go",
    ".gradle/.tmp",
    ".gradle/caches",
    ".gradle/daemon",
    ".gradle/native",
    ".gradle/notifications",
    ".gradle/workers",
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

/// Makes what is missing, and gives what is there. Must be called inside of the box. What is a
/// link, behind one or of another kind is left out, because it can lead to the rest: a sentence
/// says so. Whoever opens one of these later must not follow links either.
pub fn prepare(home: &Path) -> (Vec<PathBuf>, Option<String>) {
    let folder = |path: &Path| fs::create_dir_all(path);
    let file = |path: &Path| OpenOptions::new().create(true).append(true).open(path).map(|_| ());
    let (mut open, mut others) = (Vec::new(), Vec::new());
    for below in FOLDERS {
        let place = made(home, below, folder, fs::FileType::is_dir);
        place.map_or_else(|| others.push(*below), |path| open.push(path));
    }
    for below in LOCKS {
        let place = made(home, below, file, fs::FileType::is_file);
        place.map_or_else(|| others.push(*below), |path| open.push(path));
    }
    let told = (!others.is_empty()).then(|| {
        format!(
            "In HOME this is a link or of another kind than a cache, so the command could change nothing in it: {}. A command with \
             needs: \"network\" can remove it.",
            others.join(", ")
        )
    });
    (open, told)
}

fn made(
    home: &Path,
    below: &str,
    make: impl Fn(&Path) -> io::Result<()>,
    is_right: impl Fn(&fs::FileType) -> bool,
) -> Option<PathBuf> {
    let path = home.join(below);
    if fs::symlink_metadata(&path).is_err() {
        make(&path).ok()?;
    }
    let meta = fs::symlink_metadata(&path).ok().filter(|meta| is_right(&meta.file_type()));
    meta.and_then(|_| path.canonicalize().ok()).filter(|real| *real == path)
}

/// Whether this path, relative to a HOME, is such a place or lies in one.
pub fn hold(below: &Path) -> bool {
    FOLDERS.iter().chain(LOCKS).any(|place| below.starts_with(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_made_and_what_is_something_else_is_left_out_and_told() {
        let base = tempfile::tempdir().unwrap();
        let home = base.path().canonicalize().unwrap();
        let all = FOLDERS.len() + LOCKS.len();
        let (open, told) = prepare(&home);
        assert_eq!((open.len(), told), (all, None));
        fs::remove_dir(home.join("go")).unwrap();
        std::os::unix::fs::symlink(&home, home.join("go")).unwrap();
        fs::remove_dir(home.join(".cache")).unwrap();
        fs::write(home.join(".cache"), "").unwrap();
        fs::remove_dir_all(home.join(".gradle")).unwrap();
        std::os::unix::fs::symlink(&home, home.join(".gradle")).unwrap();
        let of_gradle = FOLDERS.iter().filter(|below| below.starts_with(".gradle/")).count();
        let (open, told) = prepare(&home);
        assert_eq!(open.len(), all - 2 - of_gradle, "{open:?}");
        let told = told.unwrap();
        assert!(told.contains(": .cache, go, .gradle/"), "{told}");
    }

    #[test]
    fn what_a_shell_or_a_program_obeys_in_home_is_in_no_cache() {
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
