//! The relay between a client and its backends, line by line.

use super::*;

fn line(value: &Value) -> Line {
    value.to_string().into_bytes()
}

fn request(id: i64, method: &str) -> Line {
    line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {}}))
}

/// The same as the front passes it on.
fn numbered(id: i64, number: u64) -> Line {
    let params = json!({"_meta": {(NUMBER): number}});
    line(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
}

fn initialize(id: i64) -> Line {
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"}});
    line(&json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": params}))
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
    relay.client_says(&initialize(0));
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
        let Way::Answer(text) = relay.client_says(line) else { panic!("no answer to {line:?}") };
        let answer: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &Value::Null));
        assert!(relay.is_idle());
    }
}

#[test]
fn a_new_backend_hears_the_handshake_and_what_has_no_answer_and_the_client_hears_nothing_twice() {
    let mut relay = shaken();
    for id in 1..=3 {
        let passed = Way::PassAs(numbered(id, id.unsigned_abs()));
        assert_eq!(relay.client_says(&request(id, "tools/call")), passed);
    }
    relay.backend_says(&answer(2));
    let (sent, told) = relay.begins_anew();
    assert_eq!(sent, [initialize(0), initialized(), numbered(1, 1), numbered(3, 3)]);
    assert!(told.is_empty());
    assert_eq!(relay.backend_says(&answer(0)), Way::Drop, "it has shaken hands before");
    assert_eq!(relay.backend_says(&answer(1)), Way::Pass);
    assert_eq!(relay.backend_says(&answer(3)), Way::Pass);
    assert!(relay.is_idle());
}

#[test]
fn a_handshake_without_an_answer_is_sent_again_and_its_answer_passes() {
    let mut relay = Relay::default();
    relay.client_says(&initialize(7));
    assert_eq!(relay.begins_anew(), (vec![initialize(7)], Vec::new()));
    assert_eq!(relay.backend_says(&answer(7)), Way::Pass);
    assert!(relay.is_idle());
}

/// Some clients give one id to all of their requests, and write what the front writes.
#[test]
fn each_request_has_a_number_of_its_own_whatever_its_id_and_one_without_a_place_for_it_passes() {
    let mut relay = shaken();
    for number in 1..=2 {
        let forged = line(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"_meta": {(NUMBER): 7}}}));
        assert_eq!(relay.client_says(&forged), Way::PassAs(numbered(1, number)));
        relay.backend_says(&answer(1));
    }
    let without = line(&json!({"id": 1, "method": "tools/call", "params": {"_meta": null}}));
    let Way::PassAs(passed) = relay.client_says(&without) else { panic!("it has no number") };
    assert_eq!(serde_json::from_slice::<Value>(&passed).unwrap()["params"]["_meta"][NUMBER], 3);
    relay.backend_says(&answer(1));
    for params in [json!(null), json!([1]), json!({"_meta": 1})] {
        let odd = line(&json!({"id": 1, "method": "tools/call", "params": params}));
        assert_eq!(relay.client_says(&odd), Way::Pass, "{params}");
        assert_eq!(relay.begins_anew().0[2], odd);
        relay.backend_says(&answer(1));
    }
    let long = format!(
        r#"{{"id": 1, "method": "m", "params": {{"a": [{}]}}}}"#,
        vec!["1e2"; 60].join(",")
    );
    assert_eq!(relay.client_says(long.as_bytes()), Way::Pass, "it is longer in another spelling");
}

#[test]
fn a_handshake_that_cannot_be_read_or_has_failed_is_told_to_nobody() {
    let mut relay = Relay::default();
    let nameless = json!({"id": 0, "method": "initialize", "params": {"protocolVersion":
        "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c"}}});
    let Way::Answer(told) = relay.client_says(&line(&nameless)) else { panic!() };
    assert!(told.contains("-32602") && told.contains("`version`"), "{told}");
    assert_eq!(relay.client_says(&initialized()), Way::Drop);
    relay.client_says(&initialize(0));
    relay.client_says(&initialized());
    let failed = json!({"id": 0, "error": {"code": -32602, "message": "no"}});
    assert_eq!(relay.backend_says(&line(&failed)), Way::Pass);
    assert_eq!(relay.begins_anew(), (Vec::new(), Vec::new()));
    assert_eq!(relay.client_says(&initialized()), Way::Drop);
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
fn what_the_client_was_told_to_make_again_keeps_its_number_once() {
    let called = |id: i64, text: &str, token: i64| {
        let params = json!({"name": "ask", "text": text, "_meta": {"progressToken": token}});
        line(&json!({"id": id, "method": "tools/call", "params": params}))
    };
    let number_of = |way: Way| {
        let Way::PassAs(line) = way else { panic!("{way:?}") };
        let passed: Value = serde_json::from_slice(&line).unwrap();
        passed["params"]["_meta"][NUMBER].as_u64().unwrap()
    };
    let mut relay = shaken();
    assert_eq!(number_of(relay.client_says(&called(1, "a", 1))), 1);
    assert_eq!(relay.gives_up("the home is gone").len(), 1);
    assert_eq!(number_of(relay.client_says(&called(2, "b", 2))), 2, "another call");
    assert_eq!(number_of(relay.client_says(&called(3, "a", 3))), 1, "it is made again");
    assert_eq!(number_of(relay.client_says(&called(4, "a", 4))), 3, "once");
    // The same where each backend has ended by it.
    for _ in 0..TRIES_MAX {
        relay.begins_anew();
    }
    assert!(relay.is_idle());
    let again = ["b", "a", "a", "a"].map(|text| number_of(relay.client_says(&called(5, text, 5))));
    assert_eq!(again, [2, 1, 3, 4]);
    for number in 0..2 * IN_FLIGHT_MAX {
        relay.client_says(&called(6, &number.to_string(), 6));
        relay.gives_up("the home is gone");
    }
    assert_eq!(relay.given_up.len(), IN_FLIGHT_MAX);
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
    let big =
        |id: i64| line(&json!({"id": id, "method": "tools/call", "params": "x".repeat(1 << 20)}));
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
