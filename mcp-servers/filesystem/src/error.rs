//! Why a tool could not do what it was asked. Every message is written for the model that reads it:
//! what is wrong, and what would work instead. Must not know the protocol.

use std::io;

/// The result of everything below a tool.
pub type Result<T, E = ToolError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    #[error("{0}")]
    BadArguments(String),
    #[error(
        "`{path}` is outside of the workspace: {how}. Only files below the workspace can be used; give a path relative to it."
    )]
    Outside { path: String, how: String },
    #[error(
        "`{path}` is protected: no tool may read or change it. Use another place in the workspace."
    )]
    Protected { path: String },
    #[error(
        "`{path}` is read-only here, or holds what is: tools may read it and never change it. Tell its owner what should change."
    )]
    Fixed { path: String },
    #[error(
        "`{path}` leads to what other programs run or obey on sight, and nobody was asked about it. Nothing was changed. \
         Call again with the path that it leads to, without a link: then the owner is asked."
    )]
    KeptOff { path: String },
    #[error("`{path}` does not exist.{hint}")]
    NotFound { path: String, hint: String },
    #[error("`{path}` is a directory. {instead}")]
    IsDirectory { path: String, instead: &'static str },
    #[error("`{path}` is not a directory but {is}.")]
    NotADirectory { path: String, is: &'static str },
    #[error("`{path}` is {is}, not a regular file. It is not opened.")]
    Special { path: String, is: &'static str },
    #[error(
        "`{path}` is not text: {guess}, {size_bytes} bytes. Only UTF-8 text can be read or edited."
    )]
    NotText { path: String, guess: String, size_bytes: u64 },
    #[error("`{path}` has {size_bytes} bytes, the limit is {limit_bytes}. {instead}")]
    TooLarge { path: String, size_bytes: u64, limit_bytes: u64, instead: &'static str },
    #[error("`{path}` already exists. {instead}")]
    Exists { path: String, instead: &'static str },
    #[error(
        "`{path}` is read-only (mode {mode:03o}), so it was not changed. Ask for its permissions to be changed first."
    )]
    ReadOnly { path: String, mode: u32 },
    #[error(
        "`{path}` was changed by somebody else meanwhile. Nothing was written. Read it again and repeat."
    )]
    ChangedMeanwhile { path: String },
    #[error("{0}")]
    Refused(String),
    #[error("cannot {doing} `{path}`: {why}")]
    Io { doing: &'static str, path: String, why: String },
    #[error("cancelled")]
    Cancelled,
}

impl ToolError {
    /// An error of the operating system, in words that name what was tried.
    pub fn io(doing: &'static str, path: impl Into<String>, error: &io::Error) -> Self {
        let why = claw_server_kit::why(error);
        Self::Io { doing, path: path.into(), why }
    }
}
