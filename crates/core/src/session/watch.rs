//! Watches for what must interrupt the running steps: a stop from the owner, or the stop switch.
//! One look serves all steps of a process, so that a thousand of them cost no more than one. Must
//! not know the steps.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use super::worker::Worker;
use crate::domain::SessionId;
use crate::store::{Store, StoreError};

/// What may interrupt a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// A stop of the owner.
    Stop,
    /// A stop of the owner, or the stop switch. Only what acts is ended by the switch; a model may
    /// still speak.
    StopOrPanic,
}

/// The steps that run in this process, and who looks out for them: one of them, and another one
/// when it has ended. So there is no task to start and none to end.
#[derive(Default)]
pub(super) struct Watch {
    /// The steps that run; each is taken out when it ends.
    running: Mutex<Running>,
    /// The version of the store at the newest look. Held by the step that looks.
    looked: tokio::sync::Mutex<Option<i64>>,
}

#[derive(Default)]
struct Running {
    /// The number of the newest step. It only grows.
    last: u64,
    /// By number; a step goes when it has ended.
    steps: HashMap<u64, Watched>,
}

struct Watched {
    session: SessionId,
    by: By,
    cancel: CancellationToken,
}

impl Worker {
    /// Runs `step`, and cancels `cancel` as soon as something asks to interrupt it. The step is
    /// always awaited to its end: it ends itself, so that nothing is left half done.
    pub(super) async fn interruptible<T>(
        &self,
        session: &SessionId,
        cancel: &CancellationToken,
        by: By,
        step: impl Future<Output = T>,
    ) -> T {
        let (watch, store) = (&self.watch, &self.store);
        let _listed = watch.list(Watched { session: session.clone(), by, cancel: cancel.clone() });
        let look_out = async {
            // What came before this step was on the list is seen by its own look, what comes later
            // by everybody's.
            if must_stop(store, session, by) {
                cancel.cancel();
            }
            watch.look_out(store).await
        };
        tokio::select! {
            biased;
            value = step => value,
            never = look_out => match never {},
        }
    }
}

impl Watch {
    fn list(&self, step: Watched) -> Listed<'_> {
        let mut running = self.running();
        running.last += 1;
        let number = running.last;
        running.steps.insert(number, step);
        Listed { watch: self, number }
    }

    /// Waits for its turn to look, and then looks for everybody, for as long as it is polled.
    async fn look_out(&self, store: &Store) -> Infallible {
        let mut looked = self.looked.lock().await;
        let mut changes = store.changes();
        loop {
            match self.look(store, *looked) {
                Ok(version) => *looked = Some(version),
                // The same version is looked at again.
                Err(error) => tracing::warn!(%error, "cannot look for a stop"),
            }
            changes.wait().await;
        }
    }

    /// Interrupts what has to be, if there is anything new; the version that was seen.
    fn look(&self, store: &Store, before: Option<i64>) -> Result<i64, StoreError> {
        // A disk that takes no row changes no version.
        if store.panic_flag_is_up() {
            self.interrupt(&HashSet::new(), true);
        }
        // The version first: what is committed after it is seen by the next look.
        let version = store.data_version()?;
        if before != Some(version) {
            let (stops, panic) =
                store.read(|tx| Ok((tx.stops_queued()?, tx.panic()?.is_some())))?;
            self.interrupt(&stops, panic);
        }
        Ok(version)
    }

    fn interrupt(&self, stops: &HashSet<SessionId>, panic: bool) {
        if stops.is_empty() && !panic {
            return;
        }
        for step in self.running().steps.values() {
            if stops.contains(&step.session) || (panic && step.by == By::StopOrPanic) {
                step.cancel.cancel();
            }
        }
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A step is on the list for as long as this lives, however it goes.
struct Listed<'w> {
    watch: &'w Watch,
    number: u64,
}

impl Drop for Listed<'_> {
    fn drop(&mut self) {
        self.watch.running().steps.remove(&self.number);
    }
}

fn must_stop(store: &Store, session: &SessionId, by: By) -> bool {
    let asked = store.read(|tx| {
        Ok(tx.stop_queued(session)? || (by == By::StopOrPanic && tx.panic()?.is_some()))
    });
    asked.unwrap_or_else(|error| {
        tracing::warn!(%error, "cannot look for a stop");
        false
    })
}
