//! What a server over HTTP wants to be told with every request: its session, the revision of the
//! protocol, and what 2026-07-28 repeats in headers. Must not know connections.

use std::time::Duration;

use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use tokio::time::Instant;

use super::mirror;
use crate::transport::SendError;

pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
pub(super) const PROTOCOL: HeaderName = HeaderName::from_static("mcp-protocol-version");
const PROTOCOL_IN_META: &str = "/params/_meta/io.modelcontextprotocol~1protocolVersion";

/// An id that is longer is no id but an attack on headers.
const ID_BYTES_MAX: usize = 1024;

pub(super) struct Session {
    /// Where messages go: the entry's URL, or where the same server has sent claw on to.
    pub(super) url: Url,
    /// Given by the server with its answer to `initialize`.
    id: Option<HeaderValue>,
    /// The revision that `initialize` has agreed on. `None` before that, and for 2026-07-28.
    protocol: Option<HeaderValue>,
    /// The server has refused something in a way in which it also refuses unknown sessions.
    doubted: bool,
    /// The server has said that it does not know the id.
    forgotten: bool,
    /// It has answered something, whatever it was.
    reached: bool,
    /// When the server last answered well.
    heard: Instant,
}

impl Session {
    pub(super) fn new(url: Url) -> Self {
        Self {
            url,
            id: None,
            protocol: None,
            doubted: false,
            forgotten: false,
            reached: false,
            heard: Instant::now(),
        }
    }

    /// The headers of a message, beside the entry's own.
    ///
    /// # Errors
    /// What the message says fits into no header.
    pub(super) fn headers(
        &self,
        message: &Value,
        mirrored: &[(String, String)],
    ) -> Result<HeaderMap, SendError> {
        let mut headers = HeaderMap::new();
        let modern = message.pointer(PROTOCOL_IN_META).and_then(Value::as_str);
        let of_2026 = modern.map(|_| mirror::of_request(message)).unwrap_or_default();
        let mirrored = if modern.is_some() { mirrored } else { &[] };
        for (name, value) in of_2026.iter().chain(mirrored) {
            let name = HeaderName::try_from(name.as_str()).map_err(|_| SendError::NoHeader)?;
            headers.insert(name, header(value)?);
        }
        if let Some(protocol) = modern {
            headers.insert(PROTOCOL, header(protocol)?);
        } else if message.get("method").and_then(Value::as_str) != Some("initialize") {
            self.add_to(&mut headers);
        }
        Ok(headers)
    }

    /// What goes with every request of a session.
    pub(super) fn add_to(&self, headers: &mut HeaderMap) {
        let known = [(SESSION, &self.id), (PROTOCOL, &self.protocol)];
        for (name, value) in known {
            headers.extend(value.clone().map(|value| (name, value)));
        }
    }

    /// Takes what the answer to `initialize` says in its head.
    ///
    /// # Errors
    /// An id that cannot be sent back.
    pub(super) fn open(&mut self, headers: &HeaderMap) -> Result<(), String> {
        let Some(id) = headers.get(SESSION) else { return Ok(()) };
        let is_visible = id.as_bytes().iter().all(u8::is_ascii_graphic);
        if id.is_empty() || id.len() > ID_BYTES_MAX || !is_visible {
            return Err("it gives a session id that cannot be sent back".to_owned());
        }
        let mut id = id.clone();
        id.set_sensitive(true);
        self.id = Some(id);
        Ok(())
    }

    /// Takes the revision from the answer to `initialize`.
    pub(super) fn agree(&mut self, answer: &Value) {
        let protocol = answer.pointer("/result/protocolVersion").and_then(Value::as_str);
        self.protocol = protocol.and_then(|text| HeaderValue::from_str(text).ok());
    }

    /// `initialize` was answered: one of the revisions with sessions, whether it has one or not.
    pub(super) fn has_handshake(&self) -> bool {
        self.protocol.is_some()
    }

    pub(super) fn has_id(&self) -> bool {
        self.id.is_some()
    }

    /// The server does not know the session any more.
    pub(super) fn forget(&mut self) {
        self.id = None;
        self.forgotten = true;
    }

    pub(super) fn is_forgotten(&self) -> bool {
        self.forgotten
    }

    pub(super) fn note_reached(&mut self) {
        self.reached = true;
    }

    pub(super) fn was_reached(&self) -> bool {
        self.reached
    }

    pub(super) fn note_answer(&mut self) {
        self.heard = Instant::now();
        self.doubted = false;
    }

    pub(super) fn doubt(&mut self) {
        self.doubted = true;
    }

    pub(super) fn is_doubtful(&self, idle: Duration) -> bool {
        self.id.is_some() && (self.doubted || self.heard.elapsed() >= idle)
    }
}

fn header(value: &str) -> Result<HeaderValue, SendError> {
    HeaderValue::from_str(value).map_err(|_| SendError::NoHeader)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn session() -> Session {
        Session::new(Url::parse("http://127.0.0.1/mcp").unwrap())
    }

    #[test]
    fn a_session_goes_with_all_that_follows_initialize() {
        let mut session = session();
        let initialize = json!({"method": "initialize", "id": 1});
        assert!(session.headers(&initialize, &[]).unwrap().is_empty());
        session.open(&HeaderMap::from_iter([(SESSION, HeaderValue::from_static("s-1"))])).unwrap();
        session.agree(&json!({"result": {"protocolVersion": "2025-06-18"}}));
        let headers = session.headers(&json!({"method": "tools/list", "id": 2}), &[]).unwrap();
        assert_eq!(
            (&headers[SESSION], &headers[PROTOCOL]),
            (&"s-1".parse().unwrap(), &"2025-06-18".parse().unwrap())
        );
        assert!(headers[SESSION].is_sensitive(), "it is never printed");
        assert_eq!(headers.len(), 2);
        assert!(session.headers(&initialize, &[]).unwrap().is_empty(), "a new one is without");
    }

    #[test]
    fn a_modern_request_says_what_it_is_and_has_no_session() {
        let mut session = session();
        session.open(&HeaderMap::from_iter([(SESSION, HeaderValue::from_static("s-1"))])).unwrap();
        let call = json!({"id": 1, "method": "tools/call", "params": {"name": "t", "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28"}}});
        let headers = session.headers(&call, &[("Mcp-Param-A".into(), "b".into())]).unwrap();
        let mut seen: Vec<_> =
            headers.iter().map(|(k, v)| format!("{k}: {}", v.to_str().unwrap())).collect();
        seen.sort();
        assert_eq!(
            seen,
            [
                "mcp-method: tools/call",
                "mcp-name: t",
                "mcp-param-a: b",
                "mcp-protocol-version: 2026-07-28"
            ]
        );
    }

    #[test]
    fn an_id_that_cannot_be_sent_back_is_refused() {
        for id in ["a b", "", "\u{e4}"].map(str::to_owned).into_iter().chain(["x".repeat(1025)]) {
            let value = HeaderValue::from_bytes(id.as_bytes()).unwrap();
            assert!(session().open(&HeaderMap::from_iter([(SESSION, value)])).is_err(), "{id}");
        }
    }
}
