//! A server's process as the rest of the hub holds it: asked to end, seen to be dead, and what it
//! said last; and the count of those whose end is awaited. Must not know how a process is started
//! or ended.

use std::sync::{Arc, OnceLock};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::stderr::StderrTail;

/// Ends the process, with all that it started, when it is dropped. A task keeps the process itself.
#[derive(Debug)]
pub(in crate::hub) struct ChildHandle {
    pub(in crate::hub) pid: u32,
    pub(in crate::hub) stderr_tail: StderrTail,
    pub(in crate::hub) fate: Fate,
}

/// What a handle and the task that keeps its process share.
#[derive(Clone, Debug, Default)]
pub(in crate::hub) struct Fate {
    pub(in crate::hub) end: CancellationToken,
    dead: CancellationToken,
    exit: Arc<OnceLock<String>>,
}

impl Fate {
    /// Nothing of the process is left; `how` it ended, for example `it exited with status 1`.
    pub(in crate::hub) fn is_sealed(&self, how: String) {
        // Set once; nobody else writes it.
        let _ = self.exit.set(how);
        self.dead.cancel();
    }
}

impl ChildHandle {
    /// Asks for the end: a grace for the server (its stdin is closed by the caller), SIGTERM, a
    /// grace, SIGKILL.
    pub(in crate::hub) fn request_end(&self) {
        self.fate.end.cancel();
    }

    /// Fires once the process has ended and what it left was killed.
    pub(in crate::hub) fn dead(&self) -> &CancellationToken {
        &self.fate.dead
    }

    /// How it ended, for example `it exited with status 1`, with its last words on stderr.
    pub(in crate::hub) fn epitaph(&self) -> String {
        let how = self.fate.exit.get().map_or("it closed its output", String::as_str);
        match self.stderr_tail.last_lines(3) {
            last_words if last_words.is_empty() => how.to_owned(),
            last_words => format!("{how}; it said: {last_words}"),
        }
    }
}

impl Drop for ChildHandle {
    fn drop(&mut self) {
        self.fate.end.cancel();
    }
}

/// Counts the processes whose end is still awaited, so that a shutdown can wait for all of them,
/// also for those that were given up in the middle of their start.
#[derive(Clone, Debug)]
pub(in crate::hub) struct Keepers(Arc<watch::Sender<usize>>);

impl Keepers {
    pub(in crate::hub) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }

    /// Returns when no process is left. The caller bounds the wait.
    pub(in crate::hub) async fn all_done(&self) {
        // The sender lives in `self`, so this cannot fail.
        let _ = self.0.subscribe().wait_for(|count| *count == 0).await;
    }

    pub(in crate::hub) fn enter(&self) -> KeeperGuard {
        self.0.send_modify(|count| *count += 1);
        KeeperGuard(self.clone())
    }
}

pub(in crate::hub) struct KeeperGuard(Keepers);

impl Drop for KeeperGuard {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}
