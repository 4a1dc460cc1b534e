//! What git goes by in a workspace without the name giving it away: the repositories of submodules,
//! folders of hooks and further configuration that a configuration names, and the `.git` of each
//! submodule, wherever it lies. Files of git are read as data; git itself is never run. Must not
//! know what becomes of the paths.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Larger files of configuration are not read, in bytes.
const CONFIG_BYTES_MAX: u64 = 1 << 20;
/// So many files of configuration are read for one command.
const CONFIGS_MAX: usize = 200;
/// Into how many folders of `.git/modules` is looked.
const MODULE_FOLDERS_MAX: usize = 4000;
/// Folders of a repository that hold nothing that git obeys.
const STORES: &[&str] = &["objects", "refs", "logs", "lfs"];
/// What git runs, where the folder of hooks is one that cannot be held as a whole.
const HOOKS: &[&str] = &[
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "reference-transaction",
    "push-to-checkout",
    "pre-auto-gc",
    "post-rewrite",
    "sendemail-validate",
    "fsmonitor-watchman",
    "post-index-change",
];

/// All folders below `.git/modules`, itself too, in which a repository may lie: its name may hold
/// slashes, and it may have submodules itself.
pub fn modules(modules: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![modules.to_owned()];
    while let Some(folder) = waiting.pop().filter(|_| found.len() < MODULE_FOLDERS_MAX) {
        let is_repository = folder.join("HEAD").exists();
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let is_store = || {
                let name = entry.file_name();
                is_repository
                    && STORES.iter().any(|store| name == *store)
                    && !entry.path().join("HEAD").exists()
            };
            if is_dir && !is_store() {
                waiting.push(entry.path());
            }
        }
        found.push(folder);
    }
    found
}

/// What the configuration in `held` names inside of the workspace, and the `.git` of each submodule
/// of these repositories.
pub fn of<'p>(
    workspace: &Path,
    repositories: Vec<PathBuf>,
    held: impl Iterator<Item = &'p PathBuf>,
) -> BTreeSet<PathBuf> {
    let mut named = BTreeSet::new();
    let mut keep = |path: PathBuf| {
        let path = plain(&path);
        if path.starts_with(workspace) && path != workspace {
            named.insert(path);
        }
    };
    for tree in &repositories {
        for (key, path) in pairs(&tree.join(".gitmodules")) {
            if key == "submodule.path" {
                keep(tree.join(path).join(".git"));
            }
        }
    }
    let is_config = |path: &&PathBuf| path.ends_with("config") || path.ends_with("config.worktree");
    let mut waiting: Vec<PathBuf> = held.filter(is_config).cloned().collect();
    let mut read = BTreeSet::new();
    while let Some(config) = waiting.pop().filter(|_| read.len() < CONFIGS_MAX) {
        if !read.insert(config.clone()) {
            continue;
        }
        let folder = config.parent().unwrap_or(workspace).to_owned();
        let pairs = pairs(&config);
        let of_module = pairs.iter().find(|(key, _)| key == "core.worktree");
        let of_module = of_module.map(|(_, path)| folder.join(path));
        if let Some(tree) = &of_module {
            keep(tree.join(".git"));
        }
        for (key, value) in &pairs {
            match key.as_str() {
                "core.hookspath" => {
                    // Relative to where a hook runs, which is the top of a working tree.
                    let mut trees = repositories.clone();
                    trees.extend(of_module.clone());
                    for hooks in trees.iter().map(|tree| plain(&tree.join(value))) {
                        if workspace.starts_with(&hooks) || trees.contains(&hooks) {
                            HOOKS.iter().for_each(|hook| keep(hooks.join(hook)));
                        } else {
                            keep(hooks);
                        }
                    }
                }
                "include.path" | "includeif.path" => {
                    let included = plain(&folder.join(value));
                    if included.starts_with(workspace) {
                        keep(included.clone());
                        waiting.push(included);
                    }
                }
                _ => {}
            }
        }
    }
    named
}

/// The keys and values of a file of configuration, without subsections, in small letters:
/// `submodule.path`. Lines that git would refuse are passed over.
fn pairs(path: &Path) -> Vec<(String, String)> {
    let is_small =
        fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() <= CONFIG_BYTES_MAX);
    let text = is_small.then(|| fs::read(path).ok()).flatten().unwrap_or_default();
    let text = String::from_utf8_lossy(&text).replace("\\\r\n", "").replace("\\\n", "");
    let (mut section, mut found) = (String::new(), Vec::new());
    for line in text.trim_start_matches('\u{feff}').lines() {
        let mut line = line.trim();
        if let Some((head, rest)) = line.strip_prefix('[').and_then(section_of) {
            let name = head.split([' ', '"', '.', '\t']).next().unwrap_or_default();
            section = name.to_lowercase();
            line = rest.trim();
        }
        if let Some((key, value)) = line.split_once('=') {
            let key = format!("{section}.{}", key.trim().to_lowercase());
            found.push((key, value_of(value.trim())));
        }
    }
    found
}

/// The inside of a section's brackets, and what stands behind them.
fn section_of(line: &str) -> Option<(&str, &str)> {
    let mut quoted = false;
    let end = line.find(|c| {
        quoted ^= c == '"';
        c == ']' && !quoted
    })?;
    Some((line.get(..end)?, line.get(end + 1..)?))
}

/// Without its quotation marks, escapes and comment.
fn value_of(text: &str) -> String {
    let (mut value, mut quoted, mut letters) = (String::new(), false, text.chars());
    while let Some(c) = letters.next() {
        match c {
            '"' => quoted = !quoted,
            '\\' => value.extend(letters.next()),
            '#' | ';' if !quoted => break,
            c => value.push(c),
        }
    }
    value.trim_end().to_owned()
}

/// Without `.` and `..`, as it is written: a link on the way is looked at where the path is held.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configuration_is_read_as_git_reads_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config");
        fs::write(
            &path,
            "[core] hooksPath = .githooks ; mine [x]\n[include]\n\tPath = \"a b#c\"\n\
             [includeIf \"gitdir:x].y\"]\npath=o\\\nne\n[submodule \"libs/foo\"]\npath = vendor/foo\n",
        )
        .unwrap();
        let found = pairs(&path);
        let expected = [
            ("core.hookspath", ".githooks"),
            ("include.path", "a b#c"),
            ("includeif.path", "one"),
            ("submodule.path", "vendor/foo"),
        ];
        assert_eq!(found, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
    }
}
