//! What can go wrong in the store, in words that name the file and the next step.

use claw_kit::counted::counted_with;
use rusqlite::ErrorCode;

use super::RowAt;
use super::schema::FIRST;

/// An error of the store. Rows are never half written: a failed job leaves no trace.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error(
        "the store was written by a newer claw (schema {found}, this one knows {known}): update claw, or point CLAW_HOME at another home"
    )]
    Newer { found: u32, known: u32 },
    #[error(
        "the store is of a claw before the first release (schema {found}; this one reads {FIRST} and later) and was left as it is: use the claw that wrote it, restore a newer backup with `claw restore`, or point CLAW_HOME at another home"
    )]
    Unreleased { found: u32 },
    #[error(
        "the store is of an older claw (schema {from}, this one needs {to}) and is copied before it is changed, but {copy} could not be written: {what}; nothing was changed, make room or check the folder and try again"
    )]
    Copy { copy: String, from: u32, to: u32, what: String },
    #[error(
        "cannot open the store {path}: {source}; check that the file and its folder are yours and writable"
    )]
    Open { path: String, source: rusqlite::Error },
    #[error(
        "cannot create the store {path}: {source}; check that its folder is yours and writable"
    )]
    Create { path: String, source: std::io::Error },
    #[error(
        "the store {path} is empty, and claw never leaves it so: what was in it is lost; restore a backup, or move the file away to begin anew"
    )]
    Empty { path: String },
    #[error(
        "{path} is no store of claw, so it was left as it is ({what}): move it away, or set CLAW_HOME to the home that you mean"
    )]
    Foreign { path: String, what: String },
    #[error(
        "the store {path} has lost its newest rows ({what}), because its write-ahead log {path}-wal is not there: put that file back, restore a backup, or go on with what is left by removing {path}-mark"
    )]
    LogGone { path: String, what: String },
    #[error(
        "the store {path} is not there, only its write-ahead log {path}-wal: put the store back, restore a backup, or move the log away to begin anew"
    )]
    OnlyLog { path: String },
    #[error("the store failed: {0}")]
    Sqlite(rusqlite::Error),
    #[error("the store could not commit: {0}")]
    Commit(String),
    #[error(
        "the disk is full, so that nothing was kept: make room on the disk of claw's home and try again"
    )]
    DiskFull,
    #[error(
        "the disk of claw's home can only be read, so that nothing was kept: make it writable, or set CLAW_HOME to another folder"
    )]
    ReadOnly,
    #[error("event {event} of `{session}` follows event {last}: {}", gap(*event, *last))]
    Gap { session: String, event: u64, last: u64 },
    #[error("{at} cannot be read ({what}): `claw doctor --repair` puts it aside")]
    Unreadable { at: RowAt, what: String },
    #[error(
        "a stored row cannot be read ({0}): `claw doctor` names it, and `claw doctor --repair` puts it aside"
    )]
    Decode(String),
    #[error(
        "only a row that is sealed with the key may tell that a row of the audit was put aside, and the key is not here; nothing was changed, `claw audit anchor` says why"
    )]
    NoKey,
    #[error(
        "cannot lock the session in {path}: {source}; check that the folder is yours and writable"
    )]
    SessionLock { path: String, source: std::io::Error },
    #[error("the store has been closed")]
    Closed,
    #[error(
        "{} already waiting in this conversation (limits.queued_messages_max), so this one was not taken in: wait for an answer, or stop the turn with /stop",
        counted_with(*.0, "message", "is", "are")
    )]
    QueueFull(u32),
    #[error(
        "the operating system gives no random numbers ({0}), so that no question can be asked safely; nothing was run, try again"
    )]
    NoRandomness(String),
}

impl claw_domain::Blamed for StoreError {
    fn blame(&self) -> claw_domain::Blame {
        match self {
            Self::QueueFull(_) => claw_domain::Blame::User,
            Self::Newer { .. }
            | Self::Unreleased { .. }
            | Self::Copy { .. }
            | Self::Open { .. }
            | Self::Create { .. }
            | Self::Empty { .. }
            | Self::Foreign { .. }
            | Self::LogGone { .. }
            | Self::OnlyLog { .. }
            | Self::Sqlite(_)
            | Self::Commit(_)
            | Self::DiskFull
            | Self::ReadOnly
            | Self::Gap { .. }
            | Self::Unreadable { .. }
            | Self::Decode(_)
            | Self::NoKey
            | Self::SessionLock { .. }
            | Self::NoRandomness(_)
            | Self::Closed => claw_domain::Blame::Broken,
        }
    }
}

/// Who writes a number again was overtaken; who leaves one out has lost it.
fn gap(event: u64, last: u64) -> &'static str {
    if event > last + 1 {
        "what was between was not written"
    } else {
        "another process wrote to this log"
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::DiskFull,
            Some(ErrorCode::ReadOnly) => Self::ReadOnly,
            _ => Self::of_rows(error),
        }
    }
}

impl StoreError {
    /// What a row holds is not what its reader takes it for, or SQLite itself has failed.
    fn of_rows(error: rusqlite::Error) -> Self {
        use rusqlite::Error::{
            FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error,
        };
        match error {
            FromSqlConversionFailure(..)
            | IntegralValueOutOfRange(..)
            | InvalidColumnType(..)
            | Utf8Error(..) => Self::Decode(error.to_string()),
            error => Self::Sqlite(error),
        }
    }

    /// The same, for another one who waited for the same commit.
    pub(super) fn again(&self) -> Self {
        match self {
            Self::DiskFull => Self::DiskFull,
            Self::ReadOnly => Self::ReadOnly,
            Self::Commit(what) => Self::Commit(what.clone()),
            other => Self::Commit(other.to_string()),
        }
    }
}

impl From<serde_json::Error> for StoreError {
    fn from(error: serde_json::Error) -> Self {
        Self::Decode(error.to_string())
    }
}
