//! The id of a call that claw makes by itself and that belongs to no session. Must not know what is
//! called.

use super::Calls;
use crate::domain::CallId;
use crate::store::{StoreError, now_ms};

/// More process ids than that are taken for one another.
const PROCESSES: u64 = 100_000;

impl Calls {
    /// Named after the moment and the process, so that two processes never mean the same call.
    pub fn free_id(&self, named: impl Fn(u64) -> CallId) -> Result<CallId, StoreError> {
        let process = u64::from(std::process::id()) % PROCESSES;
        let mut at_ms = now_ms().unsigned_abs();
        loop {
            let id = named(at_ms * PROCESSES + process);
            if self.store.read(|tx| tx.call(&id))?.is_none() {
                return Ok(id);
            }
            at_ms += 1;
        }
    }
}
