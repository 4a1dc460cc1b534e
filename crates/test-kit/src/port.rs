//! A port of this machine that stays a test's own also while nobody listens at it. Must not know
//! what listens there.

use std::net::{Shutdown, SocketAddr, TcpListener};

use socket2::{Domain, SockRef, Socket, Type};

/// Bound, and never listening: who connects is refused, others are given another port, and a
/// program that names this one can listen at it (socket(7), `SO_REUSEADDR`).
#[derive(Debug)]
pub struct KeptPort {
    pub address: SocketAddr,
    _bound: Socket,
}

impl KeptPort {
    /// One of those that are free, on loopback.
    #[expect(clippy::new_without_default, reason = "each is another one")]
    pub fn new() -> Self {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.set_reuse_address(true).unwrap();
        socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
        let address = socket.local_addr().unwrap().as_socket().unwrap();
        Self { address, _bound: socket }
    }
}

/// Ends it for everybody who holds it open: a program that another test starts meanwhile does for
/// a moment, and connections would still be taken, and then reset.
pub fn stop_listening(listener: &TcpListener) {
    // Systems that refuse it have closed it with its last handle (shutdown(2)).
    let _refused = SockRef::from(listener).shutdown(Shutdown::Read);
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::net::{TcpListener, TcpStream};

    use super::{KeptPort, stop_listening};

    #[test]
    fn it_refuses_until_somebody_listens_and_again_after_that() {
        let port = KeptPort::new();
        let mut kept = Vec::new();
        let refused = || TcpStream::connect(port.address).unwrap_err().kind();
        assert_eq!(refused(), ErrorKind::ConnectionRefused);
        for _ in 0..2 {
            let listener = TcpListener::bind(port.address).unwrap();
            TcpStream::connect(port.address).unwrap();
            // Somebody else holds it open, as a program does that is just being started.
            let held = listener.try_clone().unwrap();
            stop_listening(&listener);
            drop(listener);
            kept.push(held);
            assert_eq!(refused(), ErrorKind::ConnectionRefused);
        }
    }
}
