//! Why a tool could not do what it was asked. Every message is written for the model that reads it:
//! what is wrong, and what would work instead. Must not know the protocol.

use std::io;

/// The result of everything below a tool.
pub type Result<T, E = ToolError> = std::result::Result<T, E>;

/// Where a note was looked for that is to come back.
pub const IN_THE_TRASH: &str = " in the trash";

#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    #[error("{0}")]
    BadArguments(String),
    #[error(
        "there is no note `{id}`{where_it_is}. Find it by its words with recall, or list all notes."
    )]
    NoNote { id: String, where_it_is: &'static str },
    #[error("{0}")]
    Refused(String),
    /// What every prompt holds has no room for it.
    #[error("{0}")]
    Full(String),
    #[error("cannot {doing} `{path}`: {why}")]
    Io { doing: &'static str, path: String, why: String },
    #[error(
        "the index of the notes failed: {0}. The notes themselves are unharmed; the server makes a new index when it is started again."
    )]
    Index(#[from] rusqlite::Error),
    #[error(
        "another process has been changing these notes for {waited_s} seconds. Nothing was changed; call again later."
    )]
    Busy { waited_s: u64 },
}

impl ToolError {
    /// An error of the operating system, in words that name what was tried.
    pub fn io(doing: &'static str, path: impl Into<String>, error: &io::Error) -> Self {
        Self::Io { doing, path: path.into(), why: why(error) }
    }
}

/// Why the system refuses, and what its owner can do about it.
pub fn why(error: &io::Error) -> String {
    let next = match error.kind() {
        io::ErrorKind::PermissionDenied => ": this user needs the right to read and write there",
        io::ErrorKind::StorageFull => ": make room on it",
        io::ErrorKind::ReadOnlyFilesystem => ": make it writable, or name another folder",
        _ => "",
    };
    format!("{}{next}", claw_server_kit::why(error))
}
