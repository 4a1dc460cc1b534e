//! MCP over standard input and output. Owns the runtime of a server and its end; must not know
//! tools.

use std::io::{self, Write as _};
use std::time::Duration;

use rmcp::service::ServerInitializeError;
use rmcp::{ServerHandler, ServiceExt as _};

use crate::serving::{AnyServer, Streams};

/// How long work that has begun may take after standard input is closed.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);

/// Why a server could not start or had to stop.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("the runtime does not start: {0}")]
    Runtime(io::Error),
    #[error("the MCP handshake failed: {0}")]
    Handshake(Box<ServerInitializeError>),
    #[error("the server stopped: {0}")]
    Stopped(tokio::task::JoinError),
}

/// Bounds of a server.
pub struct Bounds {
    /// The longest line of JSON-RPC that is read, in bytes.
    pub request_line_bytes_max: usize,
    /// Requests that work at the same time. More wait their turn.
    pub blocking_threads_max: usize,
}

/// One thread for the protocol, and others for work that blocks.
///
/// # Errors
/// The system gives none.
pub fn runtime(bounds: &Bounds) -> Result<tokio::runtime::Runtime, ServeError> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(bounds.blocking_threads_max)
        .build()
        .map_err(ServeError::Runtime)
}

/// Serves until standard input is closed. Standard output carries MCP only.
///
/// # Errors
/// The runtime or the handshake fails, or the server's task is lost.
pub fn serve(server: impl ServerHandler, bounds: &Bounds) -> Result<(), ServeError> {
    serve_any(server.into_dyn(), bounds)
}

fn serve_any(server: AnyServer, bounds: &Bounds) -> Result<(), ServeError> {
    let runtime = runtime(bounds)?;
    let served = runtime.block_on(async {
        let (stdin, stdout) = rmcp::transport::io::stdio_pipes();
        let streams =
            Streams::new(stdin, stdout).with_line_bytes_max(bounds.request_line_bytes_max);
        let begun = streams.serve_boxed(server).await;
        match begun.map_err(|error| ServeError::Handshake(Box::new(error)))? {
            Some(running) => running.waiting().await.map(|_reason| ()).map_err(ServeError::Stopped),
            None => Ok(()),
        }
    });
    runtime.shutdown_timeout(SHUTDOWN_GRACE);
    served
}

/// One line on standard error. Nobody is left to tell when that is closed.
pub fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}
