//! What a server says and hears, relayed by its supervisor: pipes on the server's side, sockets on
//! claw's. Must not know what is said.
//!
//! Why not one pipe from claw to the server: the kernel holds a pipe's lock while a splice(2) waits
//! for the other end of it, an idle or a full socket. A server that does so keeps whoever reads or
//! writes that pipe waiting forever, also with `O_NONBLOCK`. Here it is a thread of the supervisor
//! that waits, and the server's end releases it.
//!
//! Why the server does not get the sockets: a shell wrapper opens `/dev/stdin` or `/dev/stderr`,
//! and Linux opens no socket by such a name (`ENXIO`).

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use super::handover::Pipes;

const BUFFER_BYTES: usize = 16 * 1024;
/// These threads do nothing but copy.
const STACK_BYTES: usize = 64 * 1024;

/// The threads that carry what the server says.
pub(super) struct Relay {
    /// Ends when both have come to the end of what there is.
    speaking: Receiver<()>,
}

/// Takes claw's sockets for stdin, stdout and stderr, and gives the server's pipes.
///
/// # Errors
/// No descriptors, or no thread, left.
pub(super) fn start(sockets: Pipes) -> io::Result<(Pipes, Relay)> {
    let [stdin, stdout, stderr] = sockets.map(UnixStream::from);
    let (stdin_reader, to_server) = io::pipe()?;
    let (from_stdout, stdout_writer) = io::pipe()?;
    let (from_stderr, stderr_writer) = io::pipe()?;
    let (said, speaking) = channel();
    thread("stdin", move || listen(&stdin, to_server))?;
    let end = said.clone();
    thread("stdout", move || speak(from_stdout, stdout, end))?;
    thread("stderr", move || speak(from_stderr, stderr, said))?;
    let pipes = [stdin_reader.into(), stdout_writer.into(), stderr_writer.into()];
    Ok((pipes, Relay { speaking }))
}

impl Relay {
    /// Behind the server's end: waits until claw has all that it said, or until the time is up.
    pub(super) fn drain(self, patience: Duration) {
        // Nothing is ever sent. The error says that both threads are through, or that it took too
        // long.
        let _ = self.speaking.recv_timeout(patience);
    }
}

fn thread(name: &str, carry: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let builder = thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES);
    builder.spawn(carry).map(drop)
}

/// What claw says. A server that has closed its stdin hears no more, and claw is told by the end of
/// the socket.
fn listen(claw: &UnixStream, mut server: PipeWriter) {
    let mut heard = claw;
    copy(&mut heard, &mut server);
    let _ = claw.shutdown(Shutdown::Both);
}

/// What the server says. Claw hears the end of it, and a server that nobody hears any more is told
/// by a broken pipe.
fn speak(mut server: PipeReader, mut claw: UnixStream, end: Sender<()>) {
    copy(&mut server, &mut claw);
    let _ = claw.shutdown(Shutdown::Both);
    drop(end);
}

/// Not `io::copy`, which would splice: then it would be we who hold the lock.
fn copy(from: &mut impl Read, to: &mut impl Write) {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let bytes = match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        if buffer.get(..bytes).is_none_or(|said| to.write_all(said).is_err()) {
            return;
        }
    }
}
