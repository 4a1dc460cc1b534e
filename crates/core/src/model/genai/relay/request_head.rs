//! The head of a request that `genai` has left, and what of it goes to the provider. Must not know
//! who sends it.

use reqwest::Method;
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::ERRAND;

/// The longest head, in bytes: a key may be long, all else is short.
const HEAD_BYTES_MAX: usize = 64 << 10;
const HEADERS_MAX: usize = 64;
/// What belongs to the connection and not to the message, and what reqwest says by itself.
const LEFT_OUT: [HeaderName; 4] =
    [header::HOST, header::CONNECTION, header::ACCEPT_ENCODING, header::TRANSFER_ENCODING];

pub(super) struct RequestHead {
    pub method: Method,
    /// Path and query.
    pub target: String,
    /// For the provider.
    pub headers: HeaderMap,
    pub errand: u64,
    pub body_bytes: u64,
}

/// Reads a head, and what has come of the body with it. `None` if it is no request of `genai`.
pub(super) async fn read(from: &mut (impl AsyncRead + Unpin)) -> Option<(RequestHead, Vec<u8>)> {
    let mut read = Vec::with_capacity(4 << 10);
    loop {
        if from.read_buf(&mut read).await.ok()? == 0 || read.len() > HEAD_BYTES_MAX {
            return None;
        }
        if let Some((head, len)) = parse(&read)? {
            return Some((head, read.split_off(len)));
        }
    }
}

/// `Some(None)` if more has to come.
#[expect(clippy::option_option, reason = "broken, unfinished and whole are three things")]
fn parse(bytes: &[u8]) -> Option<Option<(RequestHead, usize)>> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(len) = request.parse(bytes).ok()? else { return Some(None) };
    let mut kept = HeaderMap::new();
    for header in request.headers.iter() {
        kept.append(
            HeaderName::from_bytes(header.name.as_bytes()).ok()?,
            HeaderValue::from_bytes(header.value).ok()?,
        );
    }
    let errand = number(&kept.remove(ERRAND)?)?;
    let body_bytes = number(kept.get(header::CONTENT_LENGTH)?)?;
    LEFT_OUT.iter().for_each(|name| {
        let _theirs = kept.remove(name);
    });
    let head = RequestHead {
        method: request.method?.parse().ok()?,
        target: request.path?.to_owned(),
        headers: kept,
        errand,
        body_bytes,
    };
    Some(Some((head, len)))
}

fn number(value: &HeaderValue) -> Option<u64> {
    value.to_str().ok()?.parse().ok()
}
