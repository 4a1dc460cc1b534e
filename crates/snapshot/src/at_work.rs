//! Several change one workspace at the same time: a look at it whenever one of them begins or ends
//! something, so that it is known whose each change is. Owns the ledgers' folder and the marks of
//! those at work. Must not know turns or calls.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;

use claw_kit::durable;

use crate::contents::New;
use crate::error::SnapshotError;
use crate::folder::{OWNER_ONLY, SEEN, SnapshotFolder, is_name};
use crate::ignored::without_what_came_to_sight;
use crate::ledger::{Ledger, Whose};
use crate::store::Snapshots;
use crate::tree::{Changes, Tree};

/// Somebody is at work as long as this lives. Held (`flock`), so that others notice a death.
#[derive(Debug)]
pub struct AtWork {
    _mark: File,
}

/// All ledgers by name, after a look.
type Ledgers = BTreeMap<String, Ledger>;

impl Snapshots {
    /// From now on what changes is counted in the ledger `name`, which is made if there is none.
    /// What was there before is on the disk when this returns.
    ///
    /// # Errors
    /// A workspace over the limits, and every failure to read or write.
    pub fn begin(&self, name: &str) -> Result<AtWork, SnapshotError> {
        let path = self.ledger_path(name)?;
        durable::create_dirs(&self.ledgers_folder(), 0o700).map_err(SnapshotError::at(&path))?;
        let mut ledgers = self.look_around(Some(name), None)?;
        if ledgers.entry(name.to_owned()).or_default() == &Ledger::default() {
            self.write_ledger(name, &Ledger::default())?;
        }
        let mark = self.mark_path(name)?;
        let held = File::create(&mark).map_err(SnapshotError::at(&mark))?;
        durable::hold(&held).map_err(|_| SnapshotError::Busy)?;
        Ok(AtWork { _mark: held })
    }

    /// What has changed until now is counted, and what changes from now on is not.
    ///
    /// # Errors
    /// As [`Snapshots::begin`].
    pub fn pause(&self, name: &str) -> Result<(), SnapshotError> {
        self.look_around(None, Some(name))?;
        self.remove_mark(name)
    }

    /// Makes two snapshots of a ledger: what was there before, and what was left. The ledger stays
    /// until [`SnapshotFolder::drop_ledger`]. `None` if there is none.
    ///
    /// # Errors
    /// As [`Snapshots::begin`].
    pub fn settle(&self, before: &str, after: &str) -> Result<Option<Changes>, SnapshotError> {
        if !self.has_ledger(before) {
            return Ok(None);
        }
        if self.mark_path(before)?.exists() {
            self.pause(before)?;
        }
        let ledger = self.ledger(before)?;
        let changes = ledger.changes();
        let (was, left) = ledger.trees();
        self.write(&self.tree_path(before)?, &was)?;
        self.write(&self.tree_path(after)?, &left)?;
        Ok(Some(changes))
    }

    /// Counts what has changed since the last look. Of those who died at work it is the last look
    /// that counts.
    fn look_around(
        &self,
        begins: Option<&str>,
        ends: Option<&str>,
    ) -> Result<Ledgers, SnapshotError> {
        let mut ledgers = Ledgers::new();
        for name in self.ledger_names()? {
            let ledger = self.ledger(&name)?;
            ledgers.insert(name, ledger);
        }
        let is_at_work = |name: &&String| self.mark_path(name).is_ok_and(|mark| mark.exists());
        let at_work: Vec<String> = ledgers.keys().filter(is_at_work).cloned().collect();
        let dead: Vec<&String> = at_work.iter().filter(|name| self.is_dead(name)).collect();
        let goes_on = |name: &&String| Some(name.as_str()) != ends && !dead.contains(name);
        let keeps = begins.is_some() || at_work.iter().any(|name| goes_on(&name));
        let seen = if ledgers.is_empty() { None } else { Some(self.tree(SEEN)?) };
        let now = self.look_now(keeps, seen.as_ref(), &ledgers)?;
        if let Some(seen) = &seen {
            // From the next look on it is known like everything else.
            let counted = without_what_came_to_sight(&now, seen, self.contents());
            for (name, ledger) in &mut ledgers {
                let whose = match at_work.as_slice() {
                    [only] if only == name => Whose::Own,
                    several if several.contains(name) => Whose::Doubtful,
                    _ => Whose::Others,
                };
                let before = ledger.clone();
                ledger.count(seen, &counted, whose);
                if *ledger != before {
                    self.write_ledger(name, ledger)?;
                }
            }
        }
        if seen.as_ref() != Some(&now) {
            self.write(&self.tree_path(SEEN)?, &now)?;
        }
        for name in dead {
            self.remove_mark(name)?;
        }
        Ok(ledgers)
    }

    /// With contents, if they may be needed to put something back.
    fn look_now(
        &self,
        with_contents: bool,
        seen: Option<&Tree>,
        ledgers: &Ledgers,
    ) -> Result<Tree, SnapshotError> {
        // Whatever `.gitignore` says meanwhile.
        let known = seen.into_iter().flat_map(|seen| seen.entries.keys());
        let also = known.chain(ledgers.values().flat_map(Ledger::paths));
        if !with_contents {
            return self.walk(None, also);
        }
        let mut new = New::default();
        let tree = self.walk(Some((self.contents(), &mut new)), also)?;
        self.contents().publish(new).map_err(SnapshotError::at(self.ledgers_folder()))?;
        Ok(tree)
    }
}

impl SnapshotFolder {
    pub fn has_ledger(&self, name: &str) -> bool {
        self.ledger_path(name).is_ok_and(|path| path.exists())
    }

    /// Forgets a ledger, also one that there is not.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn drop_ledger(&self, name: &str) -> Result<(), SnapshotError> {
        self.remove_mark(name)?;
        let path = self.ledger_path(name)?;
        removed(fs::remove_file(&path)).map_err(SnapshotError::at(path))
    }

    /// Whether nobody holds the mark any more.
    fn is_dead(&self, name: &str) -> bool {
        let mark = self.mark_path(name).ok().and_then(|mark| File::open(mark).ok());
        mark.is_some_and(|mark| durable::hold(&mark).is_ok())
    }

    pub(crate) fn ledger_names(&self) -> Result<Vec<String>, SnapshotError> {
        let folder = self.ledgers_folder();
        let found = match fs::read_dir(&folder) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(SnapshotError::at(folder)(error)),
        };
        let name = |entry: fs::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            name.strip_suffix(".json").filter(|name| is_name(name)).map(str::to_owned)
        };
        Ok(found.filter_map(Result::ok).filter_map(name).collect())
    }

    pub(crate) fn ledger(&self, name: &str) -> Result<Ledger, SnapshotError> {
        let path = self.ledger_path(name)?;
        let text = fs::read(&path).map_err(SnapshotError::at(&path))?;
        serde_json::from_slice(&text).map_err(|error| SnapshotError::Damaged {
            name: name.to_owned(),
            why: error.to_string(),
        })
    }

    fn write_ledger(&self, name: &str, ledger: &Ledger) -> Result<(), SnapshotError> {
        let path = self.ledger_path(name)?;
        let text = serde_json::to_string(ledger)
            .map_err(|error| SnapshotError::at(&path)(error.into()))?;
        durable::replace(&path, &text, OWNER_ONLY).map_err(SnapshotError::at(path))
    }

    fn remove_mark(&self, name: &str) -> Result<(), SnapshotError> {
        let path = self.mark_path(name)?;
        removed(fs::remove_file(&path)).map_err(SnapshotError::at(path))
    }

    fn ledgers_folder(&self) -> PathBuf {
        self.folder().join("ledgers")
    }

    fn ledger_path(&self, name: &str) -> Result<PathBuf, SnapshotError> {
        self.tree_path(name)?;
        Ok(self.ledgers_folder().join(format!("{name}.json")))
    }

    fn mark_path(&self, name: &str) -> Result<PathBuf, SnapshotError> {
        self.tree_path(name)?;
        Ok(self.ledgers_folder().join(format!("{name}.at-work")))
    }
}

fn removed(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
