//! Kills of what claw has started, and not of claw: one of its servers, or the supervisor of one,
//! at a moment that nobody chose. Must not know what must hold then.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::process::{Pid, Signal, kill_process};

use super::random::Random;

/// The longest pause between two looks at what claw has started.
const PAUSE_MICROS_MAX: u64 = 40_000;
/// Of a hundred looks that find somebody so many end with a kill.
const HITS_PERCENT: u64 = 40;
/// The most time in which claw ends what the server of a killed supervisor has left.
pub const STRAYS_TIME_MAX: Duration = Duration::from_secs(5);

/// Who was killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    Server,
    /// It ends its server when it ends.
    Supervisor,
}

/// A kill that has hit.
#[derive(Clone, Debug)]
pub struct Struck {
    pub victim: Victim,
    /// As `mcp.json` calls it; that of the supervisor, if it was one.
    pub server: String,
    /// In milliseconds since 1970, just before and just after the signal.
    pub before_ms: i64,
    pub after_ms: i64,
    /// What the victim had started, directly or not.
    pub below: Vec<i32>,
}

/// A kill to come. The same number means the same choices, not the same victim.
#[derive(Clone, Debug)]
pub struct Strike(pub Random);

struct Child {
    pid: i32,
    parent: i32,
    victim: Victim,
    server: String,
}

impl Strike {
    /// Kills one of those that this claw has started. Waits for as long as there is none.
    pub async fn hit(mut self, claw: Pid) -> Struck {
        loop {
            let pause = 500 + self.0.below(PAUSE_MICROS_MAX);
            tokio::time::sleep(Duration::from_micros(pause)).await;
            let mut found = victims(claw.as_raw_nonzero().get());
            if found.is_empty() || !self.0.chance(HITS_PERCENT) {
                continue;
            }
            let child = found.swap_remove(self.0.below(found.len() as u64) as usize);
            let (below, before_ms) = (descendants(child.pid), now_ms());
            if kill(&child) {
                let Child { victim, server, .. } = child;
                return Struck { victim, server, before_ms, after_ms: now_ms(), below };
            }
        }
    }
}

impl Struck {
    /// What a supervisor that was killed has left is claw's to end, which a claw that was killed
    /// soon after it cannot do any more. Ends it in its place.
    pub fn end_what_claw_could_not(&self, house: &super::house::House) {
        let was_soon = now_ms() - self.after_ms < STRAYS_TIME_MAX.as_millis() as i64;
        let is_left = |pid: &&i32| was_soon && house.is_of_this_house(**pid);
        for pid in self.below.iter().filter(is_left).filter_map(|pid| Pid::from_raw(*pid)) {
            // Gone meanwhile counts as struck.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// The servers and supervisors that are there now.
fn victims(claw: i32) -> Vec<Child> {
    let mut found = Vec::new();
    for pid in children(claw) {
        let words = words(pid);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            [_, "server", server, ..] => found.push(Child {
                pid,
                parent: claw,
                victim: Victim::Server,
                server: (*server).to_owned(),
            }),
            [_, "supervise", server] => {
                let server = (*server).to_owned();
                found.extend(children(pid).into_iter().map(|child| Child {
                    pid: child,
                    parent: pid,
                    victim: Victim::Server,
                    server: server.clone(),
                }));
                found.push(Child { pid, parent: claw, victim: Victim::Supervisor, server });
            }
            _ => {}
        }
    }
    found
}

fn descendants(pid: i32) -> Vec<i32> {
    let mut found = children(pid);
    let mut next = 0;
    while let Some(pid) = found.get(next).copied() {
        found.extend(children(pid));
        next += 1;
    }
    found
}

/// Empty where the system has no such list.
fn children(pid: i32) -> Vec<i32> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .filter_map(|pid| pid.parse().ok())
        .collect()
}

fn words(pid: i32) -> Vec<String> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0)
        .filter(|word| !word.is_empty())
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect()
}

/// False if it has ended meanwhile; then its number may be somebody else's.
#[cfg(target_os = "linux")]
fn kill(child: &Child) -> bool {
    use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
    let Some(pid) = Pid::from_raw(child.pid) else { return false };
    let Ok(held) = pidfd_open(pid, PidfdFlags::empty()) else { return false };
    children(child.parent).contains(&child.pid) && pidfd_send_signal(&held, Signal::KILL).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn kill(_child: &Child) -> bool {
    false
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
