//! A control group (cgroup v2) for each command, where a folder of the tree was delegated to this
//! user. This file owns which folder that is, why there is none, and how a process makes room in
//! it. Must not know commands.
//!
//! The kernel counts either in a folder's processes or in the folders below it. So whoever stands
//! in the delegated folder moves into the leaf `main` below it, and hands the counting of memory
//! and processes on to the folders beside that (cgroups(7), "no internal processes").
//!
//! ```text
//! claw.service/             delegated by systemd (Delegate=)
//!   main/                   claw, its servers, the supervisors of commands
//!   bash-417-18c2f0…/       one bash server (`folder.rs`)
//!     command-3/            one command with all that it starts (`leaf.rs`)
//! ```
//!
//! Everything goes through one descriptor of the delegated folder, opened before the server has
//! mounts of its own. For these the tree is read-only (`namespace.rs`), and the inner layer of the
//! box keeps commands from writing to it (`confine`).

mod delegation;
mod folder;
mod leaf;
mod tree;

use std::fmt;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::path::{Path, PathBuf};

use rustix::io::FdFlags;

pub use folder::Folder;
pub use leaf::{Leaf, Ticket};

const CONTROLLERS: [&str; 2] = ["memory", "pids"];
/// The leaf for the processes that stood in the delegated folder.
const MAIN: &str = "main";

/// Where commands can have a cgroup of their own. Nothing is changed yet.
#[derive(Debug, PartialEq, Eq)]
pub struct Room {
    /// The delegated folder.
    dir: PathBuf,
    /// The folder below it that this process stands in; `None` if it stands in `dir` itself.
    home: Option<String>,
}

/// A room that is made: its folders may be given limits.
#[derive(Debug)]
pub struct Settled {
    dir: OwnedFd,
    home: String,
}

/// Why commands have no cgroup of their own.
#[derive(Debug, PartialEq, Eq)]
pub enum Missing {
    NoTree,
    /// The unit that this process stands in.
    NotDelegated(String),
    /// The unit that the user's service manager was asked about.
    ManagerSilent(String),
    Controllers {
        dir: String,
        missing: Vec<&'static str>,
    },
    /// Other processes stand in the delegated folder.
    Crowded(String),
    Refused {
        dir: String,
        why: String,
    },
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTree => write!(f, "this system has no cgroup v2 tree"),
            Self::NotDelegated(unit) => write!(f, "{unit} is not delegated to this user"),
            Self::ManagerSilent(unit) => {
                write!(f, "`systemctl --user` did not say in time whether {unit} is delegated")
            }
            Self::Controllers { dir, missing } => {
                write!(f, "{dir} lacks the controllers {}", missing.join(" and "))
            }
            Self::Crowded(dir) => write!(f, "other processes stand in {dir} beside this one"),
            Self::Refused { dir, why } => write!(f, "{dir} cannot be used: {why}"),
        }
    }
}

impl fmt::Display for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&name(&self.dir))
    }
}

/// Whether commands that this process starts can have a cgroup of their own. Changes nothing.
pub fn look() -> Result<Room, Missing> {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let own = own(&read("/proc/self/cgroup"), &read("/proc/self/mountinfo"));
    let room = Room::find(&own.ok_or(Missing::NoTree)?, delegation::is_given)?;
    room.controllers()?;
    if room.home.is_none() {
        room.is_alone_here()?;
    }
    Ok(room)
}

/// The folder of this process. `cgroups` is `/proc/self/cgroup`, and `mounts` is
/// `/proc/self/mountinfo` (cgroups(7), proc_pid_mountinfo(5)).
fn own(cgroups: &str, mounts: &str) -> Option<PathBuf> {
    let path = cgroups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let (root, target) = mounts.lines().find_map(|line| {
        let (mount, kind) = line.split_once(" - ")?;
        let mut words = mount.split(' ').skip(3);
        kind.starts_with("cgroup2 ").then_some((words.next()?, words.next()?))
    })?;
    Some(Path::new(target).join(Path::new(path).strip_prefix(root).ok()?))
}

fn name(dir: &Path) -> String {
    dir.file_name().unwrap_or(dir.as_os_str()).to_string_lossy().into_owned()
}

impl Room {
    fn find(
        own: &Path,
        is_delegated: impl Fn(&Path) -> Result<bool, Missing>,
    ) -> Result<Self, Missing> {
        let unit = name(own);
        // What the manager of all the user's units was given is its own.
        let is_unit = [".service", ".scope", ".slice"].iter().any(|kind| unit.ends_with(kind));
        match own.parent().filter(|_| !is_unit) {
            _ if is_delegated(own)? => Ok(Self { dir: own.to_owned(), home: None }),
            Some(parent) if is_delegated(parent)? => {
                Ok(Self { dir: parent.to_owned(), home: Some(unit) })
            }
            _ => Err(Missing::NotDelegated(unit)),
        }
    }

    fn controllers(&self) -> Result<(), Missing> {
        let there = fs::read_to_string(self.dir.join("cgroup.controllers")).unwrap_or_default();
        let missing = lacking(&there);
        if missing.is_empty() {
            return Ok(());
        }
        Err(Missing::Controllers { dir: self.to_string(), missing })
    }

    fn is_alone_here(&self) -> Result<(), Missing> {
        if is_alone_in(&self.dir) { Ok(()) } else { Err(Missing::Crowded(self.to_string())) }
    }

    /// Makes the room: moves this process with all of its threads into a leaf, if it stands in the
    /// delegated folder itself, and turns the controllers on for the folders below it. What this
    /// process has started before stays where it is, so call it early. Again does nothing more.
    ///
    /// # Errors
    /// Other processes in the delegated folder, or what the kernel has refused.
    pub fn settle(&self) -> Result<Settled, Missing> {
        let refused =
            |error: io::Error| Missing::Refused { dir: self.to_string(), why: error.to_string() };
        let dir = tree::open(&self.dir).map_err(refused)?;
        let home = match &self.home {
            Some(home) => home.clone(),
            None => {
                self.is_alone_here()?;
                tree::make(&dir, MAIN).map_err(refused)?;
                tree::enter(&dir, MAIN).map_err(refused)?;
                MAIN.to_owned()
            }
        };
        tree::hand_on(&dir, ".").map_err(|error| match error.raw_os_error() {
            // cgroups(7): a folder with processes in it cannot hand anything on.
            Some(code) if code == rustix::io::Errno::BUSY.raw_os_error() => {
                Missing::Crowded(self.to_string())
            }
            _ => refused(error),
        })?;
        delegation::mark(&self.dir);
        Ok(Settled { dir, home })
    }
}

/// Whether no other process stands in this very folder.
fn is_alone_in(dir: &Path) -> bool {
    let inside = fs::read_to_string(dir.join("cgroup.procs")).unwrap_or_default();
    let own = std::process::id().to_string();
    inside.lines().all(|pid| pid == own)
}

/// The controllers that a list of names lacks.
fn lacking(list: &str) -> Vec<&'static str> {
    let there = |name: &str| list.split_whitespace().any(|word| word == name);
    CONTROLLERS.into_iter().filter(|name| !there(name)).collect()
}

impl Settled {
    /// The room that an outer process has made and handed on as an open descriptor.
    pub fn inherited(descriptor: RawFd, home: &str) -> io::Result<Self> {
        Ok(Self { dir: tree::reopen(descriptor)?, home: home.to_owned() })
    }

    /// The descriptor's number and the home, for a program that is started with it.
    pub fn bequeath(&self) -> io::Result<(RawFd, &str)> {
        rustix::io::fcntl_setfd(&self.dir, FdFlags::empty())?;
        Ok((self.dir.as_raw_fd(), &self.home))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "22 20 0:20 / /proc rw - proc proc rw\n\
        30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
    const SERVICE: &str = "/user.slice/user-7.slice/user@7.service/app.slice/claw.service";

    #[test]
    fn the_own_folder_is_found_below_the_mount() {
        let own = |cgroups: &str, mounts: &str| own(cgroups, mounts);
        let found = own(&format!("1:name=systemd:/x\n0::{SERVICE}\n"), MOUNTS).unwrap();
        assert_eq!(found, Path::new(&format!("/sys/fs/cgroup{SERVICE}")));
        let part = MOUNTS.replace("0:26 / ", "0:26 /user.slice ");
        let found = own("0::/user.slice/a\n", &part).unwrap();
        assert_eq!(found, Path::new("/sys/fs/cgroup/a"));
        assert_eq!(own("0::/elsewhere\n", &part), None, "outside of what is mounted");
        assert_eq!(own("4:memory:/x\n", MOUNTS), None, "version 1 alone");
        assert_eq!(own("0::/x\n", "22 20 0:20 / /proc rw - proc proc rw\n"), None);
    }

    #[test]
    fn only_what_is_marked_as_delegated_is_taken() {
        let service = Path::new("/c/user@7.service/app.slice/claw.service");
        let manager = Path::new("/c/user@7.service");
        let marked = |dir: &Path| Ok(dir == service || dir == manager);
        let room = |home: Option<&str>| {
            Ok(Room { dir: service.to_owned(), home: home.map(str::to_owned) })
        };
        assert_eq!(Room::find(service, marked), room(None));
        assert_eq!(Room::find(&service.join("main"), marked), room(Some("main")));
        let deeper = Room::find(&service.join("bash-1/command-1"), marked);
        assert_eq!(deeper, Err(Missing::NotDelegated("command-1".to_owned())));
        // The folder of the user's manager is not ours, although it is marked and the user's.
        let neighbour = Room::find(&manager.join("init.scope"), marked);
        assert_eq!(neighbour, Err(Missing::NotDelegated("init.scope".to_owned())));
        let silent = || Missing::ManagerSilent("claw.service".to_owned());
        assert_eq!(Room::find(service, |_| Err(silent())), Err(silent()));
        assert!(Room::find(Path::new("/"), |_| Ok(false)).is_err());
    }

    /// Plain files in the place of the kernel's.
    fn pretended(processes: &str, controllers: &str) -> (tempfile::TempDir, Room) {
        let top = tempfile::tempdir().unwrap();
        let dir = top.path().join("claw.service");
        fs::create_dir(&dir).unwrap();
        fs::write(dir.join("cgroup.procs"), processes).unwrap();
        fs::write(dir.join("cgroup.controllers"), controllers).unwrap();
        fs::write(dir.join("cgroup.subtree_control"), "").unwrap();
        (top, Room { dir, home: None })
    }

    #[test]
    fn who_stands_in_the_delegated_folder_moves_before_it_hands_on() {
        let own = format!("{}\n", std::process::id());
        let (_top, room) = pretended(&own, "cpu memory pids\n");
        assert_eq!(room.controllers(), Ok(()));
        let settled = room.settle().unwrap();
        assert_eq!(settled.home, MAIN);
        let text = |path: &str| fs::read_to_string(room.dir.join(path)).unwrap();
        assert_eq!(text("main/cgroup.procs"), "0");
        assert_eq!(text("cgroup.subtree_control"), "+memory +pids");
        // Whoever stands in a leaf already stays there.
        let second = Room { dir: room.dir.clone(), home: Some("main".to_owned()) };
        fs::write(room.dir.join("main/cgroup.procs"), "").unwrap();
        fs::write(room.dir.join("cgroup.subtree_control"), "memory pids\n").unwrap();
        assert_eq!(second.settle().unwrap().home, "main");
        assert_eq!(text("main/cgroup.procs"), "");
        assert_eq!(text("cgroup.subtree_control"), "memory pids\n");
        let (descriptor, home) = settled.bequeath().unwrap();
        let again = Settled::inherited(descriptor, home).unwrap();
        assert_eq!(tree::read(&again.dir, "cgroup.subtree_control").unwrap(), "memory pids\n");
    }

    #[test]
    fn a_folder_with_others_in_it_or_without_controllers_is_left_as_it_is() {
        let (_top, crowded) = pretended(&format!("1\n{}\n", std::process::id()), "memory pids\n");
        assert_eq!(crowded.settle().unwrap_err(), Missing::Crowded("claw.service".to_owned()));
        assert!(!crowded.dir.join("main").exists());
        let (_top, poor) = pretended("", "cpu pids\n");
        let why = poor.controllers().unwrap_err();
        assert_eq!(why.to_string(), "claw.service lacks the controllers memory");
    }
}
