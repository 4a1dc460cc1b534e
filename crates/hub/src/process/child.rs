//! A server's process as the rest of the hub holds it: asked to end, seen to be dead, and the
//! reason of its exit. Must not know how a process is started or ended.

use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

use super::stderr::StderrTail;

/// Ends the process, with all that it started, when it is dropped. A task of its own,
/// the reaper, owns the process itself.
#[derive(Debug)]
pub(crate) struct ChildHandle {
    pub(crate) pid: u32,
    pub(crate) stderr_tail: StderrTail,
    pub(crate) fate: Fate,
}

/// What a handle and the reaper of its process share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fate {
    pub(crate) end: CancellationToken,
    dead: CancellationToken,
    exit: Arc<OnceLock<String>>,
}

impl Fate {
    /// Nothing of the process is left; `how` it ended, for example `it exited with status 1`.
    pub(crate) fn set_exit(&self, how: String) {
        // Set once; nobody else writes it.
        let _ = self.exit.set(how);
        self.dead.cancel();
    }
}

impl ChildHandle {
    /// Asks for the end: a grace for the server (its stdin is closed by the caller), SIGTERM, a
    /// grace, SIGKILL.
    pub(crate) fn request_end(&self) {
        self.fate.end.cancel();
    }

    /// Fires once the process has ended and what it left was killed.
    pub(crate) fn dead(&self) -> &CancellationToken {
        &self.fate.dead
    }

    /// How it ended, for example `it exited with status 1`, with its last lines on stderr.
    pub(crate) fn exit_reason(&self) -> String {
        let how = self.fate.exit.get().map_or("it closed its output", String::as_str);
        match self.stderr_tail.last_lines(3) {
            stderr if stderr.is_empty() => how.to_owned(),
            stderr => format!("{how}; it said: {stderr}"),
        }
    }
}

impl Drop for ChildHandle {
    fn drop(&mut self) {
        self.fate.end.cancel();
    }
}
