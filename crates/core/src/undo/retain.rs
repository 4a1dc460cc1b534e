//! Lets go of turns that can no longer be undone: the oldest first, by days and by bytes. Must not
//! know when that is done, or how much is allowed.

use std::fs;
use std::path::{Path, PathBuf};

use super::place::SnapshotPlace;
use super::record::Record;
use super::{Shared, TurnSnapshots, UndoError};
use crate::domain::UnixMillis;
use crate::snapshot::SnapshotFolder;

/// Of what is over the bytes such a part goes at a time, because the size is then looked at again.
const PARTS: usize = 8;

/// What was let go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LetGo {
    /// Turns and undos.
    pub turns: usize,
    pub bytes: u64,
}

impl TurnSnapshots {
    /// Forgets the turns that began before `before_ms`, then the oldest until what is left takes no
    /// more than `bytes_max`. Turns of every workspace of this agent; an open one stays.
    ///
    /// # Errors
    /// Every failure to read or remove. What is kept is whole.
    pub async fn retain(&self, before_ms: UnixMillis, bytes_max: u64) -> Result<LetGo, UndoError> {
        self.apart(move |shared| shared.retain(before_ms, bytes_max)).await
    }

    /// The workspaces in which an undo was cut and is not finished.
    pub fn cut(&self) -> Vec<PathBuf> {
        let places = SnapshotPlace::every(&self.shared.folder).into_iter();
        places.filter(SnapshotPlace::is_cut).map(|place| place.workspace).collect()
    }

    /// The bytes that all snapshots take.
    pub fn bytes(&self) -> u64 {
        bytes_of(&self.shared.folder)
    }
}

impl Shared {
    fn retain(&self, before_ms: UnixMillis, bytes_max: u64) -> Result<LetGo, UndoError> {
        let bytes_before = bytes_of(&self.folder);
        let mut turns = 0;
        let places = SnapshotPlace::every(&self.folder);
        for place in &places {
            turns += self.keep_of(place, |record| record.began_ms >= before_ms)?;
        }
        while bytes_of(&self.folder) > bytes_max {
            let mut began: Vec<UnixMillis> = Vec::new();
            for place in &places {
                let records = place.records.all().map_err(place.io())?;
                began.extend(records.into_iter().map(|record| record.began_ms));
            }
            began.sort_unstable();
            let Some(through_ms) = began.get(began.len().div_ceil(PARTS).saturating_sub(1)) else {
                break;
            };
            let mut gone = 0;
            for place in &places {
                gone += self.keep_of(place, |record| record.began_ms > *through_ms)?;
            }
            turns += gone;
            if gone == 0 {
                break;
            }
        }
        let bytes = bytes_before.saturating_sub(bytes_of(&self.folder));
        Ok(LetGo { turns, bytes })
    }

    /// Forgets all records of a workspace but those, and what only they had. How many went.
    fn keep_of(
        &self,
        place: &SnapshotPlace,
        keep: impl Fn(&Record) -> bool,
    ) -> Result<usize, UndoError> {
        if place.workspace.is_dir() {
            let snapshots = self.open(place)?;
            return forget_others(place, &snapshots, self.parted(place, keep)?);
        }
        // It may come back: a drive that is not plugged in, a folder that was renamed for a while.
        let folder = place.open_folder()?;
        let (kept, gone) = self.parted(place, keep)?;
        if kept.is_empty() {
            place.remove()?;
            return Ok(gone.len());
        }
        // An undo that was cut is finished then, and needs all that it names.
        if place.is_cut() {
            return Ok(0);
        }
        forget_others(place, &folder, (kept, gone))
    }

    /// The records that stay, and those that go.
    fn parted(
        &self,
        place: &SnapshotPlace,
        keep: impl Fn(&Record) -> bool,
    ) -> Result<(Vec<Record>, Vec<Record>), UndoError> {
        let (mut kept, mut gone) = (Vec::new(), Vec::new());
        for record in place.records.all().map_err(place.io())? {
            let stays = keep(&record) || self.is_open(&record)?;
            if stays { kept.push(record) } else { gone.push(record) }
        }
        Ok((kept, gone))
    }

    fn is_open(&self, record: &Record) -> Result<bool, UndoError> {
        let open = self.store.read(|tx| tx.open_turn(&record.turn.session))?;
        Ok(open == Some(record.turn.seq))
    }
}

fn forget_others(
    place: &SnapshotPlace,
    snapshots: &SnapshotFolder,
    (kept, gone): (Vec<Record>, Vec<Record>),
) -> Result<usize, UndoError> {
    for record in &gone {
        place.records.remove(record).map_err(place.io())?;
    }
    let names: std::collections::HashSet<String> =
        kept.iter().flat_map(|record| [record.before(), record.after()]).collect();
    snapshots.retain(|name| names.contains(name))?;
    Ok(gone.len())
}

/// Of all files below a folder. What goes meanwhile counts as nothing.
fn bytes_of(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let bytes = |entry: fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => bytes_of(&entry.path()),
        _ => entry.metadata().map_or(0, |meta| meta.len()),
    };
    entries.map(bytes).sum()
}
