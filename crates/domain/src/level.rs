//! What a shell command may do, as its call says in `needs`, and what of that the operating system
//! holds on this machine. Must not know how it is held, or who is asked.

use serde::{Deserialize, Serialize};

/// A level of the box. Each may do what the one before it may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Look at the workspace and the system's programs. No network.
    #[default]
    Read,
    /// Also change the workspace. No network.
    Write,
    /// Also reach the network.
    Network,
}

/// What the operating system holds of the box of our bash server. That server tells it
/// in this form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldLevels {
    /// Commands reach no file outside of the workspace but the system's.
    pub files: bool,
    /// Commands do nothing beyond the levels `read` and `write`.
    pub levels: bool,
    /// A command of the tool `run` at level `write` leaves what other programs run or obey on sight
    /// as it is (`.git/hooks`, `.envrc`, `AGENTS.md`, …). A job of the tool `start` may add such a
    /// file.
    pub protected: bool,
}

impl HeldLevels {
    /// All of it.
    pub const ALL: Self = Self { files: true, levels: true, protected: true };
    /// There is no box.
    pub const NONE: Self = Self { files: false, levels: false, protected: false };
}
