//! What the front knows of the conversation that it relays: the handshake, the requests that have
//! no answer yet, and what a backend that comes in the place of another one has to be told. Pure.
//! Must not know where a line comes from, or what a request asks for.

use std::collections::{BTreeSet, VecDeque};

use rmcp::model::InitializeRequestParams;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::domain::canonical::sha256_hex;
use crate::socket::{NUMBER, NUMBER_BYTES_MAX};

/// Requests without an answer at once; one more is refused.
const IN_FLIGHT_MAX: usize = 64;
/// Of the requests without an answer so many bytes are kept, to be sent again.
const KEPT_BYTES_MAX: usize = 32 << 20;
/// A request is given to so many backends in all. One that ends each of them is given up.
const TRIES_MAX: u32 = 3;
/// JSON-RPC: an internal error.
const INTERNAL_ERROR: i32 = -32603;
/// JSON-RPC: not JSON.
const PARSE_ERROR: i32 = -32700;
/// JSON-RPC: not a valid request.
const INVALID_REQUEST: i32 = -32600;
/// JSON-RPC: parameters that do not fit.
const INVALID_PARAMS: i32 = -32602;

/// What a client is told of a request that no backend has answered.
const MAKE_IT_AGAIN: &str = "make the same call again: what was done is not done twice";

/// One line of JSON-RPC, without its end.
pub type Line = Vec<u8>;

/// What a line is, as far as whoever relays it has to know.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    id: Option<Value>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    error: Option<IgnoredAny>,
}

/// The request that begins a conversation, as whoever answers it reads it.
#[derive(Deserialize)]
struct Initialize {
    #[serde(rename = "params")]
    _params: InitializeRequestParams,
}

/// What a client gives up.
#[derive(Deserialize)]
struct Cancelled {
    params: CancelledParams,
}

#[derive(Deserialize)]
struct CancelledParams {
    #[serde(rename = "requestId")]
    request_id: Value,
}

/// A request of the client's that waits for its answer.
struct Request {
    id: Value,
    /// `None`: there was no room for it, so that it cannot be sent again.
    line: Option<Line>,
    /// `None`: it had no place for a number.
    numbered: Option<Numbered>,
    tries: u32,
}

/// The front's own number of a request.
struct Numbered {
    /// The digest of its method and parameters, which are the same where it is made again.
    call: String,
    number: u64,
}

/// The conversation so far. It lives as long as the client.
#[derive(Default)]
pub struct Relay {
    /// The client's `initialize`, if it has sent one, and whether it has its answer.
    initialize: Option<(Value, Line)>,
    is_initialized: bool,
    /// The client's `notifications/initialized`.
    initialized: Option<Line>,
    /// How many requests have got a number of their own.
    requests: u64,
    /// What the client was told to make again, the oldest first. It keeps its number then, so that
    /// what was done is not done twice.
    given_up: VecDeque<Numbered>,
    /// In the order in which they came.
    in_flight: Vec<Request>,
    kept_bytes: usize,
    /// An `initialize` was sent again, and the client has its answer already.
    swallows: Option<Value>,
    /// What this backend has asked the client, by the text of the id, until the client answers.
    asked: BTreeSet<String>,
}

/// What to do with a line.
#[derive(Debug, PartialEq, Eq)]
pub enum Way {
    Pass,
    /// In this form.
    PassAs(Line),
    /// It goes nowhere.
    Drop,
    /// It goes back to the client, in the place of an answer.
    Answer(String),
}

impl Relay {
    /// Takes a line of the client's.
    pub fn client_says(&mut self, line: &[u8]) -> Way {
        let head = match serde_json::from_slice::<Head>(line) {
            // A list would do for one, too.
            Ok(head) if line.trim_ascii_start().starts_with(b"{") => head,
            _ => return Way::Answer(odd(line)),
        };
        match (head.method.as_deref(), head.id) {
            // The end of a handshake that has failed; whatever answers would end by it.
            (Some("notifications/initialized"), None) if self.initialize.is_none() => {
                return Way::Drop;
            }
            (Some("notifications/initialized"), None) => self.initialized = Some(line.to_vec()),
            (Some("notifications/cancelled"), None) => {
                if let Ok(cancelled) = serde_json::from_slice::<Cancelled>(line) {
                    self.ends(&cancelled.params.request_id);
                }
            }
            (Some(method), Some(id)) => {
                if self.in_flight.len() >= IN_FLIGHT_MAX {
                    let text = format!(
                        "{IN_FLIGHT_MAX} requests wait for their answers already; wait for one of \
                         them and make this one again"
                    );
                    return Way::Answer(error(&id, INVALID_REQUEST, &text));
                }
                if method == "initialize" {
                    if let Err(why) = serde_json::from_slice::<Initialize>(line) {
                        return Way::Answer(error(&id, INVALID_PARAMS, &unreadable(&why)));
                    }
                    (self.initialize, self.initialized) = (Some((id.clone(), line.to_vec())), None);
                    self.is_initialized = false;
                    self.begins(id, line, None);
                    return Way::Pass;
                }
                let Some((passed, numbered)) = self.numbered(line) else {
                    self.begins(id, line, None);
                    return Way::Pass;
                };
                self.begins(id, &passed, Some(numbered));
                return Way::PassAs(passed);
            }
            // An answer to what another backend has asked is nobody's.
            (None, Some(id)) if !self.asked.remove(&id.to_string()) => return Way::Drop,
            _ => {}
        }
        Way::Pass
    }

    /// Takes a line of the backend's.
    pub fn backend_says(&mut self, line: &[u8]) -> Way {
        let Ok(head) = serde_json::from_slice::<Head>(line) else { return Way::Pass };
        match (head.method, head.id) {
            (Some(_), Some(id)) => {
                self.asked.insert(id.to_string());
            }
            (None, Some(id)) => {
                if self.swallows.as_ref() == Some(&id) {
                    self.swallows = None;
                    return Way::Drop;
                }
                if self.initialize.as_ref().is_some_and(|(initialize, _)| *initialize == id)
                    && !self.is_initialized
                {
                    match head.error {
                        None => self.is_initialized = true,
                        // No other one has to hear of it.
                        Some(_) => (self.initialize, self.initialized) = (None, None),
                    }
                }
                self.ends(&id);
            }
            _ => {}
        }
        Way::Pass
    }

    /// What a new backend is sent before anything else, and what the client is told meanwhile: of
    /// requests that are given up, and that nobody waits for its answers any more.
    pub fn begins_anew(&mut self) -> (Vec<Line>, Vec<String>) {
        let (mut told, mut sent) = (self.takes_questions_back(), Vec::new());
        if let Some((id, line)) = self.initialize.as_ref().filter(|_| self.is_initialized) {
            self.swallows = Some(id.clone());
            sent.push(line.clone());
            sent.extend(self.initialized.clone());
        }
        let mut kept = Vec::new();
        for mut request in std::mem::take(&mut self.in_flight) {
            request.tries += 1;
            match &request.line {
                Some(line) if request.tries < TRIES_MAX => {
                    sent.push(line.clone());
                    // A client may have said it before the answer came.
                    let is_initialize =
                        self.initialize.as_ref().map(|it| &it.0) == Some(&request.id);
                    sent.extend(self.initialized.clone().filter(|_| is_initialize));
                    kept.push(request);
                }
                Some(_) => {
                    let text = format!(
                        "claw was restarted {TRIES_MAX} times while it worked on this; if it was \
                         not this call that ended it, {MAKE_IT_AGAIN}"
                    );
                    told.push(self.gives_one_up(request, &text));
                }
                None => {
                    let text = format!("claw was restarted; {MAKE_IT_AGAIN}");
                    told.push(self.gives_one_up(request, &text));
                }
            }
        }
        self.kept_bytes = kept.iter().filter_map(|it| it.line.as_ref()).map(Vec::len).sum();
        self.in_flight = kept;
        (sent, told)
    }

    /// What the client is told when no backend can be had: each request gets an error.
    pub fn gives_up(&mut self, why: &str) -> Vec<String> {
        let mut told = self.takes_questions_back();
        let text = format!("claw cannot be reached: {why}. When that is seen to, {MAKE_IT_AGAIN}");
        let given_up = std::mem::take(&mut self.in_flight);
        told.extend(given_up.into_iter().map(|request| self.gives_one_up(request, &text)));
        self.kept_bytes = 0;
        told
    }

    /// What the client is told of a request that it is to make again.
    fn gives_one_up(&mut self, request: Request, text: &str) -> String {
        if let Some(numbered) = request.numbered {
            if self.given_up.len() >= IN_FLIGHT_MAX {
                self.given_up.pop_front();
            }
            self.given_up.push_back(numbered);
        }
        error(&request.id, INTERNAL_ERROR, text)
    }

    /// The request with the front's own number of it: a new one, or that of the same request which
    /// was given up. `None` for one that has no place for it.
    fn numbered(&mut self, line: &[u8]) -> Option<(Line, Numbered)> {
        let mut request: Value = serde_json::from_slice(line).ok()?;
        let method = request["method"].clone();
        let params = request.get_mut("params")?.as_object_mut()?;
        let mut meta = match params.remove("_meta") {
            None | Some(Value::Null) => json!({}),
            Some(meta) => meta,
        };
        let call = sha256_hex(json!([method, &*params]).to_string().as_bytes());
        let again = self.given_up.iter().position(|known| known.call == call);
        let number = again.map_or(self.requests + 1, |at| self.given_up[at].number);
        meta.as_object_mut()?.insert(NUMBER.to_owned(), number.into());
        params.insert("_meta".to_owned(), meta);
        let passed = request.to_string().into_bytes();
        // Numbers may be longer in another spelling, and the line has a limit.
        if passed.len() > line.len() + NUMBER_BYTES_MAX {
            return None;
        }
        match again {
            Some(at) => drop(self.given_up.remove(at)),
            None => self.requests += 1,
        }
        Some((passed, Numbered { call, number }))
    }

    fn begins(&mut self, id: Value, line: &[u8], numbered: Option<Numbered>) {
        let fits = self.kept_bytes + line.len() <= KEPT_BYTES_MAX;
        self.kept_bytes += if fits { line.len() } else { 0 };
        let line = fits.then(|| line.to_vec());
        self.in_flight.push(Request { id, line, numbered, tries: 0 });
    }

    fn ends(&mut self, id: &Value) {
        let Some(at) = self.in_flight.iter().position(|request| request.id == *id) else { return };
        let ended = self.in_flight.remove(at);
        self.kept_bytes -= ended.line.map_or(0, |line| line.len());
    }

    /// The client need not answer what a backend has asked that is gone.
    fn takes_questions_back(&mut self) -> Vec<String> {
        let cancelled = |id: String| {
            let id: Value = serde_json::from_str(&id).unwrap_or_default();
            json!({
                "jsonrpc": "2.0",
                "method": "notifications/cancelled",
                "params": {"requestId": id, "reason": "claw was restarted"},
            })
            .to_string()
        };
        std::mem::take(&mut self.asked).into_iter().map(cancelled).collect()
    }
}

/// What a client is told whose conversation cannot begin.
fn unreadable(why: &serde_json::Error) -> String {
    format!(
        "`initialize` cannot be read ({why}); send `protocolVersion`, `capabilities` and \
         `clientInfo` with `name` and `version`"
    )
}

/// A line of the client's that is too long to be read: its id is not known.
pub fn too_long(bytes_max: usize) -> String {
    let text = format!(
        "the message is longer than {bytes_max} bytes (serve.body_bytes_max in claw.toml) and was \
         not read; send less at once"
    );
    error(&Value::Null, INVALID_REQUEST, &text)
}

/// What a client is told of a line that is no message. Its number is not known.
fn odd(line: &[u8]) -> String {
    match serde_json::from_slice::<Value>(line) {
        Ok(_) => {
            let text = "this line is JSON and no message of JSON-RPC; send one object a line, \
                        with `jsonrpc` and `method`";
            error(&Value::Null, INVALID_REQUEST, text)
        }
        Err(why) => {
            let text = format!("this line is not JSON ({why}); send one message a line");
            error(&Value::Null, PARSE_ERROR, &text)
        }
    }
}

fn error(id: &Value, code: i32, message: &str) -> String {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}).to_string()
}

#[cfg(test)]
mod tests;
