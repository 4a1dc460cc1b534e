//! What a server has left behind although its supervisor should have ended it: the supervisor was
//! killed or broken. Claw is a subreaper, so such processes come to it, and it ends them. Owns
//! which children of this process are in good hands. Must not know servers.
//!
//! The list is one for the process, because children are: several agents have a hub each, and what
//! one of them has started is no stray to another.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, WaitId, WaitIdOptions, WaitOptions, waitid, waitpid};

use claw_kit::processes;

static IN_GOOD_HANDS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// A killed process ends at once, unless the kernel itself hangs (a dead network mount).
const ROUNDS: u32 = 200;
const ROUND: Duration = Duration::from_millis(5);

/// A child that somebody waits for. Dropped after its end.
#[derive(Debug)]
pub(super) struct WaitedChild(Option<i32>);

/// Starts a child that somebody waits for. From now on what loses its parent below this process
/// comes to this process, where the system knows such a thing.
///
/// # Errors
/// Those of `spawn`.
pub(super) fn start<C>(
    spawn: impl FnOnce() -> io::Result<C>,
    pid: impl FnOnce(&C) -> Option<u32>,
) -> io::Result<(C, WaitedChild)> {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    // A child that is not in the list is a stray, so nobody may look before it is there.
    let mut list = list();
    let child = spawn()?;
    let pid = pid(&child).and_then(|pid| i32::try_from(pid).ok());
    list.extend(pid);
    Ok((child, WaitedChild(pid)))
}

impl Drop for WaitedChild {
    fn drop(&mut self) {
        if let Some(pid) = self.0 {
            list().remove(&pid);
        }
    }
}

/// Ends all that has come to this process, and what it started. Returns when nothing of it is left.
/// Costs one system call if there is no child at all.
pub(super) async fn end() {
    for _ in 0..ROUNDS {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        if matches!(waitid(WaitId::All, look), Err(rustix::io::Errno::CHILD)) {
            return;
        }
        if !round() {
            return;
        }
        tokio::time::sleep(ROUND).await;
    }
    tracing::warn!("a process that a server left behind does not end");
}

/// Kills what is there. False if there is nothing.
fn round() -> bool {
    // Held, so that nobody starts a child between the look at the table and the kill.
    let kept = list();
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let table = processes::list();
    // Who is in our own group was started by this program for something else; a server never is.
    let group = rustix::process::getpgrp().as_raw_nonzero().get();
    let others = table.iter().filter(|process| process.parent == own && process.group == group);
    let spared = kept.iter().copied().chain(others.map(|process| process.pid)).collect();
    let strays = processes::descendants(&table, own, &spared);
    processes::kill(&strays);
    for stray in strays.iter().filter(|stray| stray.parent == own) {
        let _ = waitpid(Pid::from_raw(stray.pid), WaitOptions::NOHANG);
    }
    !strays.is_empty()
}

fn list() -> MutexGuard<'static, BTreeSet<i32>> {
    IN_GOOD_HANDS.lock().unwrap_or_else(PoisonError::into_inner)
}
