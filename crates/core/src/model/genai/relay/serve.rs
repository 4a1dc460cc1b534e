//! One request of `genai`, from the socket to the provider and back. Must not know why it is asked.

use futures::stream::{self, StreamExt as _, TryStream};
use reqwest::header::{self, HeaderName};
use reqwest::{Body, Response, Url};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::net::unix::OwnedWriteHalf;
use tokio::time::timeout;

use super::request_head::{self, RequestHead};
use super::whole_events::WholeEvents;
use super::{Broken, Errand, Errands, locked};

/// So much of a body is read at once, in bytes.
const BODY_PIECE_BYTES: usize = 16 << 10;
/// What belongs to the provider's connection. The body's length changes with its framing.
const LEFT_OUT: [HeaderName; 4] =
    [header::CONNECTION, header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::UPGRADE];

/// Serves a connection, which carries one request. Ends when nobody waits for the answer.
pub(super) async fn request(stream: UnixStream, errands: &Errands) {
    let (mut read, mut write) = stream.into_split();
    let Some((head, begun)) = request_head::read(&mut read).await else { return };
    let Some(errand) = locked(errands).get(&head.errand).cloned() else { return };
    let rest = head.body_bytes.saturating_sub(begun.len() as u64);
    let body = Body::wrap_stream(pieces(begun, read.take(rest)));
    let passed = pass(head, body, &mut write, &errand);
    if let Some(Err(why)) = errand.ended.run_until_cancelled(passed).await {
        // Before the socket is closed, which is what `genai` notices.
        errand.broke(why);
    }
    drop(write);
}

/// The body in pieces, so that it does not stand here as a whole a second time.
fn pieces(
    begun: Vec<u8>,
    rest: impl AsyncRead + Unpin + Send + 'static,
) -> impl TryStream<Ok = Vec<u8>, Error = std::io::Error> + Send + 'static {
    let rest = stream::try_unfold(rest, |mut rest| async move {
        let mut piece = Vec::with_capacity(BODY_PIECE_BYTES);
        let read = rest.read_buf(&mut piece).await?;
        Ok((read > 0).then_some((piece, rest)))
    });
    stream::iter([Ok(begun)]).chain(rest)
}

/// The answer is cut, as it was where it came from, if this is an error. Nobody waits for it if it
/// cannot be written.
async fn pass(
    head: RequestHead,
    body: Body,
    to: &mut OwnedWriteHalf,
    errand: &Errand,
) -> Result<(), Broken> {
    let url = address(&errand.base, &head.target);
    let sent = errand.upstream.request(head.method, url).headers(head.headers).body(body).send();
    let mut answer = sent.await.map_err(Broken::Http)?;
    if to.write_all(&answer_head(&answer)).await.is_err() {
        return Ok(());
    }
    let mut events = WholeEvents::new(errand.framing);
    loop {
        let piece = timeout(errand.timeout, answer.chunk()).await.map_err(|_| Broken::Silent)?;
        let Some(piece) = piece.map_err(Broken::Http)? else { break };
        let whole = events.push(&piece).map_err(|_| Broken::TooLong)?;
        if chunk(to, whole).await.is_err() {
            return Ok(());
        }
    }
    if chunk(to, events.rest()).await.is_ok() {
        let _nobody_waits = to.write_all(b"0\r\n\r\n").await;
    }
    Ok(())
}

fn address(base: &Url, target: &str) -> Url {
    let (path, query) = match target.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (target, None),
    };
    let mut url = base.clone();
    url.set_path(path);
    url.set_query(query);
    url
}

fn answer_head(answer: &Response) -> Vec<u8> {
    let status = answer.status();
    let reason = status.canonical_reason().unwrap_or_default();
    let mut head = format!("HTTP/1.1 {} {reason}\r\n", status.as_u16()).into_bytes();
    for (name, value) in answer.headers().iter().filter(|(name, _)| !LEFT_OUT.contains(name)) {
        head.extend_from_slice(name.as_str().as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(value.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"connection: close\r\ntransfer-encoding: chunked\r\n\r\n");
    head
}

async fn chunk(to: &mut OwnedWriteHalf, bytes: Vec<u8>) -> std::io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend_from_slice(&bytes);
    chunk.extend_from_slice(b"\r\n");
    to.write_all(&chunk).await
}
