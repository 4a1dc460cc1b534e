//! The folder of one bash server in the delegated one: made and locked at its start, removed at its
//! end, and what dead servers have left removed before. Must not know what a command is limited to.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use rustix::fs::{FlockOperation, flock};

use super::{Settled, Ticket, tree};

const PREFIX: &str = "bash-";

/// Owned by the server until it ends.
pub struct Folder {
    room: Settled,
    name: String,
    commands: AtomicU64,
    /// Held as long as the server lives: the kernel lets go of it with the process.
    _lock: OwnedFd,
}

impl Folder {
    /// Makes the folder of this server, and removes those of dead ones.
    pub fn new(room: Settled) -> io::Result<Self> {
        // Servers that start at the same time take turns, so that none removes what another has
        // made and not locked yet.
        let turn = tree::open_below(&room.dir, ".")?;
        flock(&turn, FlockOperation::LockExclusive)?;
        reap(&room.dir);
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let nanos = since.map_or(0, |since| since.as_nanos());
        let name = format!("{PREFIX}{}-{nanos:x}", std::process::id());
        tree::make(&room.dir, &name)?;
        let lock = tree::open_below(&room.dir, &name)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        tree::hand_on(&room.dir, &name)?;
        // The supervisors of commands inherit the one descriptor.
        room.bequeath()?;
        Ok(Self { room, name, commands: AtomicU64::new(0), _lock: lock })
    }

    /// Where the box has to be open for the server and the supervisors.
    pub fn path(&self) -> PathBuf {
        tree::path_of(self.room.dir.as_raw_fd()).into()
    }

    /// A leaf for the next command, which its supervisor makes.
    pub fn ticket(&self) -> Ticket {
        let number = self.commands.fetch_add(1, Ordering::Relaxed) + 1;
        Ticket {
            descriptor: self.room.dir.as_raw_fd(),
            home: self.room.home.clone(),
            leaf: format!("{}/command-{number}", self.name),
        }
    }

    /// Ends what is left of a command whose supervisor cannot do it any more.
    pub fn end(&self, ticket: &Ticket) {
        tree::kill(&self.room.dir, &ticket.leaf);
        tree::remove(&self.room.dir, &ticket.leaf);
    }

    /// Ends and removes all that is left. Works inside the box.
    pub fn clear(&self) {
        remove_all(&self.room.dir, &self.name);
    }
}

/// Removes the folders of servers that do not live any more, with all that is left in them.
fn reap(dir: &OwnedFd) {
    for name in tree::folders(dir).into_iter().filter(|name| name.starts_with(PREFIX)) {
        let dead =
            |folder: &OwnedFd| flock(folder, FlockOperation::NonBlockingLockExclusive).is_ok();
        if tree::open_below(dir, &name).is_ok_and(|folder| dead(&folder)) {
            remove_all(dir, &name);
        }
    }
}

fn remove_all(dir: &OwnedFd, name: &str) {
    tree::kill(dir, name);
    let leaves = tree::open_below(dir, name).map(tree::folders).unwrap_or_default();
    for leaf in leaves {
        tree::remove(dir, &format!("{name}/{leaf}"));
    }
    tree::remove(dir, name);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn room(dir: &std::path::Path) -> Settled {
        Settled { dir: tree::open(dir).unwrap(), home: "main".to_owned() }
    }

    #[test]
    fn what_a_dead_server_has_left_is_removed_and_a_living_one_is_not_touched() {
        let top = tempfile::tempdir().unwrap();
        let dir = top.path();
        let living = Folder::new(room(dir)).unwrap();
        let living_dir = dir.join(&living.name);
        fs::create_dir_all(living_dir.join("command-1")).unwrap();
        fs::create_dir_all(dir.join("bash-1-dead/command-7")).unwrap();
        fs::create_dir_all(dir.join("main")).unwrap();
        // Something of this one lives yet. Plain files cannot be killed, so it stays.
        let survivor = dir.join("bash-2-dead");
        fs::create_dir_all(&survivor).unwrap();
        fs::write(survivor.join("cgroup.events"), "populated 1\nfrozen 0\n").unwrap();
        let next = Folder::new(room(dir)).unwrap();
        assert!(!dir.join("bash-1-dead").exists());
        assert_eq!(fs::read_to_string(survivor.join("cgroup.kill")).unwrap(), "1");
        assert!(living_dir.join("command-1").exists() && dir.join("main").exists());
        assert!(!living_dir.join("cgroup.kill").exists());
        let own = dir.join(&next.name).join("cgroup.subtree_control");
        assert_eq!(fs::read_to_string(&own).unwrap(), "+memory +pids");
        fs::remove_file(own).unwrap();
        next.clear();
        assert!(!dir.join(&next.name).exists());
    }

    #[test]
    fn every_command_has_a_leaf_of_its_own() {
        let top = tempfile::tempdir().unwrap();
        let folder = Folder::new(room(top.path())).unwrap();
        assert_ne!(folder.ticket().leaf, folder.ticket().leaf);
        assert!(folder.ticket().leaf.starts_with(&folder.name));
    }
}
