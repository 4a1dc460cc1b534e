//! Why a workspace could not be remembered, compared or put back. Must not know who is told.

use std::io;
use std::path::PathBuf;

use claw_domain::{Blame, Blamed};

/// Each is one sentence for the owner; nothing in the workspace was changed, unless it says so.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    #[error(
        "the workspace has more than {max} files and folders; files that .gitignore names do not \
         count"
    )]
    TooManyFiles { max: usize },
    #[error(
        "the files of the workspace have more than {max} bytes; files that .gitignore names do \
         not count"
    )]
    TooLarge { max: u64 },
    #[error("there is no snapshot `{name}`")]
    Unknown { name: String },
    #[error("the snapshot `{name}` cannot be read: {why}")]
    Damaged { name: String, why: String },
    #[error("`{name}` is no name for a snapshot; use letters, digits and `-`")]
    Name { name: String },
    #[error("another process works with the snapshots of this workspace")]
    Busy,
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl Blamed for SnapshotError {
    fn blame(&self) -> Blame {
        match self {
            Self::TooManyFiles { .. } | Self::TooLarge { .. } | Self::Unknown { .. } => Blame::User,
            Self::Damaged { .. } | Self::Name { .. } | Self::Busy | Self::Io { .. } => {
                Blame::Broken
            }
        }
    }
}

impl SnapshotError {
    pub(crate) fn at(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}
