//! What is open by name and was handed to commands of this process: looked at for as long as one
//! may use it, and closed to them when the owner closes it or its time is up. Must not know how a
//! command is cut off, or who opens what.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use super::FolderInForce;
use crate::calls::Calls;
use crate::domain::{Opening, UnixMillis};
use crate::hub::{Opened, OpenedFolder, OpenedNow};
use crate::store::{StoreError, now_ms, time_until};

/// The longest time between two looks: what is open by `claw.toml`, and until when, is
/// in no commit.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Made with the gate, and lives as long as it.
pub struct HandedOut {
    /// The gate's own, and what knows what is open. By its store's commits this hears when to look,
    /// and servers hear by its hub what is closed.
    calls: Arc<Calls>,
    /// Empty until the first command that uses one.
    openings: Mutex<Openings>,
}

#[derive(Default)]
struct Openings {
    /// With the end that each had at the last look. Not taken out when a command ends: who looks
    /// does not know about jobs in the background.
    until_ms: BTreeMap<Opening, Option<UnixMillis>>,
    /// A task looks at them. It ends when none is left, or with the gate.
    is_watched: bool,
}

/// What the last look has seen. As long as it is the same, nothing was opened or closed.
#[derive(Default, PartialEq)]
struct Seen {
    version: i64,
    standing: Vec<Opening>,
}

impl HandedOut {
    pub fn new(calls: Arc<Calls>) -> Arc<Self> {
        Arc::new(Self { calls, openings: Mutex::default() })
    }

    /// What of these is open when the call is sent: it may be closed between this and then.
    pub fn at_its_start(self: &Arc<Self>, named: Vec<Opening>) -> OpenedNow {
        let handed = self.clone();
        OpenedNow::new(move || Opened {
            services: handed.hand_out(&named),
            folders: handed.folders(),
        })
    }

    /// The folders that are open for a time, at this moment. What runs keeps them: the kernel takes
    /// nothing away that it has given.
    fn folders(&self) -> Vec<OpenedFolder> {
        let folders = self.calls.open_folders().unwrap_or_else(|error| {
            tracing::warn!(%error, "what is open cannot be read, so nothing is");
            Vec::new()
        });
        let opened = |one: FolderInForce| OpenedFolder {
            path: one.path.display().to_string(),
            write: one.to_write,
        };
        folders.into_iter().map(opened).collect()
    }

    /// Which of these are open at this moment. What is said to be open is looked after from now on.
    /// Needs a Tokio runtime.
    fn hand_out(self: &Arc<Self>, named: &[Opening]) -> Vec<&'static str> {
        if named.is_empty() {
            return Vec::new();
        }
        let open = self.calls.openings().unwrap_or_else(|error| {
            tracing::warn!(%error, "what is open cannot be read, so nothing is");
            Vec::new()
        });
        let open = open.iter().filter(|one| named.contains(&one.opening));
        let mut handed = self.lock();
        let mut names = Vec::new();
        for one in open {
            handed.until_ms.insert(one.opening, one.until_ms);
            names.push(one.opening.as_str());
        }
        names.sort_unstable();
        names.dedup();
        if !names.is_empty() && !std::mem::replace(&mut handed.is_watched, true) {
            claw_kit::task::spawn(watch(Arc::downgrade(self)));
        }
        names
    }

    /// Closes what is not open any more. False when nothing is left to look at.
    async fn look(&self, seen: &mut Option<Seen>) -> Result<bool, StoreError> {
        let now = Seen {
            version: self.calls.store.data_version()?,
            standing: self.calls.standing_openings(),
        };
        let is_over = |until: &Option<UnixMillis>| until.is_some_and(|at| at <= now_ms());
        if seen.as_ref() == Some(&now) && !self.lock().until_ms.values().any(is_over) {
            return Ok(true);
        }
        let open = self.calls.openings()?;
        *seen = Some(now);
        let mut closed = Vec::new();
        let is_watched = {
            let mut handed = self.lock();
            handed.until_ms.retain(|opening, until| {
                match open.iter().find(|one| one.opening == *opening) {
                    Some(still) => *until = still.until_ms,
                    None => closed.push((*opening, is_over(until))),
                }
                open.iter().any(|one| one.opening == *opening)
            });
            handed.is_watched = !handed.until_ms.is_empty();
            handed.is_watched
        };
        for (opening, is_over) in closed {
            let why = if is_over { "expired" } else { "closed" };
            self.calls.hub.tell_closed(opening.as_str(), why).await;
        }
        Ok(is_watched)
    }

    /// How long it is until the first of them is over.
    fn left(&self) -> Duration {
        let ends = self.lock().until_ms.values().flatten().min().copied();
        ends.map_or(Duration::MAX, time_until)
    }

    fn lock(&self) -> MutexGuard<'_, Openings> {
        self.openings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks until nothing is handed out any more, or the gate is gone.
async fn watch(handed: Weak<HandedOut>) {
    let mut seen = None;
    let Some(mut changes) = handed.upgrade().map(|handed| handed.calls.store.changes()) else {
        return;
    };
    loop {
        let Some(left) = handed.upgrade().map(|handed| handed.left()) else { return };
        changes.wait_at_most(left.min(LOOK_EVERY)).await;
        let Some(handed) = handed.upgrade() else { return };
        match handed.look(&mut seen).await {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => tracing::warn!(%error, "what is open cannot be looked at"),
        }
    }
}
