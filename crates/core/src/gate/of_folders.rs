//! The gates of the folders beside the configured workspace in which this process works now. Must
//! not know who opens a folder, or when it ends.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::Gate;

/// By real path. Cheap to clone; all clones are the same.
#[derive(Clone, Default)]
pub struct GatesOfFolders {
    /// A gate goes with its folder, whoever has asked for it here.
    open: Arc<Mutex<BTreeMap<PathBuf, Weak<Gate>>>>,
}

impl GatesOfFolders {
    /// Notes the gate of a folder that was opened.
    pub fn opened(&self, folder: &Path, gate: &Arc<Gate>) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|_, gate| gate.strong_count() > 0);
        open.insert(folder.to_owned(), Arc::downgrade(gate));
    }

    /// `None` for a folder in which nobody works.
    pub fn of(&self, folder: &Path) -> Option<Arc<Gate>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).get(folder)?.upgrade()
    }
}
