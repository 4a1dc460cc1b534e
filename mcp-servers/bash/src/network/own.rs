//! An empty network namespace for one command, made by its supervisor, and the listening socket
//! that is handed out of it. Must not know HTTP.

use std::io;
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::io::IoSlice;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, sendto,
    socket_with,
};
use rustix::thread::UnshareFlags;

/// The loopback interface is the first one of every namespace.
const LOOPBACK: u32 = 1;
/// rtnetlink(7), netdevice(7).
const RTM_NEWLINK: u16 = 16;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
const NLMSG_ERROR: u16 = 2;
const IFF_UP: u32 = 1;

/// Whether this process may make one. Tried on a thread of its own, which takes it along when it
/// ends.
pub fn can_be_had() -> bool {
    std::thread::spawn(|| enter().is_ok()).join().unwrap_or(false)
}

/// Puts this thread, and all that it starts, into an empty network whose loopback is up.
pub fn enter() -> io::Result<()> {
    unshare_network()?;
    loopback_up()
}

#[expect(deprecated, reason = "only the flag FILES makes it unsafe, and this never passes it")]
fn unshare_network() -> io::Result<()> {
    Ok(rustix::thread::unshare(UnshareFlags::NEWNET)?)
}

/// One message by rtnetlink(7): an interface comes up by its number.
fn loopback_up() -> io::Result<()> {
    let socket = socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        // Protocol 0 is NETLINK_ROUTE.
        None,
    )?;
    let mut message = Vec::with_capacity(32);
    message.extend(32_u32.to_ne_bytes());
    message.extend(RTM_NEWLINK.to_ne_bytes());
    message.extend((NLM_F_REQUEST | NLM_F_ACK).to_ne_bytes());
    // The number of the message, and the sender, which the kernel knows.
    message.extend([0; 8]);
    // Family and kind of the interface: any.
    message.extend([0; 4]);
    message.extend(LOOPBACK.to_ne_bytes());
    message.extend(IFF_UP.to_ne_bytes());
    message.extend(IFF_UP.to_ne_bytes());
    sendto(&socket, &message, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    let mut answer = [0; 256];
    let (size, _) = rustix::net::recv(&socket, &mut answer, RecvFlags::empty())?;
    let word = |at: usize| answer.get(at..at + 4).and_then(|word| word.try_into().ok());
    let kind = answer.get(4..6).and_then(|kind| kind.try_into().ok()).map(u16::from_ne_bytes);
    match word(16).map(i32::from_ne_bytes) {
        Some(0) if size >= 20 && kind == Some(NLMSG_ERROR) => Ok(()),
        Some(code @ ..0) => Err(io::Error::from_raw_os_error(-code)),
        _ => Err(io::Error::other("the kernel gave no answer about the loopback interface")),
    }
}

/// A socket that listens in here, on a port that the kernel chooses. Its other end is handed to the
/// server, which stays outside and answers on it: a socket belongs to the network it was made in.
pub fn hand_out(line: &UnixStream) -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut rights = SendAncillaryBuffer::new(&mut space);
    let descriptors = [listener.as_fd()];
    if !rights.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::Error::other("there is no room for one descriptor"));
    }
    sendmsg(line, &[IoSlice::new(b"l")], &mut rights, SendFlags::NOSIGNAL)?;
    Ok(port)
}

/// The listening socket that a supervisor has handed out. Does not wait.
pub fn take_in(line: impl AsFd) -> io::Result<TcpListener> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut rights = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0; 1];
    recvmsg(
        line,
        &mut [rustix::io::IoSliceMut::new(&mut byte)],
        &mut rights,
        RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT,
    )?;
    let descriptor = rights.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    let descriptor: OwnedFd =
        descriptor.ok_or_else(|| io::Error::other("the supervisor handed out no socket"))?;
    let listener = TcpListener::from(descriptor);
    listener.set_nonblocking(true)?;
    Ok(listener)
}
