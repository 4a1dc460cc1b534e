//! How a process that is told to end leaves its sessions: first no new step is begun, then what
//! still runs is cut. Must not know who says so, or how long lies between.

use tokio_util::sync::CancellationToken;

/// Shared by all sessions of a process. A turn that it interrupts stays open and goes on from its
/// log at the next start.
#[derive(Clone, Debug, Default)]
pub struct Ending {
    /// Cancelled once, and never made anew: each clone has the same.
    begun: CancellationToken,
    /// The same; never cancelled where all calls have ended in time.
    cut: CancellationToken,
}

impl Ending {
    /// From now on no step is begun; a model that is speaking is interrupted, and what it has said
    /// so far is kept and sent. A call that runs goes on.
    pub fn begin(&self) {
        self.begun.cancel();
    }

    /// Calls that still run are cut: nobody knows any more whether they have done what they were to
    /// do.
    pub fn cut(&self) {
        self.cut.cancel();
    }

    pub fn has_begun(&self) -> bool {
        self.begun.is_cancelled()
    }

    /// Waits for the beginning of the end.
    pub async fn begun(&self) {
        self.begun.cancelled().await;
    }

    /// Cancelled with the beginning of the end; cancelling it ends nothing else.
    pub(crate) fn no_new_step(&self) -> CancellationToken {
        self.begun.child_token()
    }

    /// Cancelled when running calls are to be cut; cancelling it ends nothing else.
    pub fn no_running_call(&self) -> CancellationToken {
        self.cut.child_token()
    }
}
