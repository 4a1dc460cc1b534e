//! Docker's socket for one command: a port on the loopback of the command's own network, and what
//! comes there is carried to the socket. Must not know what is said on it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::copy_bidirectional;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::Outside;

/// Connections of one command at the same time. More wait.
const CONNECTIONS_MAX: usize = 64;

/// Lives as long as its command.
pub struct Docker {
    outside: Arc<Outside>,
    socket: PathBuf,
}

impl Docker {
    pub fn new(outside: Arc<Outside>, socket: PathBuf) -> Self {
        Self { outside, socket }
    }

    /// Serves until the future is dropped; all connections end with it.
    pub async fn serve(&self, listener: TcpListener) {
        let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let mut connections = JoinSet::new();
        loop {
            while connections.try_join_next().is_some() {}
            let Ok(place) = places.clone().acquire_owned().await else { return };
            let Ok((mut inside, _)) = listener.accept().await else {
                // Out of descriptors, or the other side gave up meanwhile.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let (outside, socket) = (self.outside.clone(), self.socket.clone());
            connections.spawn(async move {
                // A program that is told nothing says itself that nobody answers.
                if let Ok(mut stream) = outside.connect(socket).await {
                    let _ = copy_bidirectional(&mut inside, &mut stream).await;
                }
                drop(place);
            });
        }
    }
}

/// How programs are told of it.
pub fn variables(port: u16) -> Vec<(&'static str, OsString)> {
    vec![("DOCKER_HOST", format!("tcp://127.0.0.1:{port}").into())]
}
