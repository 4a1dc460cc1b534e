//! What the hub and the supervisor of a server say to each other, over a socket: first the ends of
//! three sockets for what the server says and hears (`relay.rs`), as descriptors, then [`Spec`] as
//! a line of JSON. Back come [`Started`] and, when nothing of the server is left, [`Report`]. The
//! end of the hub's side means: end the server. Must not know who starts what.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use claw_kit::reaper::Exit;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use serde::{Deserialize, Serialize};

/// Which server, and how long it may take to end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Spec {
    pub(super) program: String,
    pub(super) args: Vec<String>,
    /// Between the end of its stdin and SIGTERM, and again between SIGTERM and SIGKILL.
    pub(super) grace_ms: u64,
}

/// What the process is told that becomes the server.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Birth {
    pub(super) spec: Spec,
    /// The process with which it has to end.
    pub(super) supervisor: u32,
}

/// Whether there is a server.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Started {
    Yes {
        pid: i32,
    },
    /// With the number of the system's error, where there is one.
    No {
        errno: Option<i32>,
        text: String,
    },
}

/// How the server's process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Report {
    Exited(i32),
    Signaled(i32),
}

impl From<Exit> for Report {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Exited(code) => Self::Exited(code),
            Exit::Signaled(signal) => Self::Signaled(signal),
        }
    }
}

impl Report {
    pub(super) fn in_words(self) -> String {
        match self {
            Self::Exited(code) => format!("it exited with status {code}"),
            Self::Signaled(signal) => format!("it was ended by signal {signal}"),
        }
    }
}

/// The server's stdin, stdout and stderr: sockets from the hub, pipes from its supervisor on.
pub(super) type Pipes = [OwnedFd; 3];

/// The descriptors travel beside one byte; a socket that is new has room for it, so this does not
/// block.
pub(super) fn send_pipes(line: impl AsFd, pipes: &Pipes) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let pipes: [BorrowedFd<'_>; 3] = pipes.each_ref().map(AsFd::as_fd);
    if !control.push(SendAncillaryMessage::ScmRights(&pipes)) {
        return Err(io::Error::other("there is no room for three descriptors"));
    }
    rustix::net::sendmsg(line, &[IoSlice::new(b"\n")], &mut control, SendFlags::empty())?;
    Ok(())
}

/// `None` if the other side closed the line before it had sent anything.
pub(super) fn receive_pipes(line: impl AsFd) -> io::Result<Option<Pipes>> {
    // Nobody is started before this is through, so no child can inherit what is not yet closed on
    // exec.
    #[cfg(target_os = "linux")]
    let flags = RecvFlags::CMSG_CLOEXEC;
    #[cfg(not(target_os = "linux"))]
    let flags = RecvFlags::empty();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let received =
        rustix::net::recvmsg(line, &mut [IoSliceMut::new(&mut byte)], &mut control, flags)?;
    if received.bytes == 0 {
        return Ok(None);
    }
    let mut pipes: Vec<OwnedFd> = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            pipes.extend(descriptors);
        }
    }
    let count = pipes.len();
    let pipes = Pipes::try_from(pipes)
        .map_err(|_| io::Error::other(format!("{count} descriptors came, not 3")))?;
    #[cfg(not(target_os = "linux"))]
    for pipe in &pipes {
        rustix::io::fcntl_setfd(pipe, rustix::io::FdFlags::CLOEXEC)?;
    }
    Ok(Some(pipes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixStream;

    #[test]
    fn three_pipes_arrive_in_their_order_and_nothing_is_no_fault() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let made: Vec<_> = (0..3).map(|_| std::io::pipe().unwrap()).collect();
        let (readers, writers): (Vec<_>, Vec<_>) = made.into_iter().unzip();
        let writers: Vec<OwnedFd> = writers.into_iter().map(OwnedFd::from).collect();
        send_pipes(&ours, &Pipes::try_from(writers).unwrap()).unwrap();
        let received = receive_pipes(&theirs).unwrap().unwrap();
        for (name, pipe) in ["in", "out", "err"].into_iter().zip(received) {
            std::fs::File::from(pipe).write_all(name.as_bytes()).unwrap();
        }
        for (name, mut reader) in ["in", "out", "err"].into_iter().zip(readers) {
            let mut text = String::new();
            reader.read_to_string(&mut text).unwrap();
            assert_eq!(text, name);
        }
        drop(ours);
        assert!(receive_pipes(&theirs).unwrap().is_none());
    }
}
