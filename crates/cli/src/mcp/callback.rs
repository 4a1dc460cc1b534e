//! The address of this machine to which a browser comes back after a login: one port of the
//! loopback interface, for one answer. Must not know what is in it.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::domain::login_answer::LOGIN_PATH;

const HEAD_BYTES_MAX: usize = 16 * 1024;
/// A browser that opens a connection in advance must not keep another one out for longer.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) struct Callback {
    listener: TcpListener,
    address: String,
}

/// A browser that waits for its page.
pub(super) struct Page(TcpStream);

impl Callback {
    /// At this port; 0 is any.
    pub(super) async fn listen(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let address = format!("http://{}{LOGIN_PATH}", listener.local_addr()?);
        Ok(Self { listener, address })
    }

    /// At an address of before. `None` where somebody else listens there.
    pub(super) async fn at(address: &str) -> Option<Self> {
        let url = address.strip_prefix("http://127.0.0.1:")?;
        let callback = Self::listen(url.strip_suffix(LOGIN_PATH)?.parse().ok()?).await.ok()?;
        (callback.address == address).then_some(callback)
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// The next address that is the answer, with the browser that was sent there. Whoever asks for
    /// another one is told that there is nothing.
    pub(super) async fn next(
        &self,
        is_answer: impl Fn(&str) -> bool,
    ) -> io::Result<(String, Page)> {
        loop {
            let (mut stream, _) = self.listener.accept().await?;
            let Ok(Some(target)) = timeout(HEAD_TIMEOUT, target(&mut stream)).await else {
                continue;
            };
            let address = self.address.replace(LOGIN_PATH, &target);
            let is_here = target.split(['?', '#']).next() == Some(LOGIN_PATH);
            if is_here && is_answer(&address) {
                return Ok((address, Page(stream)));
            }
            let text = "This is not the answer to the login that claw waits for.";
            answer(stream, "404 Not Found", text).await;
        }
    }
}

impl Page {
    pub(super) async fn show(self, is_done: bool) {
        let text = match is_done {
            true => "claw is logged in. You can close this page.",
            false => "The login has failed. The terminal says why.",
        };
        answer(self.0, "200 OK", text).await;
    }
}

/// The target of a GET, once the whole head is there.
async fn target(stream: &mut TcpStream) -> Option<String> {
    let (mut head, mut piece) = (Vec::new(), [0; 2048]);
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        let size = stream.read(&mut piece).await.ok().filter(|size| *size > 0)?;
        head.extend_from_slice(piece.get(..size)?);
        if head.len() > HEAD_BYTES_MAX {
            return None;
        }
    }
    let head = String::from_utf8(head).ok()?;
    let mut words = head.lines().next()?.split(' ');
    let target = words.next().filter(|verb| *verb == "GET").and(words.next())?;
    target.starts_with('/').then(|| target.to_owned())
}

/// A page without anything to load, and whose address goes nowhere.
async fn answer(mut stream: TcpStream, status: &str, text: &str) {
    let page = format!("<!doctype html><title>claw</title><p>{text}</p>\n");
    let response = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
         Content-Security-Policy: default-src 'none'\r\nReferrer-Policy: no-referrer\r\n\
         Cache-Control: no-store\r\nConnection: close\r\n\r\n{page}",
        page.len(),
    );
    // Whoever has gone needs no page.
    let _ = timeout(HEAD_TIMEOUT, async {
        stream.write_all(response.as_bytes()).await?;
        stream.shutdown().await
    })
    .await;
}
