//! The modes of a session, as they are typed. Must not know what a mode lets through.

use clap::ValueEnum;

use crate::domain::Mode;

/// The modes of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ModeArg {
    /// Each change asks
    Ask,
    /// Writing, editing and moving files of the workspace runs
    Edits,
    /// The same, and commands that change the workspace without the network
    Work,
}

/// The modes that an answer can give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GivenMode {
    /// Writing, editing and moving files of the workspace runs
    Edits,
    /// The same, and commands that change the workspace without the network
    Work,
}

impl From<GivenMode> for Mode {
    fn from(written: GivenMode) -> Self {
        match written {
            GivenMode::Edits => Self::Edits,
            GivenMode::Work => Self::Work,
        }
    }
}

impl From<ModeArg> for Mode {
    fn from(written: ModeArg) -> Self {
        match written {
            ModeArg::Ask => Self::Ask,
            ModeArg::Edits => Self::Edits,
            ModeArg::Work => Self::Work,
        }
    }
}
