//! `.gitignore` and `.ignore` files, read through the capability directory. Owns which entries are
//! ignored; must not know what a walk is for.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::access::open_regular;
use crate::guard::Guard;

/// In the order in which they win: the later one overrides.
const FILE_NAMES: [&str; 2] = [".gitignore", ".ignore"];
/// A longer file is cut; it is no list of patterns that a person wrote.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// The rules that are in force in one directory: its own and those above it. They hold in and out
/// of git repositories.
#[derive(Default)]
pub struct IgnoreRules {
    levels: Vec<(PathBuf, Gitignore)>,
}

impl IgnoreRules {
    /// Adds the files of a directory whose path from the root is `real`. Returns whether there were
    /// any; then `pop` when the directory is left.
    pub fn push(&mut self, dir: &Dir, real: &Path, guard: &Guard) -> bool {
        let mut builder = GitignoreBuilder::new("");
        let mut any = false;
        for name in FILE_NAMES {
            let Ok((file, _)) = open_regular(dir, Path::new(name), name, guard) else { continue };
            let mut bytes = Vec::new();
            if file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).is_err() {
                continue;
            }
            for line in String::from_utf8_lossy(&bytes).lines() {
                // A line that is no glob ignores nothing, as in git.
                any |= builder.add_line(None, line).is_ok();
            }
        }
        let Some(rules) = any.then(|| builder.build().ok()).flatten() else { return false };
        self.levels.push((real.to_owned(), rules));
        true
    }

    pub fn pop(&mut self) {
        self.levels.pop();
    }

    /// Whether the entry `name` of a directory is ignored. The deepest file that says something
    /// decides. `.git` is always ignored.
    pub fn ignores(&self, real: &Path, name: &OsStr, is_dir: bool) -> bool {
        if name == ".git" {
            return true;
        }
        for (base, rules) in self.levels.iter().rev() {
            let Ok(relative) = real.strip_prefix(base) else { continue };
            let verdict = rules.matched(relative, is_dir);
            if !verdict.is_none() {
                return verdict.is_ignore();
            }
        }
        false
    }
}
