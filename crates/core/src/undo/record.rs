//! Which snapshots belong to which turn: a small file each. Owns their folder and their form. Must
//! not know what is done with a snapshot.

use std::fs;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::domain::{TurnId, UnixMillis};
use crate::durable;
use crate::snapshot::Changes;

const OWNER_ONLY: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;

/// A turn that may have changed the workspace, or an undo of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    /// Counts up within a workspace; the names of the snapshots are made of it.
    pub(super) number: u64,
    pub(super) turn: TurnId,
    /// The record that this one has undone; `None` for a turn.
    pub(super) undid: Option<u64>,
    pub(super) began_ms: UnixMillis,
    pub(super) state: State,
    /// Its changes are taken back.
    pub(super) undone: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum State {
    /// What was there before is kept. What it has left is not known yet.
    Remembered,
    /// It cannot be undone. The sentence says why.
    Refused { why: String },
    /// It has ended, and so many paths were another thing then; `files` of them were no folders. An
    /// earlier claw has not counted these.
    Noted {
        changed: usize,
        #[serde(default)]
        files: Option<usize>,
    },
    /// An undo that has changed so many paths is being taken back. A kill leaves it so.
    Redoing {
        #[serde(default)]
        changed: usize,
    },
}

impl State {
    pub(super) fn noted(Changes { paths, files }: Changes) -> Self {
        Self::Noted { changed: paths, files: Some(files) }
    }
}

impl Record {
    pub(super) fn before(&self) -> String {
        format!("{}-before", self.number)
    }

    pub(super) fn after(&self) -> String {
        format!("{}-after", self.number)
    }

    /// An undo has no name of a turn, so that a turn has one file.
    fn file_name(&self) -> String {
        match self.undid {
            Some(_) => format!("{}.undo.json", self.number),
            None => format!("{}.{}", self.number, name_of(&self.turn)),
        }
    }
}

/// No session's name has a `~`.
fn name_of(turn: &TurnId) -> String {
    format!("{}~{}.json", turn.session, turn.seq)
}

/// All records of one workspace.
pub(super) struct Records {
    folder: PathBuf,
}

impl Records {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Newest first. What cannot be read is left out, and said in the log.
    pub(super) fn all(&self) -> io::Result<Vec<Record>> {
        let names = self.names()?;
        let mut found: Vec<Record> =
            names.iter().filter_map(|(_, name)| self.read(name).ok().flatten()).collect();
        found.sort_by_key(|record| std::cmp::Reverse(record.number));
        Ok(found)
    }

    pub(super) fn of_turn(&self, turn: &TurnId) -> io::Result<Option<Record>> {
        let wanted = name_of(turn);
        let is_it = |name: &str| name.split_once('.').is_some_and(|(_, rest)| rest == wanted);
        match self.names()?.into_iter().filter(|(_, name)| is_it(name)).max() {
            Some((_, name)) => self.read(&name),
            None => Ok(None),
        }
    }

    /// The newest undo, whatever became of it.
    pub(super) fn newest_undo(&self) -> io::Result<Option<Record>> {
        match self.names()?.into_iter().filter(|(_, name)| name.ends_with(".undo.json")).max() {
            Some((_, name)) => self.read(&name),
            None => Ok(None),
        }
    }

    pub(super) fn numbered(&self, number: u64) -> io::Result<Option<Record>> {
        match self.names()?.into_iter().find(|(found, _)| *found == number) {
            Some((_, name)) => self.read(&name),
            None => Ok(None),
        }
    }

    pub(super) fn next_number(&self) -> io::Result<u64> {
        Ok(self.names()?.into_iter().map(|(number, _)| number).max().unwrap_or_default() + 1)
    }

    pub(super) fn put(&self, record: &Record) -> io::Result<()> {
        durable::create_dirs(&self.folder, FOLDER_MODE)?;
        let text = serde_json::to_string(record)?;
        durable::replace(&self.folder.join(record.file_name()), &text, OWNER_ONLY)
    }

    pub(super) fn remove(&self, record: &Record) -> io::Result<()> {
        match fs::remove_file(self.folder.join(record.file_name())) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn read(&self, name: &str) -> io::Result<Option<Record>> {
        let text = match fs::read(self.folder.join(name)) {
            Ok(text) => text,
            // Somebody has just let go of it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(serde_json::from_slice(&text)
            .inspect_err(|error| tracing::warn!(name, %error, "a note of a snapshot is damaged"))
            .ok())
    }

    /// With their numbers. None where nothing was remembered yet.
    fn names(&self) -> io::Result<Vec<(u64, String)>> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let named = |entry: fs::DirEntry| {
            let name = entry.file_name().into_string().ok().filter(|it| it.ends_with(".json"))?;
            Some((name.split_once('.')?.0.parse().ok()?, name))
        };
        Ok(entries.filter_map(Result::ok).filter_map(named).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(number: u64, turn: &str, undid: Option<u64>) -> Record {
        let turn = turn.parse().unwrap();
        Record { number, turn, undid, began_ms: 1, state: State::Remembered, undone: false }
    }

    #[test]
    fn a_turn_is_found_by_its_name_and_not_by_one_like_it() {
        let dir = tempfile::tempdir().unwrap();
        let records = Records::new(dir.path().join("turns"));
        assert_eq!((records.all().unwrap(), records.next_number().unwrap()), (Vec::new(), 1));
        let written = [
            record(1, "main:3", None),
            record(2, "a.main:3", None),
            record(3, "a.main:3", Some(2)),
            record(10, "main:31", None),
        ];
        written.iter().for_each(|record| records.put(record).unwrap());
        for (turn, number) in [("main:3", 1), ("a.main:3", 2), ("main:31", 10)] {
            let found = records.of_turn(&turn.parse().unwrap()).unwrap();
            assert_eq!(found.map(|found| found.number), Some(number), "{turn}");
        }
        assert_eq!(records.of_turn(&"main:1".parse().unwrap()).unwrap(), None);
        assert_eq!(records.newest_undo().unwrap().unwrap().number, 3);
        assert_eq!(records.numbered(10).unwrap().as_ref(), written.last());
        let numbers: Vec<u64> = records.all().unwrap().iter().map(|one| one.number).collect();
        assert_eq!((numbers, records.next_number().unwrap()), (vec![10, 3, 2, 1], 11));
        fs::write(dir.path().join("turns/4.main~9.json"), "{").unwrap();
        assert_eq!(records.of_turn(&"main:9".parse().unwrap()).unwrap(), None);
        records.remove(&written[0]).unwrap();
        records.remove(&written[0]).unwrap();
        assert_eq!(records.of_turn(&"main:3".parse().unwrap()).unwrap(), None);
    }
}
