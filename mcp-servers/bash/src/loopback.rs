//! Brings up the loopback device of a network namespace that was just made, by one message of
//! rtnetlink(7). Must not know who is in there.

use std::io;

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, recv, send, socket};

/// `RTM_NEWLINK`, rtnetlink(7).
const NEW_LINK: u16 = 16;
/// `NLM_F_REQUEST | NLM_F_ACK`, netlink(7).
const ANSWERED_REQUEST: u16 = 1 | 4;
/// `NLMSG_ERROR`: the answer, with 0 for no error.
const ERROR: u16 = 2;
/// `IFF_UP`, netdevice(7).
const UP: u32 = 1;
/// Loopback is the first device of each network namespace.
const FIRST: i32 = 1;
const MESSAGE_BYTES: u32 = 32;

pub fn raise() -> io::Result<()> {
    // No protocol is 0, which is `NETLINK_ROUTE`.
    let kernel = socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
    send(&kernel, &message(), SendFlags::empty())?;
    let mut answer = [0; 64];
    let (bytes, _) = recv(&kernel, &mut answer, RecvFlags::empty())?;
    error_in(&answer[..bytes])
}

/// `nlmsghdr` and `ifinfomsg`, in the machine's own byte order.
fn message() -> Vec<u8> {
    let mut message = Vec::with_capacity(MESSAGE_BYTES as usize);
    message.extend(MESSAGE_BYTES.to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(ANSWERED_REQUEST.to_ne_bytes());
    // Sequence, sender; family, padding and kind of the device.
    message.extend([0; 12]);
    message.extend(FIRST.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    message
}

fn error_in(answer: &[u8]) -> io::Result<()> {
    let strange = || io::Error::other("the kernel gave no answer about loopback");
    let kind = answer.get(4..6).and_then(|bytes| bytes.try_into().ok()).map(u16::from_ne_bytes);
    let code = answer.get(16..20).and_then(|bytes| bytes.try_into().ok()).map(i32::from_ne_bytes);
    match (kind, code) {
        (Some(ERROR), Some(0)) => Ok(()),
        (Some(ERROR), Some(code)) => Err(io::Error::from_raw_os_error(-code)),
        _ => Err(strange()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_of_the_kernel_is_read() {
        assert_eq!(message().len(), MESSAGE_BYTES as usize);
        let answer = |kind: u16, code: i32| {
            let mut answer = vec![0; 20];
            answer[4..6].copy_from_slice(&kind.to_ne_bytes());
            answer[16..20].copy_from_slice(&code.to_ne_bytes());
            error_in(&answer)
        };
        assert!(answer(ERROR, 0).is_ok());
        assert_eq!(answer(ERROR, -1).unwrap_err().raw_os_error(), Some(1));
        assert!(answer(3, 0).is_err() && error_in(&[]).is_err());
    }
}
