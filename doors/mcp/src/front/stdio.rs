//! Standard input and output as a client has made them: pipes, or sockets as Node makes them. Owns
//! that neither holds a thread that waits. Must not know what is said.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream as StdUnixStream;

use futures::future::LocalBoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;

use super::backend::Backends;

/// Where lines come from.
pub type Reads = Box<dyn AsyncRead + Send + Unpin>;
/// Where lines go.
pub type Writes = Box<dyn AsyncWrite + Send + Unpin>;

/// Relays a client that speaks here, until it has gone or `ends` is done.
///
/// # Errors
/// At the start: nothing can answer. Later the client is told instead.
// Boxed, so that it is compiled here, and not once more in the program.
pub fn run<'a>(
    backends: &'a Backends,
    ends: LocalBoxFuture<'a, ()>,
) -> LocalBoxFuture<'a, anyhow::Result<()>> {
    Box::pin(super::run(backends, open(), ends))
}

/// Both. Where they are neither pipes nor sockets, a thread may wait for input that never comes.
fn open() -> (Reads, Writes) {
    let (stdin, stdout) = (io::stdin(), io::stdout());
    if let (Ok(reads), Ok(writes)) = (socket(stdin.as_fd()), socket(stdout.as_fd())) {
        return (Box::new(reads), Box::new(writes));
    }
    let (reads, writes) = rmcp::transport::io::stdio_pipes();
    (Box::new(reads), Box::new(writes))
}

fn socket(fd: BorrowedFd<'_>) -> io::Result<UnixStream> {
    if !rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(fd)?.st_mode).is_socket() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let socket = StdUnixStream::from(fd.try_clone_to_owned()?);
    // No other process has this end.
    socket.set_nonblocking(true)?;
    UnixStream::from_std(socket)
}
