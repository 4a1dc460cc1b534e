//! What the workspace was before each turn that may have changed it, and the way back. Owns the
//! folder of the snapshots, which turn each belongs to, and what an undo says. Must not know how a
//! call is judged, how a turn goes, or doors.
//!
//! The workspace is looked at before and behind each call of a turn that may change something, so
//! that changes of others are told from the turn's. What came of it is noted at the turn's end. All
//! of it are files, written before anything else counts on them, so a turn
//! that goes on after a kill finds the snapshot of its beginning.

mod back;
mod changing;
mod error;
mod place;
mod record;
mod retain;
mod turn;
mod unfinished;
mod words;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

pub use back::{Preview, TurnRow, UndoneFiles, Which};
pub use changing::Changing;
pub use error::UndoError;
pub use retain::LetGo;
pub use turn::Left;
pub use unfinished::Finished;
pub use words::{finished_lines, preview_lines, undone_lines};

use crate::domain::TurnId;
use crate::snapshot::Limits;
use crate::store::Store;
use changing::{Beginning, TurnAtWork};
use place::SnapshotPlace;

/// The most turns whose failure is remembered in memory, because the disk takes no note of it.
const FAILED_MAX: usize = 64;

/// The snapshots of one agent. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct TurnSnapshots {
    shared: Arc<Shared>,
}

struct Shared {
    /// For the audit, and for which turns are open.
    store: Store,
    /// Has a folder for each workspace.
    folder: PathBuf,
    /// Where the tools work.
    workspace: PathBuf,
    /// Replaced when the owner changes them.
    limits: RwLock<Limits>,
    /// The first words of a command that acts on this agent.
    claw: String,
    /// Spares the open turns of this process a look at the disk.
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// Turns with a call under way that may change something.
    at_work: HashMap<TurnId, TurnAtWork>,
    /// Turns with such a call that is not counted yet.
    beginning: HashMap<TurnId, Beginning>,
    /// Open turns that cannot be undone, and whether the person was told. A turn leaves at its end.
    refused: HashMap<TurnId, bool>,
    /// Why a turn cannot be undone, where the disk takes no note.
    failed: HashMap<TurnId, String>,
}

impl TurnSnapshots {
    /// `folder` is made when the first turn is remembered; `claw` are the first words of a command
    /// that acts on this agent.
    pub fn new(
        store: Store,
        folder: PathBuf,
        workspace: PathBuf,
        limits: Limits,
        claw: String,
    ) -> Self {
        let (limits, known) = (RwLock::new(limits), Mutex::default());
        Self { shared: Arc::new(Shared { store, folder, workspace, limits, claw, known }) }
    }

    /// Those of another workspace, in the same store.
    pub fn at(&self, workspace: PathBuf) -> Self {
        let Shared { store, folder, claw, .. } = &*self.shared;
        Self::new(store.clone(), folder.clone(), workspace, self.shared.limits(), claw.clone())
    }

    /// For the turns that are remembered from now on.
    pub fn set_limits(&self, limits: Limits) {
        *self.shared.limits.write().unwrap_or_else(PoisonError::into_inner) = limits;
    }

    /// Does work that waits for the disk, beside the loop that everything else runs on.
    async fn apart<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared) -> Result<T, UndoError> + Send + 'static,
    ) -> Result<T, UndoError> {
        let shared = self.shared.clone();
        let done = tokio::task::spawn_blocking(move || work(&shared)).await;
        done.map_err(|bug| UndoError::Bug { why: bug.to_string() })?
    }
}

impl Shared {
    fn limits(&self) -> Limits {
        *self.limits.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Of the workspace that the tools work in now.
    fn place(&self) -> SnapshotPlace {
        SnapshotPlace::of(&self.folder, &self.workspace)
    }
}
