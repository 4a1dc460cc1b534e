//! The filesystem MCP server: reads, writes, edits, finds and removes files below one root, over
//! stdio. Owns the tour of the crate and `main`. Must not know who starts it: it is a program of
//! its own and `claw server filesystem` alike, and of this workspace it knows the kit alone.

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
mod place;
mod rename;
mod replace;
mod resolve;
mod root;
mod server;
mod text;
mod tools;
mod user_path;
mod walk;

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;

pub use args::{Args, Limits};

/// The name under which this server introduces itself.
pub const SERVER_NAME: &str = "claw-mcp-filesystem";

/// The longest line of JSON-RPC that is read. A file of `write_file_bytes_max` may grow sixfold
/// when it is escaped.
const REQUEST_LINE_BYTES_MAX: usize = 100 * 1024 * 1024;

/// Requests that work on files at the same time. More wait their turn.
const BLOCKING_THREADS_MAX: usize = 16;

/// How long a write that has begun may take after standard input is closed.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);

/// Serves MCP over standard input and output until standard input is closed.
///
/// Standard output carries MCP only. A start that fails is said in one sentence on standard error
/// and ends with code 2.
pub fn main(args: Args) -> ExitCode {
    match run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to tell when standard error is closed.
            let _ = writeln!(std::io::stderr(), "{SERVER_NAME}: {error}");
            ExitCode::from(2)
        }
    }
}

/// Why the server could not start or had to stop.
#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error(transparent)]
    Root(#[from] root::RootError),
    #[error("the runtime does not start: {0}")]
    Runtime(std::io::Error),
    #[error("the MCP handshake failed: {0}")]
    Handshake(Box<ServerInitializeError>),
    #[error("the server stopped: {0}")]
    Stopped(tokio::task::JoinError),
}

fn run(args: Args) -> Result<(), StartError> {
    let mut roots = root::Root::open_all(&args)?;
    let further = roots.split_off(1);
    let Some(workspace) = roots.pop() else { return Ok(()) };
    let server = server::Server::new(workspace, further, args.limits);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(BLOCKING_THREADS_MAX)
        .build()
        .map_err(StartError::Runtime)?;
    #[cfg(feature = "http")]
    if args.http {
        return runtime
            .block_on(claw_kit::http::serve(move || server.clone()))
            .map_err(StartError::Runtime);
    }
    let served = runtime.block_on(serve(server));
    runtime.shutdown_timeout(SHUTDOWN_GRACE);
    served
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
