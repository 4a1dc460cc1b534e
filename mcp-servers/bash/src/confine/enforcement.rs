//! What of the box is in force on this system, and the sentence that says so. Must not know how it is
//! closed.

use std::fmt;

use serde::{Deserialize, Serialize};

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
}

impl Enforcement {
    pub const NONE: Self = Self {
        landlock_abi: 0,
        seccomp: false,
        namespaces: false,
        own_networks: false,
        own_mounts: false,
    };

    /// Whether the contents of files outside of the workspace are safe from commands. Before ABI 3
    /// a command can still truncate a file that it cannot open, so that is no box.
    pub fn keeps_files(self) -> bool {
        self.landlock_abi >= 3
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

    /// What is in force of a level on this system, for whoever asks what it is worth.
    pub fn says(self, level: Level) -> String {
        if !self.holds(level) {
            return "not held on this system, so its commands ask like all others".to_owned();
        }
        let network =
            if self.own_networks { "a loopback of its own" } else { "no loopback either" };
        match (level, self.own_mounts) {
            (Level::Read, true) => format!(
                "held: looks and changes nothing; /tmp and processes of its own; no network but {network}"
            ),
            (Level::Read, false) => {
                format!("held: looks and changes nothing; no network, {network}")
            }
            (Level::Write, true) => format!(
                "held: changes the workspace, and not what other programs obey on sight there; no network, {network}"
            ),
            (Level::Write, false) => format!(
                "held: changes the workspace, also what other programs obey on sight there; no network, {network}"
            ),
            (Level::Network, _) if self.own_networks => {
                "held: changes the workspace; reaches the hosts that it names, or every network where it names none"
                    .to_owned()
            }
            (Level::Network, _) => {
                "held: changes the workspace; reaches every network that you reach".to_owned()
            }
        }
    }

    /// Everything that this server knows how to close is closed.
    pub fn is_full(self) -> bool {
        self.landlock_abi >= 6 && self.seccomp
    }

    /// A short name for structured results: `landlock-7+seccomp+namespaces+networks+mounts`, `landlock-4`, `none`.
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

    fn gaps(self) -> Vec<&'static str> {
        let mut gaps = Vec::new();
        if self.landlock_abi < 5 {
            gaps.push("device ioctls");
        }
        if self.landlock_abi < 6 {
            gaps.push("signals to the user's other processes");
            gaps.push("abstract Unix sockets");
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
            return write!(
                f,
                "no box ({}): this system has no Landlock (Linux 6.2 or newer, enabled at boot), so a command can reach \
                 everything that the user can",
                self.label()
            );
        }
        write!(
            f,
            "box ({}): commands reach the workspace, and system files for reading",
            self.label()
        )?;
        if !self.is_full() {
            write!(f, "; not stopped on this system: {}", self.gaps().join(", "))?;
        }
        if !self.namespaces {
            write!(
                f,
                "; no user namespaces here, so they see the list of processes and can change times and modes of files"
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
        };
        assert!(!old.keeps_files());
        assert!(old.to_string().starts_with("no box (landlock-2+seccomp)"), "{old}");
    }

    #[test]
    fn a_level_is_held_only_where_all_of_it_is() {
        let full = Enforcement {
            landlock_abi: 7,
            seccomp: true,
            namespaces: true,
            own_networks: true,
            own_mounts: true,
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
        assert_eq!(held(Enforcement { landlock_abi: 2, ..full }), [false; 3]);
        assert_eq!(held(Enforcement::NONE), [false; 3]);
    }

    #[test]
    fn the_sentence_names_what_is_not_stopped() {
        let middle = Enforcement {
            landlock_abi: 4,
            seccomp: false,
            namespaces: true,
            own_networks: true,
            own_mounts: true,
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
