//! What other programs run or obey on sight (`claw_kit::obeyed`), as it lies in one workspace:
//! found before a command that is kept off it, so that it can be mounted read-only, and looked for
//! again afterwards (`obeyed/set_aside.rs`), because what is not there yet cannot be. Must not know
//! how a command is run.

mod harmless;
mod set_aside;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use claw_kit::obeyed::{Held, row};

use crate::git_head::GitHead;
use crate::git_names;

pub use set_aside::{ObeyedEnd, names_aside};

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

/// What there was before the command.
pub struct Obeyed {
    workspace: PathBuf,
    found: BTreeMap<PathBuf, Identity>,
    /// What links among these lead to, where a command could change it.
    targets: BTreeMap<PathBuf, Identity>,
    /// Where each repository stands, by its `.git`.
    heads: BTreeMap<PathBuf, GitHead>,
    /// Into how many folders was looked.
    folders: usize,
    /// Those that were seen and not looked into: nobody knows what is new there afterwards.
    left: BTreeSet<PathBuf>,
}

/// Which file a path is, and where a link at its end leads.
#[derive(PartialEq, Eq)]
struct Identity {
    own: Number,
    leads_to: Option<PathBuf>,
}

/// A file that was replaced is another one, also where its number is given out again: then it was
/// born later.
type Number = (u64, u64, Option<SystemTime>);

impl Identity {
    /// `None` where nothing is there.
    fn of(path: &Path) -> Option<Self> {
        let number = |meta: &Metadata| (meta.dev(), meta.ino(), meta.created().ok());
        let own = fs::symlink_metadata(path).ok()?;
        let leads_to = own.is_symlink().then(|| path.canonicalize().ok()).flatten();
        Some(Self { own: number(&own), leads_to })
    }
}

impl Obeyed {
    /// `opened` are folders outside of the workspace that the command may change.
    pub fn below(workspace: &Path, opened: &[PathBuf]) -> Self {
        let mut below = Self::find(workspace, FOLDERS_MAX, &BTreeSet::new());
        let is_within = |path: &&PathBuf| {
            let mut places = opened.iter().map(PathBuf::as_path).chain([workspace]);
            places.any(|place| path.starts_with(place) && *path != place)
        };
        let led_to = below.found.values().filter_map(|found| found.leads_to.as_ref());
        let targets = led_to.filter(is_within).filter(|path| !below.found.contains_key(*path));
        let targets = targets.filter_map(|path| Some((path.clone(), Identity::of(path)?)));
        below.targets = targets.collect();
        below
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
        let heads = repositories.iter().map(|tree| tree.join(".git"));
        let heads = heads.filter_map(|git| Some((git.clone(), GitHead::of(&git)?))).collect();
        for named in git_names::of(workspace, repositories, found.keys()) {
            let is_dir = fs::symlink_metadata(&named).is_ok_and(|meta| meta.is_dir());
            let row = named.file_name().and_then(|name| row(&name.to_string_lossy()));
            add(&mut found, named, is_dir, row.map_or(Held::Whole, |row| row.held));
        }
        let (workspace, targets) = (workspace.to_owned(), BTreeMap::new());
        Self { workspace, found, targets, heads, folders, left }
    }

    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.found.keys().chain(self.targets.keys()).map(PathBuf::as_path)
    }

    /// The folders between the workspace and what was found, each before those below it.
    pub fn folders_on_the_way(&self, workspace: &Path) -> BTreeSet<PathBuf> {
        let ways = self.paths().flat_map(|path| path.ancestors().skip(1));
        ways.filter(|folder| folder.starts_with(workspace) && *folder != workspace)
            .map(Path::to_owned)
            .collect()
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
        let found = Obeyed::below(dir.path(), &[]);
        let shown: Vec<String> = found.paths().map(|path| found.shown(path)).collect();
        assert_eq!(shown, ["one/.git/hooks", "one/AGENTS.md", "one/two/three/.git/hooks"]);
        let git = dir.path().join("one/.git");
        fs::create_dir_all(git.join("modules/sub")).unwrap();
        fs::write(git.join("modules/sub/config"), "").unwrap();
        std::os::unix::fs::symlink("nowhere", dir.path().join(".ENVRC")).unwrap();
        fs::write(dir.path().join("one/two/.git"), "gitdir: ../x").unwrap();
        let more = Obeyed::below(dir.path(), &[]);
        let more: Vec<String> = more.paths().map(|path| more.shown(path)).collect();
        for path in [".ENVRC", "one/.git/modules/sub/config", "one/two/.git"] {
            assert!(more.contains(&path.to_owned()), "{path}: {more:?}");
        }
        let folders = found.folders_on_the_way(dir.path());
        let shown: Vec<String> = folders.iter().map(|path| found.shown(path)).collect();
        let deep = ["one/two", "one/two/three", "one/two/three/.git"];
        assert_eq!(shown, [&["one", "one/.git"][..], &deep].concat());
    }
}
