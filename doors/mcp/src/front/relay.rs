//! What the front knows of the conversation that it relays: the handshake, the requests that have
//! no answer yet, and what a backend that comes in the place of another one has to be told. Pure.
//! Must not know where a line comes from, or what a request asks for.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Value, json};

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
    tries: u32,
}

/// The conversation so far. It lives as long as the client.
#[derive(Default)]
pub struct Relay {
    /// The client's `initialize`, if it has sent one, and whether it has its answer.
    initialize: Option<(Value, Line)>,
    is_initialized: bool,
    /// The client's `notifications/initialized`.
    initialized: Option<Line>,
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
                    (self.initialize, self.initialized) = (Some((id.clone(), line.to_vec())), None);
                    self.is_initialized = false;
                }
                self.begins(id, line);
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
                if self.initialize.as_ref().is_some_and(|(initialize, _)| *initialize == id) {
                    self.is_initialized = true;
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
                Some(_) => told.push(error(
                    &request.id,
                    INTERNAL_ERROR,
                    &format!(
                        "claw was restarted {TRIES_MAX} times while it worked on this; if it was \
                         not this call that ended it, {MAKE_IT_AGAIN}"
                    ),
                )),
                None => told.push(error(
                    &request.id,
                    INTERNAL_ERROR,
                    &format!("claw was restarted; {MAKE_IT_AGAIN}"),
                )),
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
        told.extend(given_up.iter().map(|request| error(&request.id, INTERNAL_ERROR, &text)));
        self.kept_bytes = 0;
        told
    }

    fn begins(&mut self, id: Value, line: &[u8]) {
        let fits = self.kept_bytes + line.len() <= KEPT_BYTES_MAX;
        self.kept_bytes += if fits { line.len() } else { 0 };
        self.in_flight.push(Request { id, line: fits.then(|| line.to_vec()), tries: 0 });
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
mod tests {
    use super::*;

    fn line(value: &Value) -> Line {
        value.to_string().into_bytes()
    }

    fn request(id: i64, method: &str) -> Line {
        line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {}}))
    }

    fn answer(id: i64) -> Line {
        line(&json!({"jsonrpc": "2.0", "id": id, "result": {}}))
    }

    fn initialized() -> Line {
        line(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    }

    impl Relay {
        fn is_idle(&self) -> bool {
            self.in_flight.is_empty()
        }
    }

    /// A relay with a client that has shaken hands.
    fn shaken() -> Relay {
        let mut relay = Relay::default();
        relay.client_says(&request(0, "initialize"));
        assert_eq!(relay.backend_says(&answer(0)), Way::Pass);
        relay.client_says(&initialized());
        relay
    }

    #[test]
    fn a_line_that_is_no_message_is_answered_with_what_is_wrong_with_it() {
        for (line, code) in [
            (&b"hello"[..], -32700),
            (b"{\"jsonrpc\": \"2.0\",", -32700),
            (b"{\"method\": \"\xff\"}", -32700),
            (b"[]", -32600),
            (b"7", -32600),
            (b"{\"method\": 7}", -32600),
        ] {
            let mut relay = shaken();
            let Way::Answer(text) = relay.client_says(line) else {
                panic!("no answer to {line:?}")
            };
            let answer: Value = serde_json::from_str(&text).unwrap();
            assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &Value::Null));
            assert!(relay.is_idle());
        }
    }

    #[test]
    fn a_new_backend_hears_the_handshake_and_what_has_no_answer_and_the_client_hears_nothing_twice()
    {
        let mut relay = shaken();
        for id in 1..=3 {
            assert_eq!(relay.client_says(&request(id, "tools/call")), Way::Pass);
        }
        relay.backend_says(&answer(2));
        let (sent, told) = relay.begins_anew();
        let all = [request(0, "initialize"), initialized(), request(1, "tools/call")];
        assert_eq!(sent, [&all[..], &[request(3, "tools/call")]].concat());
        assert!(told.is_empty());
        assert_eq!(relay.backend_says(&answer(0)), Way::Drop, "it has shaken hands before");
        assert_eq!(relay.backend_says(&answer(1)), Way::Pass);
        assert_eq!(relay.backend_says(&answer(3)), Way::Pass);
        assert!(relay.is_idle());
    }

    #[test]
    fn a_handshake_without_an_answer_is_sent_again_and_its_answer_passes() {
        let mut relay = Relay::default();
        relay.client_says(&request(7, "initialize"));
        assert_eq!(relay.begins_anew(), (vec![request(7, "initialize")], Vec::new()));
        assert_eq!(relay.backend_says(&answer(7)), Way::Pass);
        assert!(relay.is_idle());
    }

    #[test]
    fn a_client_of_the_new_era_has_no_handshake_to_repeat() {
        let mut relay = Relay::default();
        relay.client_says(&request(1, "server/discover"));
        relay.backend_says(&answer(1));
        assert_eq!(relay.begins_anew(), (Vec::new(), Vec::new()));
    }

    #[test]
    fn what_the_client_has_given_up_is_not_sent_again() {
        let mut relay = shaken();
        relay.client_says(&request(1, "tools/call"));
        let cancelled = json!({"method": "notifications/cancelled", "params": {"requestId": 1}});
        assert_eq!(relay.client_says(&line(&cancelled)), Way::Pass);
        assert_eq!(relay.begins_anew().0.len(), 2);
    }

    #[test]
    fn a_request_that_ends_every_backend_is_given_up_with_words() {
        let mut relay = shaken();
        relay.client_says(&request(1, "tools/call"));
        for _ in 1..TRIES_MAX {
            assert_eq!(relay.begins_anew().0.len(), 3);
        }
        let (sent, told) = relay.begins_anew();
        assert_eq!((sent.len(), told.len()), (2, 1));
        let told: Value = serde_json::from_str(&told[0]).unwrap();
        assert_eq!(told["id"], 1);
        assert!(told["error"]["message"].as_str().unwrap().contains("restarted 3 times"), "{told}");
        assert!(relay.is_idle());
    }

    #[test]
    fn when_nothing_can_be_reached_every_request_gets_an_answer() {
        let mut relay = shaken();
        relay.client_says(&request(1, "tools/call"));
        relay.client_says(&line(&json!({"id": "two", "method": "tools/list"})));
        let told: Vec<Value> = relay
            .gives_up("the home is gone")
            .iter()
            .map(|it| serde_json::from_str(it).unwrap())
            .collect();
        assert_eq!((&told[0]["id"], &told[1]["id"]), (&json!(1), &json!("two")));
        let message = told[0]["error"]["message"].as_str().unwrap();
        assert!(message.contains("the home is gone") && message.contains("not done twice"));
        assert!(relay.is_idle());
    }

    #[test]
    fn questions_of_a_backend_that_is_gone_are_taken_back_and_their_answers_go_nowhere() {
        let mut relay = shaken();
        let question = request(5, "elicitation/create");
        assert_eq!(relay.backend_says(&question), Way::Pass);
        let (_, told) = relay.begins_anew();
        assert!(told[0].contains("notifications/cancelled") && told[0].contains("\"requestId\":5"));
        assert_eq!(relay.client_says(&answer(5)), Way::Drop);
        relay.backend_says(&question);
        assert_eq!(relay.client_says(&answer(5)), Way::Pass);
    }

    #[test]
    fn a_flood_is_refused_and_what_is_kept_of_it_is_bounded() {
        let mut relay = shaken();
        let big = |id: i64| {
            line(&json!({"id": id, "method": "tools/call", "params": "x".repeat(1 << 20)}))
        };
        for id in 1..=64 {
            assert_eq!(relay.client_says(&big(id)), Way::Pass);
        }
        let Way::Answer(refused) = relay.client_says(&big(65)) else { panic!() };
        assert!(refused.contains("\"id\":65") && refused.contains("64 requests wait"));
        assert!(relay.kept_bytes <= KEPT_BYTES_MAX);
        let (sent, told) = relay.begins_anew();
        assert_eq!(sent.len() - 2 + told.len(), 64, "each is sent again or told");
        assert!(told.iter().all(|it| it.contains("claw was restarted; make the same call again")));
        (1..=64).for_each(|id| relay.ends(&json!(id)));
        assert_eq!(relay.kept_bytes, 0);
    }
}
