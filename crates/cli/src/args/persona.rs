//! What is typed behind `claw persona`. Must not know what a command does.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum PersonaAction {
    /// The earlier versions of its files, the newest first
    History {
        /// Only of this file, such as SOUL.md
        file: Option<String>,
    },
    /// Print what its files say now, or one version of a file
    Show {
        /// The first digits of a version, as `claw persona history` lists them
        version: Option<String>,
    },
    /// Put a version of a file back; what the file says now is kept first
    Restore {
        /// The first digits of the version
        version: String,
    },
}
