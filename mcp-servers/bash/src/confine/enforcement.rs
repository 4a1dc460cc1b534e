//! What of the box is in force on this system, and the sentence that says so. Must not
//! know how it is closed.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::level::Level;

/// What the operating system holds. Compare, do not guess: `keeps_files` is the promise that claw's
/// gate builds on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enforcement {
    /// The Landlock ABI in force, 0 for none. 3 (Linux 6.2) keeps files out of reach, 5 (6.10) adds
    /// devices, 6 (6.12) signals and abstract sockets, 9 (7.1) lets the kernel judge each Unix
    /// socket by its path.
    pub landlock_abi: u32,
    /// Whether the filter of system calls is in force: Unix sockets, io_uring, namespaces, mounts,
    /// keys.
    pub seccomp: bool,
    /// Whether commands have a process table, System V memory and mounts of their own.
    pub namespaces: bool,
    /// Whether a command can have a network of its own, so that it reaches the hosts that it named
    /// and no others.
    pub own_networks: bool,
    /// Whether each command has a process table and mounts of its own: `/tmp` is its own, and level
    /// `write` keeps what other programs obey on sight.
    pub own_mounts: bool,
    /// Whether all that commands may not change is mounted read-only: there is no file system of
    /// another machine or of a program that they could change.
    pub sealed: bool,
}

/// The capability by which a server tells its host what its box holds.
const BOX: &str = "claw/box";

/// The promises of a box, in short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Commands reach no file outside of the workspace but the system's.
    pub files: bool,
    /// Commands do nothing beyond the levels `read` and `write`.
    pub levels: bool,
    /// Level `write` leaves what other programs obey on sight as it is.
    pub protected: bool,
}

impl Held {
    /// As it stands among the server's capabilities, in its first answer.
    pub fn told(self) -> BTreeMap<String, Map<String, Value>> {
        let Self { files, levels, protected } = self;
        let held = [("files", files), ("levels", levels), ("protected", protected)];
        let held = held.map(|(name, is_held)| (name.to_owned(), Value::Bool(is_held)));
        BTreeMap::from([(BOX.to_owned(), Map::from_iter(held))])
    }
}

impl Enforcement {
    pub const NONE: Self = Self {
        landlock_abi: 0,
        seccomp: false,
        namespaces: false,
        own_networks: false,
        own_mounts: false,
        sealed: false,
    };

    /// Whether the contents of files outside of the workspace are safe from commands.
    pub fn keeps_files(self) -> bool {
        self.landlock_keeps_files() || self.mounts_keep_files()
    }

    /// Before ABI 3 a command can still truncate a file that it cannot open.
    pub fn landlock_keeps_files(self) -> bool {
        self.landlock_abi >= 3
    }

    /// Before that, read-only mounts keep files from being cut; to keep them from being read still
    /// takes Landlock. The filter keeps a command from taking the mounts away.
    fn mounts_keep_files(self) -> bool {
        self.landlock_abi >= 1 && self.seccomp && self.own_mounts && self.sealed
    }

    /// Whether nothing that a command does at this level can go beyond it. Where it cannot be held
    /// a command runs in what there is, and its host has to ask.
    pub fn holds(self, level: Level) -> bool {
        // Before ABI 6 only a process table of its own keeps a command from signalling the user's
        // other processes.
        let keeps_processes = self.landlock_abi >= 6 || self.namespaces;
        match level {
            Level::Read | Level::Write => self.keeps_files() && self.seccomp && keeps_processes,
            Level::Network => self.keeps_files(),
        }
    }

    /// Whether a command at level `write` leaves what other programs obey on sight as it is.
    pub fn keeps_what_is_obeyed(self) -> bool {
        self.holds(Level::Write) && self.own_mounts
    }

    /// What a host goes by that judges commands before they run.
    pub fn held(self) -> Held {
        Held {
            files: self.keeps_files(),
            levels: [Level::Read, Level::Write].into_iter().all(|level| self.holds(level)),
            protected: self.keeps_what_is_obeyed(),
        }
    }

    /// What is in force of a level on this system, for whoever asks what it is worth.
    pub fn says(self, level: Level) -> String {
        if !self.holds(level) {
            return "not held on this system, so its commands ask like all others".to_owned();
        }
        let network =
            if self.own_networks { "a loopback of its own" } else { "no loopback either" };
        let by_mounts = if self.landlock_keeps_files() {
            ""
        } else {
            "; by read-only mounts, because Landlock is older than Linux 6.2 here"
        };
        let said = match (level, self.own_mounts) {
            (Level::Read, true) => format!(
                "held: looks and changes nothing; /tmp and processes of its own; no network but \
                 {network}"
            ),
            (Level::Read, false) => {
                format!("held: looks and changes nothing; no network, {network}")
            }
            (Level::Write, true) => format!(
                "held: changes the workspace, and not what other programs obey on sight there; no \
                 network, {network}"
            ),
            (Level::Write, false) => format!(
                "held: changes the workspace, also what other programs obey on sight there; no \
                 network, {network}"
            ),
            (Level::Network, _) if self.own_networks => {
                "held: changes the workspace; reaches the hosts that it names, or every network \
                 where it names none"
                    .to_owned()
            }
            (Level::Network, _) => {
                "held: changes the workspace; reaches every network that you reach".to_owned()
            }
        };
        said + by_mounts
    }

    /// Everything that this server knows how to close is closed.
    pub fn is_full(self) -> bool {
        self.gaps().is_empty()
    }

    /// A short name for structured results: `landlock-7+seccomp+namespaces+networks+mounts`,
    /// `landlock-4`, `none`.
    pub fn label(self) -> String {
        let landlock = (self.landlock_abi > 0).then(|| format!("landlock-{}", self.landlock_abi));
        let seccomp = self.seccomp.then(|| "seccomp".to_owned());
        let namespaces = self.namespaces.then(|| "namespaces".to_owned());
        let networks = self.own_networks.then(|| "networks".to_owned());
        let mounts = self.own_mounts.then(|| "mounts".to_owned());
        let parts: Vec<String> =
            [landlock, seccomp, namespaces, networks, mounts].into_iter().flatten().collect();
        if parts.is_empty() { "none".into() } else { parts.join("+") }
    }

    fn why_no_box(self) -> &'static str {
        if self.landlock_abi == 0 {
            return "this system has no Landlock (Linux 6.2 or newer, enabled at boot), so a \
                command can reach everything that the user can";
        }
        if self.own_mounts && !self.sealed {
            return "Landlock is older than Linux 6.2 here, and a file system of another machine \
                or of a program cannot be made read-only, so a command can cut files there that \
                it cannot open";
        }
        "Landlock is older than Linux 6.2 here, and there are no user namespaces whose read-only \
         mounts could stand in for it, so a command can cut files that it cannot open"
    }

    fn gaps(self) -> Vec<&'static str> {
        let mut gaps = Vec::new();
        if self.landlock_abi < 5 {
            gaps.push("device ioctls");
        }
        if self.landlock_abi < 6 {
            if !self.namespaces {
                gaps.push("signals to the user's other processes");
            }
            if !self.seccomp {
                gaps.push("abstract Unix sockets");
            }
        }
        if !self.seccomp {
            gaps.push("Unix sockets such as Docker's or D-Bus");
            gaps.push("io_uring and namespaces");
        }
        gaps
    }
}

impl fmt::Display for Enforcement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.keeps_files() {
            let (label, why) = (self.label(), self.why_no_box());
            return write!(f, "no box ({label}): {why}");
        }
        write!(
            f,
            "box ({}): commands reach the workspace, and system files for reading",
            self.label()
        )?;
        if !self.landlock_keeps_files() {
            write!(f, "; read-only mounts stand in for a Landlock older than Linux 6.2")?;
        }
        if !self.is_full() {
            write!(f, "; not stopped on this system: {}", self.gaps().join(", "))?;
        }
        if !self.namespaces {
            write!(
                f,
                "; no user namespaces here, so they see the list of processes and can change \
                 times and modes of files"
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_on_which_files_can_be_truncated_is_no_box() {
        let old = Enforcement {
            landlock_abi: 2,
            seccomp: true,
            namespaces: false,
            own_networks: false,
            own_mounts: false,
            sealed: false,
        };
        assert!(!old.keeps_files());
        assert!(old.to_string().starts_with("no box (landlock-2+seccomp)"), "{old}");
        let mounts = Enforcement { namespaces: true, own_mounts: true, sealed: true, ..old };
        assert!(mounts.keeps_files() && mounts.holds(Level::Read));
        assert!(mounts.says(Level::Write).contains("by read-only mounts"));
        assert!(mounts.to_string().contains("read-only mounts stand in"), "{mounts}");
        for less in [
            Enforcement { landlock_abi: 0, ..mounts },
            Enforcement { seccomp: false, ..mounts },
            Enforcement { own_mounts: false, ..mounts },
            Enforcement { sealed: false, ..mounts },
        ] {
            assert!(!less.keeps_files() && !less.holds(Level::Network), "{less}");
        }
    }

    #[test]
    fn a_level_is_held_only_where_all_of_it_is() {
        let full = Enforcement {
            landlock_abi: 7,
            seccomp: true,
            namespaces: true,
            own_networks: true,
            own_mounts: true,
            sealed: true,
        };
        let held = |enforcement: Enforcement| {
            [Level::Read, Level::Write, Level::Network].map(|level| enforcement.holds(level))
        };
        assert_eq!(held(full), [true; 3]);
        assert_eq!(held(Enforcement { namespaces: false, ..full }), [true; 3]);
        assert_eq!(held(Enforcement { landlock_abi: 4, ..full }), [true; 3]);
        let signals = Enforcement { landlock_abi: 4, namespaces: false, ..full };
        assert_eq!(held(signals), [false, false, true]);
        assert_eq!(held(Enforcement { seccomp: false, ..full }), [false, false, true]);
        assert_eq!(held(Enforcement { landlock_abi: 2, ..full }), [true; 3], "by mounts");
        assert_eq!(held(Enforcement { landlock_abi: 2, sealed: false, ..full }), [false; 3]);
        assert_eq!(held(Enforcement::NONE), [false; 3]);
    }

    #[test]
    fn the_sentence_names_what_is_not_stopped() {
        let middle = Enforcement {
            landlock_abi: 4,
            seccomp: false,
            namespaces: false,
            own_networks: true,
            own_mounts: true,
            sealed: true,
        };
        let sentence = middle.to_string();
        for gap in ["ioctls", "signals", "Docker"] {
            assert!(sentence.contains(gap), "{sentence}");
        }
        let full = Enforcement {
            landlock_abi: 7,
            seccomp: true,
            namespaces: true,
            own_networks: true,
            own_mounts: true,
            sealed: true,
        };
        assert!(
            !full.to_string().contains("not stopped")
                && !full.to_string().contains("list of processes")
        );
        assert_eq!(full.label(), "landlock-7+seccomp+namespaces+networks+mounts");
        assert!(
            Enforcement { namespaces: false, ..full }.to_string().contains("list of processes")
        );
        assert_eq!(Enforcement::NONE.label(), "none");
    }
}
