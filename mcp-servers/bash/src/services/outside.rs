//! A thread that stays outside of the box: it reaches a Unix socket of the owner's, and starts
//! `ssh`, which the server itself may not any more. Must not know for whom.

use std::io;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// Goes with the server.
pub struct Outside {
    requests: Sender<Request>,
}

enum Request {
    Connect { path: PathBuf, connected: oneshot::Sender<io::Result<StdUnixStream>> },
    Start { command: Box<Command>, runtime: Handle, started: oneshot::Sender<io::Result<Child>> },
    Look(Box<dyn FnOnce() + Send>),
}

impl Outside {
    /// Must be called before the box closes.
    pub fn start() -> Self {
        let (requests, taken) = channel();
        thread::spawn(move || serve(&taken));
        Self { requests }
    }

    /// A connection to the socket at this path.
    ///
    /// # Errors
    /// What connecting fails by.
    pub async fn connect(&self, path: PathBuf) -> io::Result<UnixStream> {
        let (connected, stream) = oneshot::channel();
        self.requests.send(Request::Connect { path, connected }).map_err(|_| gone())?;
        let stream = stream.await.map_err(|_| gone())??;
        stream.set_nonblocking(true)?;
        UnixStream::from_std(stream)
    }

    /// Looks at files that the box keeps closed.
    ///
    /// # Errors
    /// The look ended early.
    pub async fn look<T: Send + 'static>(
        &self,
        at: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<T> {
        let (sender, seen) = oneshot::channel();
        // Whoever asked may have given up.
        let look = Box::new(move || drop(sender.send(at())));
        self.requests.send(Request::Look(look)).map_err(|_| gone())?;
        seen.await.map_err(|_| gone())
    }

    /// Starts a program that no box holds.
    ///
    /// # Errors
    /// What starting fails by.
    pub async fn spawn(&self, command: Command) -> io::Result<Child> {
        let (started, child) = oneshot::channel();
        let (command, runtime) = (Box::new(command), Handle::current());
        self.requests.send(Request::Start { command, runtime, started }).map_err(|_| gone())?;
        child.await.map_err(|_| gone())?
    }
}

fn gone() -> io::Error {
    io::Error::other("the thread that reaches the owner's services has ended")
}

#[expect(
    clippy::disallowed_methods,
    reason = "the bash server is one of the two that start processes"
)]
fn serve(taken: &Receiver<Request>) {
    while let Ok(request) = taken.recv() {
        match request {
            // Whoever asked may have given up; one that listens and takes nobody holds up no other.
            Request::Connect { path, connected } => {
                thread::spawn(move || connected.send(StdUnixStream::connect(path)));
            }
            Request::Look(look) => drop(thread::spawn(look)),
            Request::Start { mut command, runtime, started } => {
                let _entered = runtime.enter();
                let _ = started.send(command.spawn());
            }
        }
    }
}
