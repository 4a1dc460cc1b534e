//! The filesystem MCP server: reads, writes, edits, finds and removes files below one root, over
//! stdio. Owns the tour of the crate and `main`. Must not know who starts it: it is a program of
//! its own and `claw server filesystem` alike, and of this workspace it knows the kit of servers
//! alone.

mod access;
mod args;
mod cancel;
mod diff;
mod edit;
mod enter;
mod error;
mod guard;
mod hint;
mod ignore_rules;
mod kind;
mod pdf;
mod place;
mod replace;
mod resolve;
mod root;
mod server;
mod text;
mod tools;
mod user_path;
mod walk;
mod whole_text;

use std::process::ExitCode;

use claw_server_kit::stdio::{self, Bounds, ServeError};

pub use args::{Args, Limits};

/// The name under which this server introduces itself.
pub const SERVER_NAME: &str = "claw-mcp-filesystem";

/// A file of `write_file_bytes_max` may grow sixfold when it is escaped.
const BOUNDS: Bounds =
    Bounds { request_line_bytes_max: 100 * 1024 * 1024, blocking_threads_max: 16 };

/// Serves MCP over standard input and output until standard input is closed.
///
/// Standard output carries MCP only. A start that fails is said in one sentence on standard error
/// and ends with code 2.
pub fn main(args: Args) -> ExitCode {
    if let Some(first_page) = args.pdf_text {
        return pdf::main(first_page, &args.limits);
    }
    match run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            stdio::say(&format!("{SERVER_NAME}: {error}"));
            ExitCode::from(2)
        }
    }
}

/// Why the server could not start or had to stop.
#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error(transparent)]
    Root(#[from] root::RootError),
    #[error(transparent)]
    Serve(#[from] ServeError),
}

fn run(args: Args) -> Result<(), StartError> {
    let mut roots = root::Root::open_all(&args)?;
    let artifacts = args.artifacts.as_deref().map(root::open_artifacts).transpose()?;
    let further = roots.split_off(1);
    let Some(workspace) = roots.pop() else { return Ok(()) };
    let server =
        server::Server::new(tools::Workspace::new(workspace, further, artifacts, args.limits));
    #[cfg(feature = "http")]
    if args.http {
        let served = claw_server_kit::http::serve(move || server.clone());
        return Ok(stdio::runtime(&BOUNDS)?.block_on(served).map_err(ServeError::Runtime)?);
    }
    Ok(stdio::serve(server, &BOUNDS)?)
}
