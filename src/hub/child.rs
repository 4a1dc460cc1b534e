//! A server's process as the rest of the hub holds it: asked to end, seen to be dead, and what it
//! said last; and the count of those whose end is awaited. Must not know how a process is started
//! or ended.

use std::sync::{Arc, OnceLock};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::stderr::StderrTail;

/// Ends the process, with all that it started, when it is dropped. A task keeps the process itself.
#[derive(Debug)]
pub(super) struct ChildHandle {
    pub(super) pid: u32,
    pub(super) stderr_tail: StderrTail,
    pub(super) fate: Fate,
}

/// What a handle and the task that keeps its process share.
#[derive(Clone, Debug, Default)]
pub(super) struct Fate {
    pub(super) end: CancellationToken,
    dead: CancellationToken,
    exit: Arc<OnceLock<String>>,
}

impl Fate {
    /// Nothing of the process is left; `how` it ended, for example `it exited with status 1`.
    pub(super) fn is_sealed(&self, how: String) {
        // Set once; nobody else writes it.
        let _ = self.exit.set(how);
        self.dead.cancel();
    }
}

impl ChildHandle {
    /// Asks for the end: a grace for the server (its stdin is closed by the caller), SIGTERM, a
    /// grace, SIGKILL.
    pub(super) fn request_end(&self) {
        self.fate.end.cancel();
    }

    /// Fires once the process has ended and what it left was killed.
    pub(super) fn dead(&self) -> &CancellationToken {
        &self.fate.dead
    }

    /// How it ended, for example `it exited with status 1`, with its last words on stderr.
    pub(super) fn epitaph(&self) -> String {
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
pub(super) struct Keepers(Arc<watch::Sender<usize>>);

impl Keepers {
    pub(super) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }

    /// Returns when no process is left. The caller bounds the wait.
    pub(super) async fn all_done(&self) {
        // The sender lives in `self`, so this cannot fail.
        let _ = self.0.subscribe().wait_for(|count| *count == 0).await;
    }

    pub(super) fn enter(&self) -> KeeperGuard {
        self.0.send_modify(|count| *count += 1);
        KeeperGuard(self.clone())
    }
}

pub(super) struct KeeperGuard(Keepers);

impl Drop for KeeperGuard {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}
