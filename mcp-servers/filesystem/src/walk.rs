//! A walk over a tree through directory handles. Owns order, depth and what is passed over; must
//! not know what the visitor wants. Symbolic links are shown and never followed.

use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;

use crate::access::Access;
use crate::cancel::Cancel;
use crate::enter::{Enter, enter};
use crate::error::{Result, ToolError};
use crate::guard::{Act, Guard};
use crate::ignore_rules::IgnoreRules;
use crate::kind::Kind;
use crate::place::Place;
use crate::resolve::DEPTH_MAX;

/// One entry as the visitor sees it.
pub struct Entry<'a> {
    pub parent: &'a Dir,
    pub name: &'a OsString,
    /// From the root.
    pub real: &'a Path,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Pass over what `.gitignore` and `.ignore` files name, and `.git`.
    pub respect_ignore_files: bool,
    /// 1 visits only the entries of the directory itself.
    pub depth_max: usize,
}

/// What a walk could not see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unseen {
    pub unreadable_dirs: u64,
    pub ignored: u64,
}

struct Walk<'a, V> {
    guard: &'a Guard,
    options: Options,
    rules: IgnoreRules,
    cancel: &'a Cancel,
    unseen: Unseen,
    visit: V,
}

/// Visits the entries below the directory at `start`, sorted by name within each directory, a
/// directory before what is in it. Protected places are not shown. Ends early when the visitor
/// breaks.
///
/// # Errors
/// The start cannot be opened, the visitor fails, or the request is cancelled. A directory further
/// down that cannot be read is counted.
pub fn walk<V>(
    access: &Access<'_>,
    start: &Place,
    options: Options,
    cancel: &Cancel,
    visit: V,
) -> Result<Unseen>
where
    V: FnMut(&Entry<'_>) -> Result<ControlFlow<()>>,
{
    let dir = access.open_dir(start)?;
    let mut rules = IgnoreRules::default();
    if options.respect_ignore_files {
        push_rules_above(access, &start.real, &mut rules);
    }
    let mut walk =
        Walk { guard: &access.guard, options, rules, cancel, unseen: Unseen::default(), visit };
    let names =
        sorted_names(&dir, cancel)?.map_err(|error| ToolError::io("list", &start.shown, &error))?;
    let _ = walk.directory(&dir, names, &start.real, 1)?;
    Ok(walk.unseen)
}

type Names = Vec<(OsString, Kind)>;

impl<V: FnMut(&Entry<'_>) -> Result<ControlFlow<()>>> Walk<'_, V> {
    fn directory(
        &mut self,
        dir: &Arc<Dir>,
        names: Names,
        real: &Path,
        depth: usize,
    ) -> Result<ControlFlow<()>> {
        let pushed = self.options.respect_ignore_files && self.rules.push(dir, real, self.guard);
        let outcome = self.entries(dir, names, real, depth);
        if pushed {
            self.rules.pop();
        }
        outcome
    }

    fn entries(
        &mut self,
        dir: &Arc<Dir>,
        names: Names,
        real: &Path,
        depth: usize,
    ) -> Result<ControlFlow<()>> {
        for (name, kind) in names {
            self.cancel.check()?;
            let path: PathBuf = real.join(&name);
            if self.guard.forbids_path(&path, Act::Touch).is_some()
                || self.is_protected_file(dir, &name, kind)
            {
                continue;
            }
            if self.options.respect_ignore_files
                && self.rules.ignores(&path, &name, kind == Kind::Dir)
            {
                self.unseen.ignored += 1;
                continue;
            }
            // Entered before it is shown, because only the handle tells whether it is a protected
            // directory.
            let below =
                if kind == Kind::Dir { Some(enter(dir, &name, &path, self.guard)) } else { None };
            if matches!(below, Some(Err(Enter::Guarded(_)))) {
                continue;
            }
            let entry = Entry { parent: dir, name: &name, real: &path, kind };
            if (self.visit)(&entry)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            if depth >= self.options.depth_max.min(DEPTH_MAX) {
                continue;
            }
            if let Some(below) = below
                && self.descend(below, &path, depth)?.is_break()
            {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// A protected file under another name, a hard link. Directories are recognised when they are
    /// entered.
    fn is_protected_file(&self, dir: &Dir, name: &OsStr, kind: Kind) -> bool {
        kind != Kind::Dir
            && self.guard.has_identities()
            && dir
                .symlink_metadata(name)
                .is_ok_and(|metadata| self.guard.forbids_identity(&metadata).is_some())
    }

    fn descend(
        &mut self,
        below: Result<Arc<Dir>, Enter>,
        path: &Path,
        depth: usize,
    ) -> Result<ControlFlow<()>> {
        let Ok(below) = below else {
            self.unseen.unreadable_dirs += 1;
            return Ok(ControlFlow::Continue(()));
        };
        match sorted_names(&below, self.cancel)? {
            Ok(names) => self.directory(&below, names, path, depth + 1),
            Err(_) => {
                self.unseen.unreadable_dirs += 1;
                Ok(ControlFlow::Continue(()))
            }
        }
    }
}

/// The names in a directory and their kinds, by the bytes of the names.
fn sorted_names(dir: &Dir, cancel: &Cancel) -> Result<io::Result<Names>> {
    let mut names = Names::new();
    let entries = match dir.entries() {
        Ok(entries) => entries,
        Err(error) => return Ok(Err(error)),
    };
    for entry in entries {
        cancel.check()?;
        let found = entry.and_then(|entry| Ok((entry.file_name(), Kind::of(entry.file_type()?))));
        match found {
            Ok(found) => names.push(found),
            // It was removed while we were reading.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Ok(Err(error)),
        }
    }
    names.sort();
    Ok(Ok(names))
}

/// The rules of the directories from the root down to the one above the start; those of the start
/// follow in the walk.
fn push_rules_above(access: &Access<'_>, start: &Path, rules: &mut IgnoreRules) {
    let mut dir = Arc::clone(&access.root.dir);
    let mut real = PathBuf::new();
    for name in start {
        rules.push(&dir, &real, &access.guard);
        real.push(name);
        let Ok(below) = enter(&dir, name, &real, &access.guard) else { return };
        dir = below;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Args;
    use crate::resolve::{Last, Missing};
    use crate::root::Root;

    /// What a bind mount or a name in another normal form of Unicode looks like: another path, the
    /// same directory.
    #[test]
    fn a_protected_directory_under_another_name_is_not_shown_and_not_entered() {
        let temp = tempfile::tempdir().unwrap();
        for dir in ["mounted/inner", "open"] {
            std::fs::create_dir_all(temp.path().join(dir)).unwrap();
        }
        let root = Root::open_all(&Args { workspace: Some(temp.path().into()), ..Args::default() })
            .unwrap()
            .remove(0);
        let mut guard = Guard::default();
        let mounted = root.dir.symlink_metadata("mounted").unwrap();
        guard.add(Path::new("home"), Some(&mounted), crate::guard::Shield::Protected);
        let access = Access { root: &root, guard };
        let start = access.resolve(".", Last::Follow, Missing::Fail).unwrap();
        let mut seen = Vec::new();
        let options = Options { respect_ignore_files: true, depth_max: 9 };
        walk(&access, &start, options, &Cancel::default(), |entry| {
            seen.push(entry.real.to_owned());
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
        assert_eq!(seen, [Path::new("open")]);
        for path in ["mounted", "mounted/inner", "mounted/new/file"] {
            let outcome = access.resolve(path, Last::Keep, Missing::Allow);
            assert!(matches!(outcome, Err(ToolError::Protected { .. })), "{path}");
        }
    }

    #[test]
    fn a_walk_stops_at_the_first_entry_after_it_was_cancelled() {
        let temp = tempfile::tempdir().unwrap();
        for file in ["a", "b", "c"] {
            std::fs::write(temp.path().join(file), "").unwrap();
        }
        let root = Root::open_all(&Args { workspace: Some(temp.path().into()), ..Args::default() })
            .unwrap()
            .remove(0);
        let access = Access::new(&root);
        let start = access.resolve(".", Last::Follow, Missing::Fail).unwrap();
        let token = tokio_util::sync::CancellationToken::new();
        let mut seen = 0;
        let options = Options { respect_ignore_files: false, depth_max: 1 };
        let outcome = walk(&access, &start, options, &Cancel::new(token.clone()), |_| {
            seen += 1;
            token.cancel();
            Ok(ControlFlow::Continue(()))
        });
        assert!(matches!(outcome, Err(ToolError::Cancelled)));
        assert_eq!(seen, 1);
    }
}
