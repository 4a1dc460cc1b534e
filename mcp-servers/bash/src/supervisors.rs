//! Which supervisors of commands are alive, so that what a dead one left can be told from their
//! jobs, and its end. Must not know how a supervisor is started.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use claw_kit::processes;
use tokio::time::sleep;

const SWEEP_ROUNDS: u32 = 100;
const SWEEP_ROUND: Duration = Duration::from_millis(5);

/// Their process ids. One is in here from its start until its job has been concluded.
#[derive(Default)]
pub struct Supervisors(Mutex<BTreeSet<i32>>);

impl Supervisors {
    pub fn extend(&self, pid: Option<i32>) {
        self.alive().extend(pid);
    }

    pub fn remove(&self, pid: Option<i32>) {
        if let Some(pid) = pid {
            self.alive().remove(&pid);
        }
    }

    /// Kills what has come to us because its supervisor died, and all that it started.
    pub async fn kill_strays(&self) {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        for _ in 0..SWEEP_ROUNDS {
            let spared: BTreeSet<i32> = self.alive().iter().copied().collect();
            let strays = processes::descendants(&processes::list(), own, &spared);
            if strays.is_empty() {
                return;
            }
            processes::kill(&strays);
            for stray in &strays {
                if stray.parent == own {
                    let pid = rustix::process::Pid::from_raw(stray.pid);
                    let _ = rustix::process::waitpid(pid, rustix::process::WaitOptions::NOHANG);
                }
            }
            sleep(SWEEP_ROUND).await;
        }
    }

    fn alive(&self) -> MutexGuard<'_, BTreeSet<i32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
