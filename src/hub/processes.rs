//! Finding and killing a process with everything that it started, also what has left its group and its session.
//! Must not know servers. (`mcp-servers/bash` has the like: its crate depends on nothing of ours, and we not on it.)

use rustix::process::{Pid, Signal, kill_process};

/// One row of the process table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    /// Ended, and waiting to be reaped.
    pub(super) ended: bool,
}

/// The process table, from `/proc`. Empty on systems without one; there only process groups can be killed.
pub(super) fn list() -> Vec<Process> {
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
    Some(Process { pid, parent, group, ended: matches!(state, "Z" | "X") })
}

/// All that `ancestor` started, directly or not.
pub(super) fn descendants(table: &[Process], ancestor: i32) -> Vec<Process> {
    let mut found: Vec<Process> = Vec::new();
    let mut next = vec![ancestor];
    while let Some(parent) = next.pop() {
        for process in table.iter().filter(|process| process.parent == parent) {
            // A table that was read while it changed could hold a circle.
            if !found.contains(process) {
                found.push(*process);
                next.push(process.pid);
            }
        }
    }
    found
}

/// SIGKILL. A process that is gone already is what was wished for.
pub(super) fn kill(process: &Process) {
    if let Some(pid) = Pid::from_raw(process.pid).filter(|_| !process.ended) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_forge_the_parent() {
        let row = parse(7, b"7 (x) R 1 1 (y) S 42 40 40 0 -1").unwrap();
        assert_eq!(row, Process { pid: 7, parent: 42, group: 40, ended: false });
        assert!(parse(7, b"7 (zombie) Z 1 2").unwrap().ended);
        assert_eq!(parse(7, b"garbage"), None);
    }

    #[test]
    fn descendants_are_found_at_any_depth() {
        let process = |pid, parent| Process { pid, parent, group: pid, ended: false };
        let table = [process(2, 1), process(3, 2), process(4, 3), process(5, 9), process(9, 5)];
        let mut pids: Vec<i32> = descendants(&table, 1).iter().map(|p| p.pid).collect();
        pids.sort_unstable();
        assert_eq!(pids, [2, 3, 4]);
        assert_eq!(descendants(&table, 5).len(), 2, "a circle ends");
    }
}
