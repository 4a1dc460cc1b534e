//! Starts the supervisors of commands that get namespaces of their own: from a thread that stays
//! outside of the box, because nobody in it may make any. A supervisor closes the box around itself
//! once it stands in them. Must not know what is supervised.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};
use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::namespace::unshare;

/// Goes with the server.
pub struct Launcher {
    requests: Sender<Request>,
}

struct Request {
    command: Command,
    runtime: Handle,
    child: oneshot::Sender<io::Result<Child>>,
}

impl Launcher {
    /// Must be called before the box closes. `None` where a child can have no process ids of its
    /// own.
    pub fn start() -> Option<Self> {
        let (requests, taken) = channel();
        let (tried, works) = channel();
        thread::spawn(move || {
            let own = File::open("/proc/thread-self/ns/pid").map_err(io::Error::other);
            let ready = own.and_then(|own| begin().and_then(|()| end(&own)).map(|()| own));
            let _ = tried.send(ready.is_ok());
            if let Ok(own) = ready {
                serve(&own, &taken);
            }
        });
        works.recv().unwrap_or(false).then_some(Self { requests })
    }

    /// Starts the command as the first process of a table of its own.
    ///
    /// # Errors
    /// The system gives no more of them, or what starting any process fails by.
    pub async fn spawn(&self, command: Command) -> io::Result<Child> {
        let (child, started) = oneshot::channel();
        let gone = || io::Error::other("the thread that starts commands has ended");
        let request = Request { command, runtime: Handle::current(), child };
        self.requests.send(request).map_err(|_| gone())?;
        started.await.map_err(|_| gone())?
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the bash server is one of the two that start processes"
)]
fn serve(own: &File, taken: &Receiver<Request>) {
    while let Ok(Request { mut command, runtime, child }) = taken.recv() {
        let _entered = runtime.enter();
        let started = begin().and_then(|()| command.spawn());
        // Without it every later child would be another one's.
        let back = end(own);
        // Whoever asked may have given up, and the child then ends with its line.
        let _ = child.send(back.and(started));
    }
}

/// The next child is the first of a process table.
fn begin() -> io::Result<()> {
    unshare(UnshareFlags::NEWPID)
}

fn end(own: &File) -> io::Result<()> {
    Ok(move_into_link_name_space(own.as_fd(), Some(LinkNameSpaceType::ProcessID))?)
}
