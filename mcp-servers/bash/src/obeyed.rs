//! What other programs run or obey on sight (`claw_kit::obeyed`), as it lies in one workspace:
//! found before a command that is kept off it, so that it can be mounted read-only, and compared
//! afterwards, because what is not there yet cannot be. Must not know how a command is run.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use claw_kit::obeyed::{Held, row};

use crate::git_names;
use crate::level::Level;

/// Into how many folders is looked, the nearest first: this is done for each command, and a folder
/// takes about 6 µs. What lies in others is not held.
const FOLDERS_MAX: usize = 1000;
/// So many more afterwards: a command that makes folders does not keep those from being looked into
/// that were there.
const NEW_FOLDERS_MAX: usize = 8 * FOLDERS_MAX;
/// Folders of others, full of what nobody obeys there. By name alone: whatever says so in a file
/// can be written by a command.
const PASSED_OVER: &[&str] = &[
    "node_modules",
    "bower_components",
    "target",
    "vendor",
    "dist",
    "site-packages",
    "__pycache__",
    "Pods",
];
/// Said where there are more folders.
const NOT_ALL: &str = "This workspace has more folders than are looked through for what other programs run or obey on sight (1000, the nearest first), \
     so such files in the others are not kept as they are.";
const NOT_ALL_NEW: &str = "It has made more folders than are looked through for what other programs run or obey on sight; such files in them were not \
     set aside.";
/// Behind the name of what was set aside.
const ASIDE: &str = "set-aside";
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
/// Instructions of a rebase that run nothing.
const HARMLESS_STEPS: &[&str] = &[
    "pick", "p", "reword", "r", "edit", "e", "squash", "s", "fixup", "f", "drop", "d", "break",
    "b", "noop",
];
/// What git writes into `.git/worktrees/NAME/commondir`.
const COMMON_DIR_OF_WORKTREES: &str = "../..";

/// What there was before the command.
pub struct Obeyed {
    workspace: PathBuf,
    found: BTreeMap<PathBuf, Identity>,
    /// Into how many folders was looked.
    folders: usize,
    /// Those that were seen and not looked into: nobody knows what is new there afterwards.
    left: BTreeSet<PathBuf>,
}

/// What a path is, and what a link at its end leads to.
#[derive(PartialEq, Eq)]
struct Identity {
    own: Number,
    behind: Option<Number>,
}

/// A file that was replaced is another one, also where its number is given out again: then it was
/// born later.
type Number = (u64, u64, Option<SystemTime>);

impl Identity {
    /// `None` where nothing is there.
    fn of(path: &Path) -> Option<Self> {
        let number = |meta: &Metadata| (meta.dev(), meta.ino(), meta.created().ok());
        let own = fs::symlink_metadata(path).ok()?;
        let behind = own.is_symlink().then(|| fs::metadata(path).ok()).flatten();
        Some(Self { own: number(&own), behind: behind.as_ref().map(number) })
    }
}

impl Obeyed {
    pub fn below(workspace: &Path) -> Self {
        Self::find(workspace, FOLDERS_MAX, &BTreeSet::new())
    }

    /// What is to be said before anything has changed.
    pub fn is_not_all(&self) -> Option<&'static str> {
        (!self.left.is_empty()).then_some(NOT_ALL)
    }

    fn find(workspace: &Path, folders_max: usize, passed: &BTreeSet<PathBuf>) -> Self {
        let (mut found, mut left) = (BTreeMap::new(), BTreeSet::new());
        let mut repositories = Vec::new();
        let mut waiting = VecDeque::from([workspace.to_owned()]);
        let mut folders = 0;
        while let Some(folder) = waiting.pop_front() {
            if passed.contains(&folder) {
                continue;
            }
            folders += 1;
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if let Some(row) = row(&name) {
                    add(&mut found, entry.path(), is_dir, row.held);
                    if row.name == ".git" {
                        repositories.push(folder.clone());
                    }
                }
                if !is_dir || name.starts_with('.') || PASSED_OVER.contains(&&*name) {
                    continue;
                }
                if folders + waiting.len() < folders_max {
                    waiting.push_back(entry.path());
                } else {
                    left.insert(entry.path());
                }
            }
        }
        for named in git_names::of(workspace, repositories, found.keys()) {
            let is_dir = fs::symlink_metadata(&named).is_ok_and(|meta| meta.is_dir());
            let row = named.file_name().and_then(|name| row(&name.to_string_lossy()));
            add(&mut found, named, is_dir, row.map_or(Held::Whole, |row| row.held));
        }
        Self { workspace: workspace.to_owned(), found, folders, left }
    }

    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.found.keys().map(PathBuf::as_path)
    }

    /// The folders between the workspace and what was found, each before those below it.
    pub fn folders_on_the_way(&self, workspace: &Path) -> BTreeSet<PathBuf> {
        let ways = self.paths().flat_map(|path| path.ancestors().skip(1));
        ways.filter(|folder| folder.starts_with(workspace) && *folder != workspace)
            .map(Path::to_owned)
            .collect()
    }

    /// What has appeared meanwhile gets another name, so that nobody obeys it. One sentence about
    /// it, if there is something.
    pub fn set_aside_what_is_new(&self, level: Level) -> Option<String> {
        let mut said = Vec::new();
        let folders_max = self.folders + self.left.len() + NEW_FOLDERS_MAX;
        let now = Self::find(&self.workspace, folders_max, &self.left);
        for (path, identity) in now.found {
            if self.found.get(&path) == Some(&identity) || is_harmless(&path) {
                continue;
            }
            let name = self.shown(&path);
            match free_name(&path).map(|aside| fs::rename(&path, &aside).map(|()| aside)) {
                Some(Ok(aside)) => said.push(format!("{name} is now {}", self.shown(&aside))),
                Some(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => {}
                Some(Err(error)) => said.push(format!("{name} is still there ({error})")),
                None => said.push(format!("{name} is still there (no name is free for it)")),
            }
        }
        let not_all = (!now.left.is_empty()).then(|| NOT_ALL_NEW.to_owned());
        let aside = (!said.is_empty()).then(|| {
            let said = said.join(", ");
            match level {
                Level::Network => format!(
                    "This command ran without a question, and such a one makes nothing that other \
                     programs run or obey on sight, so that was set aside: {said}. If it has to be \
                     there, move it back with the file tool, which asks the owner."
                ),
                _ => format!(
                    "Level `write` makes nothing that other programs run or obey on sight, so that \
                     was set aside: {said}. Call again with needs: \"network\" if it has to be there."
                ),
            }
        });
        let told: Vec<String> = aside.into_iter().chain(not_all).collect();
        (!told.is_empty()).then(|| told.join("\n"))
    }

    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.workspace).unwrap_or(path).display().to_string()
    }
}

/// Adds what of this entry is obeyed.
fn add(found: &mut BTreeMap<PathBuf, Identity>, path: PathBuf, is_dir: bool, held: Held) {
    let mut put = |path: PathBuf| {
        if let Some(identity) = Identity::of(&path) {
            found.insert(path, identity);
        }
    };
    if let Held::Parts(parts) = held {
        places(&path, parts).into_iter().for_each(&mut put);
    }
    // A file in the place of `.git` names a repository elsewhere, and a link leads to one.
    if held == Held::Whole || !is_dir {
        put(path);
    }
}

/// The paths that the parts of a row of the table stand for. What lies at any depth is looked for
/// once.
fn places(folder: &Path, parts: &[&str]) -> Vec<PathBuf> {
    let mut at_any_depth = BTreeMap::new();
    let mut places = Vec::new();
    for part in parts {
        if let Some((before, after)) = part.split_once("**/") {
            let below = || git_names::modules(&folder.join(before));
            let folders = at_any_depth.entry(before).or_insert_with(below);
            places.extend(folders.iter().map(|folder| folder.join(after)));
        } else if let Some((before, after)) = part.split_once("*/") {
            let entries = fs::read_dir(folder.join(before)).into_iter().flatten().flatten();
            places.extend(entries.map(|entry| entry.path().join(after)));
        } else {
            places.push(folder.join(part));
        }
    }
    places
}

/// What `git init` and `git worktree add` make.
fn is_harmless(path: &Path) -> bool {
    if path.ends_with(".git") {
        return is_own_worktree(path);
    }
    if path.ends_with("commondir") {
        return holds_line(path, COMMON_DIR_OF_WORKTREES);
    }
    if path.ends_with(".git/rebase-merge") {
        let steps = fs::read_to_string(path.join("git-rebase-todo"));
        let word = |line: &str| line.split_whitespace().next().unwrap_or("#").to_owned();
        return fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
            && steps.is_ok_and(|text| {
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
    let is_small = || {
        fs::symlink_metadata(path)
            .is_ok_and(|meta| meta.is_file() && meta.len() <= CONFIG_BYTES_MAX)
    };
    path.ends_with(".git/config")
        && is_small()
        && fs::read_to_string(path).is_ok_and(|text| text.lines().all(is_harmless_line))
}

/// A file `.git` that leads to a further working tree of a repository here.
fn is_own_worktree(path: &Path) -> bool {
    let text = fs::read_to_string(path).unwrap_or_default();
    let Some(target) = text.trim_end().strip_prefix("gitdir: ").map(Path::new) else {
        return false;
    };
    let worktrees = target.parent().filter(|parent| parent.ends_with(".git/worktrees"));
    let repository = worktrees.and_then(Path::parent).and_then(Path::parent);
    let plain = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file());
    plain
        && repository.is_some_and(|repository| path.starts_with(repository))
        && holds_line(&target.join("commondir"), COMMON_DIR_OF_WORKTREES)
}

fn holds_line(path: &Path, line: &str) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() <= CONFIG_BYTES_MAX)
        && fs::read_to_string(path).is_ok_and(|text| text.trim_end() == line)
}

fn is_harmless_line(line: &str) -> bool {
    let line = line.trim();
    let key = line.split('=').next().unwrap_or_default().trim();
    line.is_empty() || line == "[core]" || HARMLESS_KEYS.contains(&key)
}

fn free_name(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let names = (1..1000).map(|number| match number {
        1 => path.with_file_name(format!("{name}.{ASIDE}")),
        _ => path.with_file_name(format!("{name}.{ASIDE}-{number}")),
    });
    names.into_iter().find(|candidate| fs::symlink_metadata(candidate).is_err())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("one/two/three/.git/hooks")).unwrap();
        fs::create_dir_all(dir.path().join("one/.git/hooks")).unwrap();
        fs::write(dir.path().join("one/AGENTS.md"), "").unwrap();
        dir
    }

    #[test]
    fn what_is_obeyed_is_found_and_so_are_the_folders_on_the_way() {
        let dir = workspace();
        let found = Obeyed::below(dir.path());
        let shown: Vec<String> = found.paths().map(|path| found.shown(path)).collect();
        assert_eq!(shown, ["one/.git/hooks", "one/AGENTS.md", "one/two/three/.git/hooks"]);
        let git = dir.path().join("one/.git");
        fs::create_dir_all(git.join("modules/sub")).unwrap();
        fs::write(git.join("modules/sub/config"), "").unwrap();
        std::os::unix::fs::symlink("nowhere", dir.path().join(".ENVRC")).unwrap();
        fs::write(dir.path().join("one/two/.git"), "gitdir: ../x").unwrap();
        let more = Obeyed::below(dir.path());
        let more: Vec<String> = more.paths().map(|path| more.shown(path)).collect();
        for path in [".ENVRC", "one/.git/modules/sub/config", "one/two/.git"] {
            assert!(more.contains(&path.to_owned()), "{path}: {more:?}");
        }
        let folders = found.folders_on_the_way(dir.path());
        let shown: Vec<String> = folders.iter().map(|path| found.shown(path)).collect();
        let deep = ["one/two", "one/two/three", "one/two/three/.git"];
        assert_eq!(shown, [&["one", "one/.git"][..], &deep].concat());
    }

    #[test]
    fn what_is_new_is_set_aside_and_what_was_there_is_not() {
        let dir = workspace();
        let before = Obeyed::below(dir.path());
        assert_eq!(before.set_aside_what_is_new(Level::Write), None);
        fs::write(dir.path().join(".envrc"), "x").unwrap();
        fs::write(dir.path().join(".envrc.set-aside"), "older").unwrap();
        fs::remove_file(dir.path().join("one/AGENTS.md")).unwrap();
        std::os::unix::fs::symlink("/", dir.path().join("one/AGENTS.md")).unwrap();
        let said = before.set_aside_what_is_new(Level::Write).unwrap();
        assert!(said.contains(".envrc is now .envrc.set-aside-2"), "{said}");
        assert!(said.contains("one/AGENTS.md is now one/AGENTS.md.set-aside"), "{said}");
        assert_eq!(fs::read_to_string(dir.path().join(".envrc.set-aside")).unwrap(), "older");
        assert!(!dir.path().join(".envrc").exists());
        assert_eq!(before.set_aside_what_is_new(Level::Write), None);
    }

    #[test]
    fn a_new_repository_stays_and_one_that_starts_something_does_not() {
        let dir = workspace();
        let before = Obeyed::below(dir.path());
        let git = dir.path().join("new/.git");
        fs::create_dir_all(git.join("hooks")).unwrap();
        fs::write(git.join("hooks/pre-commit.sample"), "").unwrap();
        fs::write(git.join("config"), "[core]\n\tbare = false\n\tfilemode = true\n").unwrap();
        assert_eq!(before.set_aside_what_is_new(Level::Write), None);
        fs::write(git.join("hooks/pre-commit"), "").unwrap();
        fs::write(git.join("config"), "[core]\n\tfsmonitor = ./x\n").unwrap();
        let said = before.set_aside_what_is_new(Level::Write).unwrap();
        assert!(said.contains("new/.git/hooks is now"), "{said}");
        assert!(said.contains("new/.git/config is now"), "{said}");
        // A repository may lie elsewhere, where no name gives it away.
        fs::write(dir.path().join("new/.git/commondir"), "../other").unwrap();
        fs::create_dir_all(dir.path().join("tree")).unwrap();
        fs::write(dir.path().join("tree/.git"), "gitdir: ../other").unwrap();
        let said = before.set_aside_what_is_new(Level::Write).unwrap();
        assert!(said.contains("new/.git/commondir is now"), "{said}");
        assert!(said.contains("tree/.git is now tree/.git.set-aside"), "{said}");
        for odd in ["[core] fsmonitor = x", "[alias]", "bare", "[core]\nhookspath=x"] {
            assert_eq!(odd.lines().all(is_harmless_line), odd == "bare", "{odd}");
        }
    }

    #[test]
    fn a_monorepo_is_looked_through_whole_and_more_folders_than_that_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let place =
            |number: usize| dir.path().join(format!("packages/p{}/m{number}/src", number % 30));
        (0..400).for_each(|number| fs::create_dir_all(place(number)).unwrap());
        fs::write(dir.path().join("packages/p9/m399/src/.envrc"), "").unwrap();
        fs::create_dir_all(dir.path().join("packages/p1/node_modules/x/.vscode")).unwrap();
        let before = Obeyed::below(dir.path());
        let shown: Vec<String> = before.paths().map(|path| before.shown(path)).collect();
        assert_eq!(shown, ["packages/p9/m399/src/.envrc"]);
        assert_eq!(before.is_not_all(), None);
        // Folders that a command makes hide no file that it makes.
        (0..5000).for_each(|number| fs::create_dir(dir.path().join(format!("n{number}"))).unwrap());
        fs::write(place(3).join("AGENTS.md"), "").unwrap();
        let said = before.set_aside_what_is_new(Level::Write).unwrap();
        assert!(said.contains("m3/src/AGENTS.md is now"), "{said}");
        let many = Obeyed::below(dir.path());
        assert!(many.is_not_all().is_some_and(|said| said.contains("more folders than")));
        // The nearest are looked into all the same, and what was there in others stays.
        let left = many.left.iter().next().unwrap();
        fs::write(left.join(".envrc"), "").unwrap();
        fs::write(dir.path().join(".mcp.json"), "").unwrap();
        fs::create_dir(dir.path().join("new")).unwrap();
        fs::write(dir.path().join("new/.envrc"), "").unwrap();
        let said = many.set_aside_what_is_new(Level::Write).unwrap();
        assert!(said.contains(".mcp.json is now") && said.contains("new/.envrc is now"), "{said}");
        assert!(left.join(".envrc").exists(), "{said}");
    }
}
