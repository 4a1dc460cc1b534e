//! Why the server did not start, and the exit code that goes with it. Must not know MCP.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(
        "the workspace {path} cannot be used: {source}; name an existing directory with --workspace DIR or CLAW_WORKSPACE"
    )]
    Workspace { path: PathBuf, source: io::Error },
    #[error(
        "the workspace {0} is not a directory; name one with --workspace DIR or CLAW_WORKSPACE"
    )]
    NotADirectory(PathBuf),
    #[error(
        "the workspace {workspace} holds {inside}, which commands must not reach, and the box cannot leave out a part of it; \
         choose a smaller directory with --workspace DIR or CLAW_WORKSPACE"
    )]
    TooWide { workspace: PathBuf, inside: PathBuf },
    #[error(
        "{protected} is protected but lies inside {granted}, which commands have to read; move it, or grant less"
    )]
    Overlap { protected: PathBuf, granted: PathBuf },
    #[error("--read-only {path} cannot be used: {source}")]
    ReadOnly { path: PathBuf, source: io::Error },
    #[error(
        "--output-dir {path} cannot be used: {source}; name a folder of your own whose parent exists"
    )]
    OutputDir { path: PathBuf, source: io::Error },
    #[error(
        "--output-dir {path} and the workspace {workspace} must not hold each other; choose another folder"
    )]
    OutputInside { path: PathBuf, workspace: PathBuf },
    #[error(
        "--home {path} cannot be used: {source}; name a folder of your own, open to nobody else, whose parent exists"
    )]
    Home { path: PathBuf, source: io::Error },
    #[error(
        "--home {path} and the workspace {workspace} must not hold each other; choose another folder"
    )]
    HomeInside { path: PathBuf, workspace: PathBuf },
    #[error("--open-read or --open-write {path} cannot be opened to commands: {why}")]
    Opening { path: PathBuf, why: &'static str },
    #[error("{0}")]
    Limit(&'static str),
    #[error(
        "no private directory for temporary files and outputs could be made in {path}: {source}; set TMPDIR to a writable directory"
    )]
    Scratch { path: PathBuf, source: io::Error },
    #[cfg(target_os = "linux")]
    #[error("the box could not be closed, so nothing is served: {0}")]
    Box(String),
    #[cfg(target_os = "linux")]
    #[error(
        "the box must be closed before any thread exists, but there are {0} threads; this is a bug of the program that calls"
    )]
    Threads(usize),
    #[cfg(target_os = "linux")]
    #[error(
        "the namespaces of the commands could not be made: {0}; start it with --without-namespaces"
    )]
    Namespace(io::Error),
    #[error("no runtime: {0}")]
    Runtime(io::Error),
    #[error("the program's own file is unknown: {0}")]
    OwnProgram(io::Error),
    #[error("the MCP client said something that is no opening of MCP: {0}")]
    Handshake(String),
}

impl StartError {
    /// 2 for what the person who wrote the arguments can change, 1 for the rest.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Workspace { .. }
            | Self::NotADirectory(_)
            | Self::TooWide { .. }
            | Self::Overlap { .. }
            | Self::ReadOnly { .. }
            | Self::OutputDir { .. }
            | Self::OutputInside { .. }
            | Self::Home { .. }
            | Self::Opening { .. }
            | Self::HomeInside { .. }
            | Self::Limit(_) => 2,
            _ => 1,
        }
    }
}
