//! What is typed behind `claw sessions`. Must not know what a command does.

use std::path::PathBuf;

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum SessionsAction {
    List,
    /// One session, readable
    Show {
        name: String,
        /// What the model was given in this turn, part by part: the number of one of its events, or
        /// `newest`
        #[arg(long, value_name = "TURN")]
        prompt: Option<String>,
    },
    /// One session's log as a file: a header, then one event a line, as JSON
    Export {
        name: String,
        /// Write it here instead of to standard output; nothing is overwritten
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Take in an exported log as a new session
    Import {
        /// What `claw sessions export` wrote
        file: PathBuf,
        /// The new session's name [default: the name in the file]
        #[arg(long = "as", value_name = "NAME")]
        name: Option<String>,
    },
    /// Check that each step of a log, or of all, is what claw would decide today
    Replay {
        name: Option<String>,
    },
}
