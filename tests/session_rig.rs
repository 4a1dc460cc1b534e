//! An MCP server over HTTP with sessions, as strict as the servers of the official SDKs: a request
//! says what it takes, and brings its session and its revision. Owns the sessions. Must not know
//! claw.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use crate::http_rig::{Seen, as_json, mcp};

const REVISION: &str = "2025-11-25";

/// Its tool `echo` says its argument `text` again.
#[derive(Clone, Default)]
pub struct Sessions(Arc<Mutex<Books>>);

#[derive(Default)]
struct Books {
    begun: usize,
    /// Those that live, and whether `notifications/initialized` has come.
    open: BTreeMap<String, bool>,
}

impl Sessions {
    /// A stream it has none.
    pub fn answer(&self, seen: &Seen) -> Response {
        match seen.verb.as_str() {
            "POST" => self.post(seen).unwrap_or_else(Refused::response),
            "DELETE" => match self.session_of(seen) {
                Ok(id) => {
                    self.0.lock().unwrap().open.remove(&id);
                    StatusCode::OK.into_response()
                }
                Err(refused) => refused.response(),
            },
            _ => StatusCode::METHOD_NOT_ALLOWED.into_response(),
        }
    }

    fn post(&self, seen: &Seen) -> Result<Response, Refused> {
        let takes = seen.header("accept").unwrap_or_default();
        if !["application/json", "text/event-stream"].iter().all(|kind| takes.contains(kind)) {
            return Err(Refused(406, "Not Acceptable: both kinds must be accepted"));
        }
        if seen.header("content-type") != Some("application/json") {
            return Err(Refused(415, "Unsupported Media Type"));
        }
        let message = seen.message();
        let method = message["method"].as_str().unwrap_or_default();
        if method == "initialize" {
            return self.begin(seen);
        }
        let id = self.session_of(seen)?;
        let is_ready = {
            let mut books = self.0.lock().unwrap();
            let is_ready = books.open.get_mut(&id).unwrap();
            *is_ready |= method == "notifications/initialized";
            *is_ready
        };
        if !is_ready && method != "ping" {
            return Err(Refused(400, "Received request before initialization was complete"));
        }
        if method != "tools/call" {
            return Ok(mcp(seen));
        }
        let said = format!("said {}", message["params"]["arguments"]["text"]);
        let result = json!({"content": [{"type": "text", "text": said}]});
        Ok(as_json(200, &json!({"jsonrpc": "2.0", "id": message["id"], "result": result})))
    }

    fn begin(&self, seen: &Seen) -> Result<Response, Refused> {
        if seen.header("mcp-session-id").is_some() {
            return Err(Refused(400, "Invalid Request: Server already initialized"));
        }
        let mut books = self.0.lock().unwrap();
        books.begun += 1;
        let id = format!("session-{}", books.begun);
        let mut response = mcp(seen);
        response.headers_mut().insert("mcp-session-id", id.parse().unwrap());
        books.open.insert(id, false);
        Ok(response)
    }

    fn session_of(&self, seen: &Seen) -> Result<String, Refused> {
        let Some(id) = seen.header("mcp-session-id") else {
            return Err(Refused(400, "Bad Request: Mcp-Session-Id header is required"));
        };
        if !self.0.lock().unwrap().open.contains_key(id) {
            return Err(Refused(404, "Session not found"));
        }
        // Without the header it would be an older one.
        if seen.header("mcp-protocol-version").is_some_and(|revision| revision != REVISION) {
            return Err(Refused(400, "Bad Request: Unsupported protocol version"));
        }
        Ok(id.to_owned())
    }
}

/// The status, and why.
struct Refused(u16, &'static str);

impl Refused {
    fn response(self) -> Response {
        let error = json!({"code": -32000, "message": self.1});
        as_json(self.0, &json!({"jsonrpc": "2.0", "error": error, "id": Value::Null}))
    }
}
