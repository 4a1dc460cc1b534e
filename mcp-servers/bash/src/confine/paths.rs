//! Which paths lie inside the box. Must not know how the kernel is told.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::args::Settings;
use crate::level::Level;
use crate::network::Access;
use crate::openings::Openings;
use crate::wire::{CommandAccess, JobSpec};

/// System directories without which hardly a command runs. A protected directory inside one of them
/// stops the start.
pub const ESSENTIAL_PATHS: &[&str] =
    &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc"];

/// Read and execute where they exist; left out where a protected directory lies inside. `/proc`
/// guards what is secret by ptrace, which the inner layer refuses. Of `/sys` only what programs
/// read to count processors and memory. The rest is what a name lookup needs, and the system
/// profiles of distributions without `/usr`.
const OPTIONAL_PATHS: &[&str] = &[
    "/opt",
    "/nix",
    "/gnu",
    "/snap",
    "/proc",
    "/sys/devices/system",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/NetworkManager/resolv.conf",
    "/run/current-system",
    "/mnt/wsl/resolv.conf",
];

/// Where the system's programs lie, with their libraries and data: what a command that only reads
/// may open beside the workspace. Not `/opt`, where the administrator puts anything.
pub const PROGRAMS: &[&str] =
    &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"];

/// What such programs open of `/etc`, which also holds what is nobody's business: names of users
/// and groups, the loader's table, the time zone, alternatives, and settings without secrets.
const SETTINGS_OF_PROGRAMS: &[&str] = &[
    "/etc/ld.so.cache",
    "/etc/ld.so.preload",
    "/etc/ld-musl-x86_64.path",
    "/etc/ld-musl-aarch64.path",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/locale.alias",
    "/etc/magic",
    "/etc/magic.mime",
    "/etc/gitconfig",
    "/etc/gitattributes",
    "/etc/passwd",
    "/etc/group",
    "/etc/nsswitch.conf",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/protocols",
    "/etc/os-release",
    "/etc/lsb-release",
    "/etc/debian_version",
    "/etc/alternatives",
    "/etc/mime.types",
    "/etc/inputrc",
    "/etc/terminfo",
    "/etc/fonts",
    "/etc/perl",
    "/etc/python3",
    "/etc/ssl/openssl.cnf",
    "/etc/ssl/certs",
    "/etc/pki/tls/certs",
    "/etc/crypto-policies",
];

/// What programs count processors and memory by.
const COUNTERS_OF_PROGRAMS: &[&str] = &[
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/kernel/mm/transparent_hugepage",
    "/proc/meminfo",
    "/proc/cpuinfo",
    "/proc/stat",
    "/proc/loadavg",
    "/proc/uptime",
    "/proc/version",
    "/proc/filesystems",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/vm/overcommit_memory",
];

/// Read and write. No `/dev/pts` and no `/dev/shm`: they hold the user's terminals and other
/// programs' memory.
const DEVICES: &[&str] =
    &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// Everything that a command can reach.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "there is no box to tell it to"))]
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Boundary {
    /// Everything is allowed below these.
    pub writable: Vec<PathBuf>,
    /// Read, list and execute below these.
    pub readable: Vec<PathBuf>,
    /// Single device files, read and write.
    pub devices: Vec<PathBuf>,
    /// The folder for the cgroups of commands: everything is allowed below it to the server and
    /// the supervisors. The inner layer takes that from the commands.
    pub cgroup: Option<PathBuf>,
    /// Our own program, which starts itself again to watch over a job.
    pub own_program: Option<PathBuf>,
}

impl Boundary {
    /// `output` is writable for the server; the inner layer takes that from the commands.
    pub fn new(settings: &Settings, given: &CommandAccess, scratch: &Path, output: &Path) -> Self {
        let system = ESSENTIAL_PATHS
            .iter()
            .chain(OPTIONAL_PATHS)
            .filter_map(|path| Path::new(path).canonicalize().ok());
        let holds_no_secret =
            |path: &PathBuf| !settings.protect.iter().any(|protected| protected.starts_with(path));
        let mut readable: Vec<PathBuf> =
            system.filter(holds_no_secret).chain(settings.read_only.iter().cloned()).collect();
        readable.extend(given.programs.iter().cloned());
        readable.push(given.told.clone());
        readable.extend(given.opened.read.iter().cloned());
        readable.sort();
        readable.dedup();
        let mut writable = vec![
            settings.workspace.clone(),
            scratch.to_owned(),
            output.to_owned(),
            given.home.clone(),
        ];
        writable.extend(given.opened.write.iter().cloned());
        Self {
            writable,
            readable,
            devices: devices(),
            cgroup: None,
            own_program: cfg!(target_os = "linux").then(|| PathBuf::from("/proc/self/exe")),
        }
    }
}

impl Boundary {
    /// The same without these folders, which are gone and cannot be named to the kernel.
    pub fn without(&self, gone: &[PathBuf]) -> Self {
        let left = |paths: &[PathBuf]| -> Vec<PathBuf> {
            paths.iter().filter(|path| !gone.contains(path)).cloned().collect()
        };
        Self { writable: left(&self.writable), readable: left(&self.readable), ..self.clone() }
    }
}

impl Boundary {
    /// The same with what the owner has opened to one command alone.
    pub fn and(mut self, opened: &Openings, level: Level) -> Self {
        self.readable.extend(opened.read.iter().cloned());
        // At level `read` no mount of its own stays writable.
        let changed = if level > Level::Read { &mut self.writable } else { &mut self.readable };
        changed.extend(opened.write.iter().cloned());
        self
    }
}

/// The inner layer of one command.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "there is no box to tell it to"))]
pub struct Inner {
    pub writable: Vec<PathBuf>,
    /// `None`: what the outer layer lets it.
    pub reading: Option<Reading>,
    /// No mode, owner, time or attribute of a file is changed.
    pub changes_nothing: bool,
    pub access: Access,
}

/// All that a command may open at level `read`.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "there is no box to tell it to"))]
pub struct Reading {
    /// Read, list and execute.
    pub programs: Vec<PathBuf>,
    /// Read and list.
    pub data: Vec<PathBuf>,
}

impl Inner {
    pub fn new(spec: &JobSpec) -> Self {
        let (workspace, scratch) = (spec.workspace.clone(), spec.scratch.clone());
        let access = spec.access;
        if spec.level > Level::Read {
            let mut writable = vec![workspace, scratch];
            writable.extend(spec.home_open.iter().cloned());
            writable.extend(spec.given.opened.write.iter().cloned());
            return Self { writable, reading: None, changes_nothing: false, access };
        }
        let real = |paths: &[&str]| -> Vec<PathBuf> {
            paths.iter().filter_map(|path| Path::new(path).canonicalize().ok()).collect()
        };
        let mut data: Vec<PathBuf> = real(SETTINGS_OF_PROGRAMS);
        data.extend(real(COUNTERS_OF_PROGRAMS));
        data.push(spec.given.told.clone());
        data.extend(spec.given.opened.all().cloned());
        // A process table of the server's own holds nobody else's processes.
        if spec.own_process_table {
            data.push(PathBuf::from("/proc"));
        }
        // A program of the workspace or of HOME can do no more here than one of the system's.
        let mut programs: Vec<PathBuf> = real(PROGRAMS);
        programs.extend([workspace, scratch.clone(), spec.given.home.clone()]);
        programs.extend(spec.given.programs.iter().cloned());
        let reading = Reading { programs, data };
        Self {
            writable: vec![scratch],
            reading: Some(reading),
            changes_nothing: !spec.only_tmp_can_change,
            access,
        }
    }
}

/// The single device files that there are.
pub fn devices() -> Vec<PathBuf> {
    DEVICES.iter().map(PathBuf::from).filter(|path| path.exists()).collect()
}
