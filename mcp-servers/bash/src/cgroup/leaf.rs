//! The leaf of one command: its limits, the way into it and out again, which limit was met, and its
//! end. Owned by the command's supervisor. Must not know how a command is started.

use std::io;
use std::os::fd::{OwnedFd, RawFd};

use serde::{Deserialize, Serialize};

use super::tree;
use crate::limits::{CommandLimits, Met};

/// What a supervisor has to know to make the leaf of its command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticket {
    /// The delegated folder, open in server and supervisor under this number.
    pub descriptor: RawFd,
    /// The folder below it that server and supervisor stand in.
    pub home: String,
    /// The leaf, below the delegated folder.
    pub leaf: String,
}

pub struct Leaf {
    dir: OwnedFd,
    home: String,
    path: String,
}

impl Leaf {
    /// Makes the leaf with the limits of the command, and nothing in it.
    pub fn new(ticket: &Ticket, limits: &CommandLimits) -> io::Result<Self> {
        let dir = tree::reopen(ticket.descriptor)?;
        let leaf = Self { dir, home: ticket.home.clone(), path: ticket.leaf.clone() };
        tree::make(&leaf.dir, &leaf.path)?;
        if let Err(error) = leaf.limit(limits) {
            leaf.remove();
            return Err(error);
        }
        Ok(leaf)
    }

    fn limit(&self, limits: &CommandLimits) -> io::Result<()> {
        self.write("pids.max", &limits.command_processes_max.to_string())?;
        self.write("memory.max", &limits.command_memory_bytes_max.to_string())?;
        // A kernel without swap does not have this one. With it, memory would be twice the limit.
        let _ = self.write("memory.swap.max", "0");
        Ok(())
    }

    /// Moves this process into the leaf: what it starts from now on begins there.
    pub fn enter(&self) -> io::Result<()> {
        tree::enter(&self.dir, &self.path)
    }

    /// Moves this process out again. From then on too much memory ends all that is in the leaf, not
    /// one process of it.
    pub fn leave(&self) -> io::Result<()> {
        tree::enter(&self.dir, &self.home)?;
        // Linux 4.19. Without it the kernel ends one process, and the supervisor the others.
        let _ = self.write("memory.oom.group", "1");
        Ok(())
    }

    /// The limit that was met, as the kernel has counted ("Memory Interface Files" and "PID
    /// Interface Files" in the kernel's cgroup-v2.rst).
    pub fn met(&self) -> Option<Met> {
        let rows = |file| tree::read(&self.dir, &format!("{}/{file}", self.path));
        met(&rows("memory.events").unwrap_or_default(), &rows("pids.events").unwrap_or_default())
    }

    /// Kills all that is in the leaf at once. Whether the kernel can.
    pub fn kill(&self) -> bool {
        tree::kill(&self.dir, &self.path)
    }

    pub fn remove(&self) {
        tree::remove(&self.dir, &self.path);
    }

    fn write(&self, file: &str, text: &str) -> io::Result<()> {
        tree::write(&self.dir, &format!("{}/{file}", self.path), text)
    }
}

fn met(memory: &str, processes: &str) -> Option<Met> {
    let some = |rows, name| tree::number(rows, name).is_some_and(|count| count > 0);
    if some(memory, "oom_kill") {
        // `oom` counts here alone if it is this leaf that had no more.
        return Some(if some(memory, "oom") { Met::Memory } else { Met::MachineMemory });
    }
    some(processes, "max").then_some(Met::Processes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::fd::AsRawFd as _;

    #[test]
    fn the_limits_are_written_before_anything_is_in_the_leaf() {
        let top = tempfile::tempdir().unwrap();
        fs::create_dir_all(top.path().join("bash-1")).unwrap();
        fs::create_dir_all(top.path().join("main")).unwrap();
        let dir = tree::open(top.path()).unwrap();
        let ticket = Ticket {
            descriptor: dir.as_raw_fd(),
            home: "main".to_owned(),
            leaf: "bash-1/command-1".to_owned(),
        };
        let limits = CommandLimits {
            command_processes_max: 99,
            command_memory_bytes_max: 1_000_000,
            ..CommandLimits::default()
        };
        let text = |path: &str| fs::read_to_string(top.path().join(path)).unwrap_or_default();
        let leaf = Leaf::new(&ticket, &limits).unwrap();
        assert_eq!(text("bash-1/command-1/pids.max"), "99");
        assert_eq!(text("bash-1/command-1/memory.max"), "1000000");
        assert_eq!(text("bash-1/command-1/memory.swap.max"), "0");
        assert_eq!(text("bash-1/command-1/cgroup.procs"), "");
        leaf.enter().unwrap();
        assert_eq!(text("bash-1/command-1/cgroup.procs"), "0");
        assert_eq!(text("bash-1/command-1/memory.oom.group"), "", "the supervisor is in it");
        leaf.leave().unwrap();
        assert_eq!(text("main/cgroup.procs"), "0");
        assert_eq!(text("bash-1/command-1/memory.oom.group"), "1");
        assert_eq!(leaf.met(), None);
        let events = top.path().join("bash-1/command-1/pids.events");
        fs::write(events, "max 3\n").unwrap();
        assert_eq!(leaf.met(), Some(Met::Processes));
    }

    #[test]
    fn a_leaf_that_cannot_be_limited_is_none() {
        let top = tempfile::tempdir().unwrap();
        let dir = tree::open(top.path()).unwrap();
        let ticket = Ticket {
            descriptor: dir.as_raw_fd(),
            home: "main".to_owned(),
            leaf: "gone/command-1".to_owned(),
        };
        assert!(Leaf::new(&ticket, &CommandLimits::default()).is_err());
    }

    #[test]
    fn the_events_say_which_limit_was_met() {
        let quiet = "low 0\nhigh 0\nmax 12\noom 0\noom_kill 0\noom_group_kill 0\n";
        assert_eq!(met(quiet, "max 0\n"), None, "to be near the limit of memory is no harm");
        assert_eq!(met(quiet, "max 4\n"), Some(Met::Processes));
        let over = quiet.replace("oom 0", "oom 2").replace("oom_kill 0", "oom_kill 5");
        assert_eq!(met(&over, "max 4\n"), Some(Met::Memory));
        // Somebody else has taken the machine's memory, or that of the whole service.
        let machine = quiet.replace("oom_kill 0", "oom_kill 1");
        assert_eq!(met(&machine, "max 0\n"), Some(Met::MachineMemory));
        assert_eq!(met("", ""), None);
    }
}
