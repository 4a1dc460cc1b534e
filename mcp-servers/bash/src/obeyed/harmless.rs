//! What git makes by itself among the files that others obey on sight, and that starts nothing: it
//! may stay where a command has made it. Must not know who looks, or why.

use std::fs;
use std::path::Path;

use crate::small_file;

/// A repository that is new holds these keys, and `*.sample` hooks that git does not run.
const HARMLESS_KEYS: &[&str] = &[
    "repositoryformatversion",
    "filemode",
    "bare",
    "logallrefupdates",
    "ignorecase",
    "precomposeunicode",
    "symlinks",
];
const CONFIG_BYTES_MAX: u64 = 4096;
/// Of the steps of a rebase.
const STEPS_BYTES_MAX: u64 = 1 << 20;
/// Instructions of a rebase that run nothing.
const HARMLESS_STEPS: &[&str] = &[
    "pick", "p", "reword", "r", "edit", "e", "squash", "s", "fixup", "f", "drop", "d", "break",
    "b", "noop",
];
/// What git writes into `.git/worktrees/NAME/commondir`.
const COMMON_DIR_OF_WORKTREES: &str = "../..";

/// What `git init` and `git worktree add` make. What cannot be read is not harmless.
pub fn is_harmless(path: &Path) -> bool {
    if path.ends_with(".git") {
        return is_own_worktree(path);
    }
    if path.ends_with("commondir") {
        return holds_line(path, COMMON_DIR_OF_WORKTREES);
    }
    if path.ends_with(".git/rebase-merge") {
        let steps = small_file::read(&path.join("git-rebase-todo"), STEPS_BYTES_MAX);
        let word = |line: &str| line.split_whitespace().next().unwrap_or("#").to_owned();
        return fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
            && steps.is_some_and(|text| {
                text.lines()
                    .map(word)
                    .all(|word| word.starts_with('#') || HARMLESS_STEPS.contains(&word.as_str()))
            });
    }
    if path.ends_with(".git/hooks") {
        let entries = fs::read_dir(path).map(|entries| entries.flatten().collect::<Vec<_>>());
        return entries.is_ok_and(|entries| {
            entries.iter().all(|entry| entry.file_name().to_string_lossy().ends_with(".sample"))
        });
    }
    path.ends_with(".git/config")
        && small_file::read(path, CONFIG_BYTES_MAX)
            .is_some_and(|text| text.lines().all(is_harmless_line))
}

/// A file `.git` that leads to a further working tree of a repository here.
fn is_own_worktree(path: &Path) -> bool {
    let text = small_file::read(path, CONFIG_BYTES_MAX).unwrap_or_default();
    let Some(target) = text.trim_end().strip_prefix("gitdir: ").map(Path::new) else {
        return false;
    };
    let worktrees = target.parent().filter(|parent| parent.ends_with(".git/worktrees"));
    let repository = worktrees.and_then(Path::parent).and_then(Path::parent);
    repository.is_some_and(|repository| path.starts_with(repository))
        && holds_line(&target.join("commondir"), COMMON_DIR_OF_WORKTREES)
}

fn holds_line(path: &Path, line: &str) -> bool {
    small_file::read(path, CONFIG_BYTES_MAX).is_some_and(|text| text.trim_end() == line)
}

fn is_harmless_line(line: &str) -> bool {
    let line = line.trim();
    let key = line.split('=').next().unwrap_or_default().trim();
    line.is_empty() || line == "[core]" || HARMLESS_KEYS.contains(&key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_is_harmless_by_each_of_its_lines() {
        for odd in ["[core] fsmonitor = x", "[alias]", "bare", "[core]\nhookspath=x"] {
            assert_eq!(odd.lines().all(is_harmless_line), odd == "bare", "{odd}");
        }
    }
}
