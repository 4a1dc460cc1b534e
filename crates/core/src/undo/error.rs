//! Why a turn cannot be undone, each in a sentence with the next step. Must not know who is told.

use crate::domain::{ApprovalId, Blame, Blamed, TurnId};
use crate::snapshot::SnapshotError;
use crate::store::StoreError;

/// Nothing in the workspace was changed.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    #[error("no turn {scope} has changed files that can be put back")]
    Nothing { scope: String },
    #[error("nothing was undone that could be done again")]
    NothingToRedo,
    #[error(
        "the turn {turn} has changed no file that claw remembers; `{claw} undo --list` names those \
         that have"
    )]
    Unknown { turn: TurnId, claw: String },
    #[error("the turn {turn} is undone already; `{claw} undo --redo` takes the newest undo back")]
    Undone { turn: TurnId, claw: String },
    #[error("the turn {turn} cannot be undone: {why}")]
    Refused { turn: TurnId, why: String },
    #[error(
        "the turn {turn} works in this workspace and has not ended; wait for it, answer it, or \
         `/stop` it, then undo"
    )]
    Open { turn: TurnId },
    #[error(
        "the turn {turn} works in this workspace and waits for an answer to the question \
         {question}; `{claw} approvals` shows it, answer it there, then undo"
    )]
    Waits { turn: TurnId, question: ApprovalId, claw: String },
    #[error(
        "the turn {turn} works in this workspace, and the time of its question {question} is over; \
         the next message in the session `{}` ends it, then undo", turn.session
    )]
    Overdue { turn: TurnId, question: ApprovalId },
    #[error("nothing was undone, because what is there now could not be remembered first: {0}")]
    NotRemembered(SnapshotError),
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the work on the snapshots ended with a bug in claw: {why}")]
    Bug { why: String },
}

impl Blamed for UndoError {
    fn blame(&self) -> Blame {
        match self {
            Self::Nothing { .. }
            | Self::NothingToRedo
            | Self::Unknown { .. }
            | Self::Undone { .. }
            | Self::Refused { .. }
            | Self::Open { .. }
            | Self::Waits { .. }
            | Self::Overdue { .. } => Blame::User,
            Self::NotRemembered(error) | Self::Snapshot(error) => error.blame(),
            Self::Store(error) => error.blame(),
            Self::Bug { .. } => Blame::Broken,
        }
    }
}

/// What is said in a turn that cannot be undone.
pub(super) fn sentence(why: &str) -> String {
    format!("This turn's changes cannot be undone: {why}.")
}

/// The end of that sentence.
pub(super) fn why_not(error: &SnapshotError) -> String {
    const APART: &str = "files that .gitignore names do not count";
    match error {
        SnapshotError::TooManyFiles { max } => format!(
            "the workspace has more than {max} files and folders (limits.undo_files_max; {APART})"
        ),
        SnapshotError::TooLarge { max } => format!(
            "the files of the workspace have more than {max} bytes (limits.undo_bytes_max; {APART})"
        ),
        other => other.to_string(),
    }
}
