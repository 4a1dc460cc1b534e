//! The proxy of one command: takes its connections, decides by the host that is asked for and by
//! the address that it has looked up itself, and carries bytes. Must not know processes.
//!
//! Names are looked up once, here, and the connection goes to the address that was judged; so a
//! name that changes its address between two looks (DNS rebinding) reaches nothing.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream, lookup_host};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::address::is_public;
use super::head::{self, HEAD_BYTES_MAX, Head};
use super::hosts::HostRule;
use super::reached::{HostAccount, NOT_NAMED, Reached};

/// Connections of one command at the same time. More wait.
const CONNECTIONS_MAX: usize = 64;
const HEAD_PATIENCE: Duration = Duration::from_secs(30);
const CONNECT_PATIENCE: Duration = Duration::from_secs(30);

/// Lives as long as its command.
pub struct Proxy {
    /// What the command has named.
    hosts: Vec<HostRule>,
    /// What the owner has opened for all commands that name it, wherever it lies.
    private: Vec<HostRule>,
    reached: Mutex<Reached>,
}

/// Why a request is not carried on.
struct Refusal {
    status: &'static str,
    why: &'static str,
}

impl Proxy {
    pub fn new(hosts: Vec<HostRule>, private: Vec<HostRule>) -> Arc<Self> {
        Arc::new(Self { hosts, private, reached: Mutex::default() })
    }

    /// What it has let through and what not, so far.
    pub fn sentences(&self) -> Vec<String> {
        self.reached().sentences()
    }

    /// An address of this host, judged as for every other connection. Counts as one.
    ///
    /// # Errors
    /// Why it may not be reached.
    pub async fn address(&self, host: &str, port: u16) -> Result<SocketAddr, &'static str> {
        let judged = self.judge(host, port).await.map_err(|refusal| refusal.why);
        let first =
            judged.and_then(|found| found.first().copied().ok_or("its name has no address"));
        match first {
            Ok(_) => self.reached().connected(host, port),
            Err(why) => self.reached().refused(host, port, why),
        }
        first
    }

    /// What such a connection has carried.
    pub fn carried(&self, host: &str, port: u16, bytes: u64) {
        self.reached().carried(host, port, bytes);
    }

    pub fn accounts(&self) -> Vec<HostAccount> {
        self.reached().accounts()
    }

    /// Serves until the future is dropped; all connections end with it.
    pub async fn serve(self: &Arc<Self>, listener: TcpListener) {
        let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let mut connections = JoinSet::new();
        loop {
            while connections.try_join_next().is_some() {}
            let Ok(place) = places.clone().acquire_owned().await else { return };
            let Ok((stream, _)) = listener.accept().await else {
                // Out of descriptors, or the other side gave up meanwhile.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let proxy = self.clone();
            connections.spawn(async move {
                proxy.connection(stream).await;
                drop(place);
            });
        }
    }

    async fn connection(&self, mut inside: TcpStream) {
        let mut begun = Vec::new();
        let read = timeout(HEAD_PATIENCE, read_head(&mut inside, &mut begun)).await;
        let head = match read {
            Ok(Ok(Some(head))) => head,
            Ok(Ok(None)) | Err(_) => return,
            Ok(Err(why)) => {
                let refusal = Refusal { status: "400 Bad Request", why };
                return refuse(&mut inside, &refusal).await;
            }
        };
        let mut outside = match self.connect(&head).await {
            Ok(outside) => outside,
            Err(refusal) => {
                self.reached().refused(&head.host, head.port, refusal.why);
                return refuse(&mut inside, &refusal).await;
            }
        };
        self.reached().connected(&head.host, head.port);
        let carried = carry(&head, &begun[head.bytes..], &mut inside, &mut outside).await;
        self.reached().carried(&head.host, head.port, carried);
    }

    /// Connects to the first address that may be reached and answers.
    async fn connect(&self, head: &Head) -> Result<TcpStream, Refusal> {
        let allowed = self.judge(&head.host, head.port).await?;
        timeout(CONNECT_PATIENCE, TcpStream::connect(allowed.as_slice()))
            .await
            .ok()
            .and_then(Result::ok)
            .ok_or(Refusal { status: "502 Bad Gateway", why: "it does not answer" })
    }

    /// Judges the host, looks its addresses up, and judges these.
    async fn judge(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, Refusal> {
        let refused = |why| Refusal { status: "403 Forbidden", why };
        if !self.hosts.iter().any(|rule| rule.covers(host, port)) {
            return Err(refused(NOT_NAMED));
        }
        let failed = |why| Refusal { status: "502 Bad Gateway", why };
        let found =
            lookup_host((host, port)).await.map_err(|_| failed("its name has no address"))?;
        let found: Vec<SocketAddr> = found.collect();
        let opened = self.private.iter().any(|rule| rule.covers(host, port));
        let mut allowed = found.clone();
        allowed.retain(|address| opened || is_public(address.ip()));
        if allowed.is_empty() && !found.is_empty() {
            return Err(refused("its address is not on the open internet"));
        }
        Ok(allowed)
    }

    fn reached(&self) -> MutexGuard<'_, Reached> {
        self.reached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `None`: the other side has gone.
async fn read_head(
    inside: &mut TcpStream,
    begun: &mut Vec<u8>,
) -> Result<Option<Head>, &'static str> {
    let mut piece = [0; 4096];
    loop {
        match inside.read(&mut piece).await {
            Ok(0) | Err(_) => return Ok(None),
            Ok(size) => begun.extend_from_slice(&piece[..size]),
        }
        if let Some(head) = head::parse(begun)? {
            return Ok(Some(head));
        }
        if begun.len() > HEAD_BYTES_MAX {
            return Err("the head of the request is too long");
        }
    }
}

/// Carries bytes until both sides have ended; gives their number.
async fn carry(head: &Head, begun: &[u8], inside: &mut TcpStream, outside: &mut TcpStream) -> u64 {
    let opened = match &head.forward {
        None => inside.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await,
        Some(forward) => outside.write_all(forward).await,
    };
    if opened.is_err() || outside.write_all(begun).await.is_err() {
        return 0;
    }
    copy_bidirectional(inside, outside).await.map_or(0, |(sent, received)| sent + received)
}

/// The words are for people: programs print them.
async fn refuse(inside: &mut TcpStream, refusal: &Refusal) {
    let Refusal { status, why } = refusal;
    let body = format!("claw: the network of this command refused this: {why}\n");
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain\r\nx-claw-refused: {why}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    // Who does not listen any more needs no answer.
    let _ = inside.write_all(answer.as_bytes()).await;
    let _ = inside.shutdown().await;
}

#[cfg(test)]
mod tests;
