//! Finding and killing a process with everything that it started, also what has left its group and
//! its session. Must not know what was
//! started or why.

use std::collections::{BTreeMap, BTreeSet};

use rustix::process::{Pid, Signal, kill_process};

/// One row of the process table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    pub pid: i32,
    pub parent: i32,
    pub group: i32,
    pub threads: u64,
    /// Ended, and waiting to be reaped.
    pub ended: bool,
}

/// The process table, from `/proc`. Empty on systems without one; there only process groups can be
/// killed.
pub fn list() -> Vec<Process> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| parse(pid, &std::fs::read(format!("/proc/{pid}/stat")).ok()?)).collect()
}

/// `pid (comm) state ppid pgrp …`, proc_pid_stat(5). The name may hold anything, also parentheses.
fn parse(pid: i32, stat: &[u8]) -> Option<Process> {
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let rest = std::str::from_utf8(stat.get(after_name..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let threads = fields.nth(14)?.parse().ok()?;
    Some(Process { pid, parent, group, threads, ended: matches!(state, "Z" | "X") })
}

/// All that `ancestor` started, directly or not, except what lies below `spared`.
pub fn descendants(table: &[Process], ancestor: i32, spared: &BTreeSet<i32>) -> Vec<Process> {
    let mut children: BTreeMap<i32, Vec<&Process>> = BTreeMap::new();
    for process in table.iter().filter(|process| !spared.contains(&process.pid)) {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found: Vec<Process> = Vec::new();
    let mut next = vec![ancestor];
    // Each parent is taken once: a table that was read while it changed could hold a circle.
    while let Some(of_one) = next.pop().map(|parent| children.remove(&parent).unwrap_or_default()) {
        next.extend(of_one.iter().map(|process| process.pid));
        found.extend(of_one.into_iter().copied());
    }
    found
}

/// One round of killing: first all are stopped, so that none starts another one while the others
/// are killed. A process that is gone already counts as killed.
pub fn kill(processes: &[Process]) {
    for signal in [Signal::STOP, Signal::KILL] {
        for process in processes.iter().filter(|process| !process.ended) {
            if let Some(pid) = Pid::from_raw(process.pid) {
                let _ = kill_process(pid, signal);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, parent: i32) -> Process {
        Process { pid, parent, group: pid, threads: 1, ended: false }
    }

    #[test]
    fn a_name_cannot_forge_the_parent() {
        let row = parse(7, b"7 (x) R 1 1 (y) S 42 40 40 0 -1 0 0 0 0 0 0 0 0 0 20 0 3 0").unwrap();
        assert_eq!(row, Process { pid: 7, parent: 42, group: 40, threads: 3, ended: false });
        assert!(parse(7, b"7 (zombie) Z 1 2 2 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0").unwrap().ended);
        assert_eq!(parse(7, b"garbage"), None);
    }

    #[test]
    fn descendants_are_found_at_any_depth_and_the_spared_are_left_out() {
        let table = [
            process(2, 1),
            process(3, 2),
            process(4, 3),
            process(10, 2),
            process(5, 9),
            process(9, 5),
        ];
        let mut pids: Vec<i32> =
            descendants(&table, 1, &BTreeSet::from([3])).iter().map(|p| p.pid).collect();
        pids.sort_unstable();
        assert_eq!(pids, [2, 10]);
        assert_eq!(descendants(&table, 5, &BTreeSet::new()).len(), 2, "a circle ends");
    }
}
