//! Counts what is under way, so that an end can wait for all of it. Must not know what is counted.

use std::sync::Arc;

use tokio::sync::watch;

/// Of processes that wait for their reaper, or of calls. Clones share the count.
#[derive(Clone, Debug)]
pub(super) struct InFlight(Arc<watch::Sender<usize>>);

impl InFlight {
    pub(super) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }

    /// Returns when nothing is under way. The caller bounds the wait.
    pub(super) async fn all_done(&self) {
        // The sender lives in `self`, so this cannot fail.
        let _ = self.0.subscribe().wait_for(|count| *count == 0).await;
    }

    /// Counts one more until the guard is dropped.
    pub(super) fn enter(&self) -> InFlightGuard {
        self.0.send_modify(|count| *count += 1);
        InFlightGuard(self.clone())
    }
}

pub(super) struct InFlightGuard(InFlight);

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}
