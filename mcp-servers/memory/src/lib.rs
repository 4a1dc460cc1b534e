//! The memory MCP server: notes as Markdown files in one folder, found by an index, over stdio.
//! Owns the tour of the crate and `main`. Must not know who starts it: it is a program of its own
//! and `claw server memory` alike, and of this workspace it knows the kits alone.

mod always;
#[cfg(test)]
mod any_query;
mod args;
mod asked;
mod caller;
mod context;
mod copies;
mod dated;
mod days;
mod edges;
mod error;
mod find;
mod folder;
mod graph;
mod holders;
mod index;
mod library;
mod memory;
mod names;
mod narrow;
mod nodes;
mod note;
mod owner;
#[cfg(test)]
mod plans;
mod proposal;
mod recall;
mod report;
mod resources;
mod same;
mod server;
mod thesaurus;
mod tools;
mod trash;
mod trash_bound;
mod vectors;
mod whose;
mod writer;

use std::process::ExitCode;

use claw_server_kit::stdio::{self, Bounds, ServeError, say};

pub use args::{Args, Limits};
pub use folder::is_note_name;
pub use library::{LibraryResult, Notes};
pub use nodes::{End, Node};
pub use note::kind_names;
pub use report::Report;
pub use vectors::args::Key as EmbeddingsKey;

/// The name under which this server introduces itself.
pub const SERVER_NAME: &str = "claw-mcp-memory";

/// A note may grow sixfold when it is escaped. More requests than threads wait their turn, which
/// they do for the notes anyway.
const BOUNDS: Bounds = Bounds { request_line_bytes_max: 4 * 1024 * 1024, blocking_threads_max: 4 };

/// Serves MCP over standard input and output until standard input is closed; with `--check` it
/// compares index and files instead.
///
/// Standard output carries MCP only. A start that fails is said in one sentence on standard error
/// and ends with code 2; a check that finds something ends with 1.
pub fn main(args: Args) -> ExitCode {
    match run(args) {
        Ok(code) => code,
        Err(error) => {
            say(&format!("{SERVER_NAME}: {error}"));
            ExitCode::from(2)
        }
    }
}

/// Why the server could not start or had to stop.
#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error(transparent)]
    Open(#[from] memory::OpenError),
    #[error(transparent)]
    Check(#[from] error::ToolError),
    #[error(transparent)]
    Serve(#[from] ServeError),
}

fn run(args: Args) -> Result<ExitCode, StartError> {
    let check = args.check;
    let mut memory = memory::Memory::open(&args)?;
    if let Some(why) = &memory.index.made_anew {
        say(&format!("{SERVER_NAME}: the index was made anew of the notes ({why})"));
    }
    if check {
        return Ok(checked(&mut memory)?);
    }
    stdio::serve(server::Server::new(memory), &BOUNDS)?;
    Ok(ExitCode::SUCCESS)
}

fn checked(memory: &mut memory::Memory) -> Result<ExitCode, error::ToolError> {
    let report = memory.report(report::Depth::Filled)?;
    for line in &report.lines {
        say(line);
    }
    Ok(if report.is_equal { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
