//! What one command may take of the machine: processes, memory, the size of a file, open files, the
//! disk (`disk.rs`). Owns the numbers, how the kernel is told, and the look at what a running
//! command takes. Must not know how a command is started or ended.
//!
//! Memory is limited by `RLIMIT_DATA` (private memory that can be written) and not by `RLIMIT_AS`:
//! node, java and go reserve addresses by the hundred gigabytes and never touch them. Sanitizers
//! map their 20 TiB as writable, so who needs them sets a limit above that. Both count one process
//! alone; the look counts all of a command.

use std::fs;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

use claw_kit::processes::{self, Process};

/// The limits of one command with everything that it starts.
#[derive(clap::Args, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandLimits {
    /// Processes and threads of one command
    #[arg(long, value_name = "COUNT", default_value_t = Self::default().command_processes_max)]
    pub command_processes_max: u64,
    /// Bytes of memory of one command
    #[arg(long, value_name = "BYTES", default_value_t = Self::default().command_memory_bytes_max)]
    pub command_memory_bytes_max: u64,
    /// Bytes of one file that a command writes
    #[arg(long, value_name = "BYTES", default_value_t = Self::default().command_file_bytes_max)]
    pub command_file_bytes_max: u64,
    /// Files that one process of a command may have open
    #[arg(long, value_name = "COUNT", default_value_t = Self::default().command_open_files_max)]
    pub command_open_files_max: u64,
    /// Bytes that a command leaves free on the file systems of the workspace and of TMPDIR; 0 is no
    /// limit
    #[arg(long, value_name = "BYTES", default_value_t = Self::default().command_disk_free_bytes_min)]
    pub command_disk_free_bytes_min: u64,
}

impl Default for CommandLimits {
    fn default() -> Self {
        Self {
            command_processes_max: 1024,
            command_memory_bytes_max: 8 * 1024 * 1024 * 1024,
            command_file_bytes_max: 10 * 1024 * 1024 * 1024,
            command_open_files_max: 65_536,
            command_disk_free_bytes_min: 512 * 1024 * 1024,
        }
    }
}

/// A limit that a command has met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Met {
    Processes,
    Memory,
    FileSize,
    DiskSpace,
    /// Not a limit of the command: the machine, or the service around it, had no memory left.
    MachineMemory,
}

/// SIGXFSZ, setrlimit(2); and how a shell reports a child that it ended.
const FILE_SIZE_SIGNAL: i32 = 25;
const FILE_SIZE_CODE: i32 = 128 + FILE_SIZE_SIGNAL;

impl CommandLimits {
    pub fn checked(self) -> Result<Self, &'static str> {
        if self.command_processes_max < 16 {
            return Err("--command-processes-max must be at least 16");
        }
        if self.command_memory_bytes_max < 16 * 1024 * 1024 {
            return Err("--command-memory-bytes-max must be at least 16777216");
        }
        if self.command_file_bytes_max < 1024 {
            return Err("--command-file-bytes-max must be at least 1024");
        }
        if self.command_open_files_max < 64 {
            return Err("--command-open-files-max must be at least 64");
        }
        Ok(self)
    }

    /// Sets them on this process, for all that it starts from now on. It cannot be taken back. The
    /// kernel counts the processes of a user, not of a command, so those that the user has already
    /// are added. Root it does not count.
    ///
    /// A cgroup counts processes and memory of the whole command, and says when a limit is met. So
    /// there the two rlimits, which would be met first, are left out.
    pub fn apply(&self, in_cgroup: bool) {
        let mut limits = vec![
            (Resource::Fsize, self.command_file_bytes_max),
            (Resource::Nofile, self.command_open_files_max),
        ];
        if !in_cgroup {
            let processes = self.command_processes_max.saturating_add(tasks_of_the_user());
            limits.push((Resource::Nproc, processes));
            limits.push((Resource::Data, self.command_memory_bytes_max));
        }
        for (resource, most) in limits {
            let now = getrlimit(resource);
            let least = |limit: Option<u64>| Some(limit.map_or(most, |limit| limit.min(most)));
            // To lower a limit is allowed to everybody; a kernel without this one has nothing to
            // lower.
            let _ = setrlimit(
                resource,
                Rlimit { current: least(now.current), maximum: least(now.maximum) },
            );
        }
    }

    /// The same with no more memory than the machine can spare: a command in a cgroup is to end
    /// before the machine has none left for others.
    pub fn within_machine(self) -> Self {
        let machine = sum_of("/proc/meminfo", &["MemTotal:"]).unwrap_or(u64::MAX);
        let most = machine / 4 * 3;
        Self { command_memory_bytes_max: self.command_memory_bytes_max.min(most), ..self }
    }

    /// Looks at what a command takes now. `Some` if it takes more than it may, or if the kernel
    /// keeps it from that.
    pub fn look(&self, command: &[Process]) -> Option<Met> {
        let tasks: u64 = command.iter().map(|process| process.threads).sum();
        // Few are kept for what ends and begins between two looks.
        if tasks >= self.command_processes_max - self.command_processes_max / 16 {
            return Some(Met::Processes);
        }
        let used = |bytes: fn(i32) -> Option<u64>| -> u64 {
            command.iter().filter_map(|one| bytes(one.pid)).sum()
        };
        // Memory that a fork shares counts in each of its processes here, so the exact sum decides.
        let above = used(resident_bytes) > self.command_memory_bytes_max
            && used(|pid| proportional_bytes(pid).or_else(|| resident_bytes(pid)))
                > self.command_memory_bytes_max;
        above.then_some(Met::Memory)
    }

    /// Whether the kernel holds the number of processes, so that a command at it is told and lives
    /// on.
    pub fn kernel_counts_processes() -> bool {
        !rustix::process::getuid().is_root()
    }

    /// For the person and the model: which limit, and the setting that changes it.
    pub fn sentence(&self, met: Met, killed: bool) -> String {
        match met {
            Met::Processes => format!(
                "It met the limit of {} processes and threads of one command (`command_processes_max`){}.",
                self.command_processes_max,
                if killed { " and was killed" } else { "" }
            ),
            Met::Memory => format!(
                "It met the limit of {} bytes of memory of one command (`command_memory_bytes_max`) and was killed.",
                self.command_memory_bytes_max
            ),
            Met::FileSize => format!(
                "It met the limit of {} bytes of one file that a command writes (`command_file_bytes_max`).",
                self.command_file_bytes_max
            ),
            Met::DiskSpace => format!(
                "It was killed, because less than {} bytes were left on the disk (`command_disk_free_bytes_min`).",
                self.command_disk_free_bytes_min
            ),
            Met::MachineMemory => {
                "It was killed by the system, because the machine or the service \
                 around it had no memory left. The limit of the command was not met."
                    .to_owned()
            }
        }
    }
}

/// How a process ended may say by itself which limit it met.
pub fn met_by_ending(code: Option<i32>, signal: Option<i32>) -> Option<Met> {
    (code == Some(FILE_SIZE_CODE) || signal == Some(FILE_SIZE_SIGNAL)).then_some(Met::FileSize)
}

/// Processes and threads of this user, as far as the process table shows them: all of them, or
/// those of our namespace, which is then what the kernel counts, too.
fn tasks_of_the_user() -> u64 {
    let own = rustix::process::getuid().as_raw().to_string();
    let of_the_user = |pid: i32| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let user = status.lines().find_map(|line| line.strip_prefix("Uid:"));
        user.and_then(|users| users.split_whitespace().next().map(|real| real == own))
            .unwrap_or(false)
    };
    processes::list()
        .iter()
        .filter(|process| of_the_user(process.pid))
        .map(|process| process.threads)
        .sum()
}

/// Resident memory that no file backs, proc_pid_status(5).
fn resident_bytes(pid: i32) -> Option<u64> {
    sum_of(&format!("/proc/{pid}/status"), &["RssAnon:", "RssShmem:"])
}

/// The same, with what several processes share counted once, proc_pid_smaps(5). Dear: the kernel
/// walks all pages.
fn proportional_bytes(pid: i32) -> Option<u64> {
    sum_of(&format!("/proc/{pid}/smaps_rollup"), &["Pss_Anon:", "Pss_Shmem:"])
}

/// The sum of some rows of the form `NAME NUMBER kB`.
fn sum_of(path: &str, names: &[&str]) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let rows =
        text.lines().filter_map(|line| names.iter().find_map(|name| line.strip_prefix(name)));
    let kib: u64 = rows.filter_map(|row| row.split_whitespace().next()?.parse::<u64>().ok()).sum();
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_processes_are_seen_and_memory_of_this_process_is_counted() {
        let one = |threads| Process { pid: 1, parent: 0, group: 1, threads, ended: false };
        let limits = CommandLimits { command_processes_max: 100, ..CommandLimits::default() };
        assert_eq!(limits.look(&[one(50), one(40)]), None);
        assert_eq!(limits.look(&[one(50), one(50)]), Some(Met::Processes));
        let own = Process { pid: std::process::id() as i32, ..one(1) };
        let small = CommandLimits { command_memory_bytes_max: 1, ..limits };
        if cfg!(target_os = "linux") {
            assert_eq!(small.look(&[own]), Some(Met::Memory));
        }
        assert_eq!(limits.look(&[own]), None);
    }

    #[test]
    fn the_end_by_a_file_that_grew_too_large_is_recognised() {
        assert_eq!(met_by_ending(None, Some(25)), Some(Met::FileSize));
        assert_eq!(met_by_ending(Some(153), None), Some(Met::FileSize));
        assert_eq!(met_by_ending(Some(1), None), None);
    }
}
