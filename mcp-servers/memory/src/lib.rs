//! The memory MCP server: notes as Markdown files in one folder, found by an index, over stdio.
//! Owns the tour of the crate and `main`. Must not know who starts it: it is a program of its own
//! and `claw server memory` alike, and of this workspace it knows the kit alone.

mod args;
mod context;
mod error;
mod find;
mod folder;
mod index;
mod memory;
mod note;
mod proposal;
mod recall;
mod report;
mod server;
mod tools;
mod trash;
mod writer;

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;

pub use args::{Args, Limits};

/// The name under which this server introduces itself.
pub const SERVER_NAME: &str = "claw-mcp-memory";

/// The longest line of JSON-RPC that is read. A note may grow sixfold when it is escaped.
const REQUEST_LINE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Requests that work at the same time. More wait their turn, which they do for the notes anyway.
const BLOCKING_THREADS_MAX: usize = 4;

/// How long a write that has begun may take after standard input is closed.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);

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

/// Nobody is left to tell when standard error is closed.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Why the server could not start or had to stop.
#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error(transparent)]
    Open(#[from] memory::OpenError),
    #[error(transparent)]
    Check(#[from] error::ToolError),
    #[error("the runtime does not start: {0}")]
    Runtime(std::io::Error),
    #[error("the MCP handshake failed: {0}")]
    Handshake(Box<ServerInitializeError>),
    #[error("the server stopped: {0}")]
    Stopped(tokio::task::JoinError),
}

fn run(args: Args) -> Result<ExitCode, StartError> {
    let check = args.check;
    let memory = memory::Memory::open(&args)?;
    if let Some(why) = &memory.index.made_anew {
        say(&format!("{SERVER_NAME}: the index was made anew of the notes ({why})"));
    }
    if check {
        return Ok(checked(&memory)?);
    }
    let server = server::Server::new(memory);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(BLOCKING_THREADS_MAX)
        .build()
        .map_err(StartError::Runtime)?;
    let served = runtime.block_on(serve(server));
    runtime.shutdown_timeout(SHUTDOWN_GRACE);
    served.map(|()| ExitCode::SUCCESS)
}

fn checked(memory: &memory::Memory) -> Result<ExitCode, error::ToolError> {
    let report = memory.report()?;
    for line in &report.lines {
        say(line);
    }
    Ok(if report.is_equal { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn serve(server: server::Server) -> Result<(), StartError> {
    let (stdin, stdout) = rmcp::transport::io::stdio_pipes();
    let transport =
        AsyncRwTransport::new_server(stdin, stdout).with_max_line_length(REQUEST_LINE_BYTES_MAX);
    let running = match server.serve(transport).await {
        Ok(running) => running,
        // A client that looks and leaves without a word is no failure.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(StartError::Handshake(Box::new(error))),
    };
    running.waiting().await.map(|_reason| ()).map_err(StartError::Stopped)
}
