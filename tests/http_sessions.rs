//! Servers over HTTP with sessions as people run them: without an address for GET, behind a
//! balancer that cuts streams and says 501 or 502, or with one request at a time. A session stays
//! as long as its server knows it, and with it what somebody else's call does in it.

use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use futures::{StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::sync::{Mutex, Semaphore};

use crate::http_rig::{HttpRig, Seen};
use crate::program::{House, SERVER_WAIT, eventually, outcomes};
use crate::serve_rig::{Client, Era, PATIENT, text};
use crate::session_rig::Sessions;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};

const ALLOW: &str =
    "[[rule]]\nserver = \"*\"\ndecision = \"allow\"\nwhy = \"this test runs everything\"\n";
/// A stream that is given up was asked for so often: once, and five tries.
const GETS: usize = 6;

/// A house with the server, and a model that answers so.
fn house(server: &HttpRig, answers: Vec<Answer>) -> (House, Threaded) {
    let model = Threaded::start(Wire::OpenAi, answers);
    let house = House::at("openai-compatible", &model.base_url);
    house.write("claw.toml", SERVER_WAIT);
    house.write("policy.toml", ALLOW);
    house.write("mcp.json", &servers(server));
    (house, model)
}

fn servers(server: &HttpRig) -> String {
    json!({"mcpServers": {"corp": {"url": server.url()}}}).to_string()
}

fn calls(text: &str) -> Turn {
    let arguments = json!({"text": text}).to_string();
    Turn::calls(&[Call::new(text, "corp__echo", &arguments)])
}

fn of(server: &HttpRig, method: &str) -> Vec<Seen> {
    let seen = server.seen().into_iter();
    seen.filter(|seen| seen.message()["method"] == method).collect()
}

fn gets(server: &HttpRig, session: &str) -> usize {
    let is_get =
        |seen: &Seen| seen.verb == Method::GET && seen.header("mcp-session-id") == Some(session);
    server.seen().iter().filter(|seen| is_get(seen)).count()
}

/// Both calls were sent once and answered, in one session.
#[track_caller]
fn one_session_had_both(server: &HttpRig, house: &House) {
    let results = outcomes(&house.events("main"));
    let said: Vec<String> = results.iter().map(Value::to_string).collect();
    assert_eq!(said.len(), 2, "{said:?}");
    for (said, word) in said.iter().zip(["one", "two"]) {
        assert!(said.contains("said") && said.contains(word), "{said}");
    }
    let sent = of(server, "tools/call");
    assert_eq!(sent.len(), 2, "{sent:?}");
    assert_eq!(sent[0].header("mcp-session-id"), sent[1].header("mcp-session-id"));
    house.is_whole();
}

/// A stream that says nothing but how soon to come again, until it is cut.
fn stream_until(cut: Arc<Semaphore>) -> Response {
    let first = "retry: 1\ndata:\n\n".to_owned();
    let end = stream::once(async move {
        let _cut = cut.acquire().await;
    });
    let end = end.filter_map(|()| ready(None));
    let body = stream::once(ready(Ok::<String, Infallible>(first))).chain(end);
    ([("content-type", "text/event-stream")], Body::from_stream(body)).into_response()
}

#[test]
fn a_server_that_has_no_address_for_get_is_used_in_one_session() {
    let sessions = Sessions::default();
    let server = HttpRig::start(move |_| {
        move |seen: &Seen| match seen.verb == Method::GET {
            true => StatusCode::NOT_FOUND.into_response(),
            false => sessions.answer(seen),
        }
    });
    let answers = vec![Answer::Turn(calls("one")), Answer::Turn(calls("two")), Answer::text("ok")];
    let (house, _model) = house(&server, answers);
    let works = house.claw(&["mcp", "test", "corp"]).expect(0);
    assert!(works.out.starts_with("corp works: 1 tool"), "{works:?}");
    assert_eq!(of(&server, "initialize").len(), 1);
    house.claw(&["ask", "call it twice"]).expect(0);
    assert_eq!(of(&server, "initialize").len(), 2, "one for each command");
    one_session_had_both(&server, &house);
}

#[test]
fn a_stream_that_is_cut_and_then_refused_ends_no_session() {
    let (sessions, cut) = (Sessions::default(), Arc::new(Semaphore::new(0)));
    let until = cut.clone();
    let server = HttpRig::start(move |_| {
        move |seen: &Seen| match (seen.verb == Method::GET, until.available_permits()) {
            (true, 0) => stream_until(until.clone()),
            (true, _) => StatusCode::NOT_IMPLEMENTED.into_response(),
            (false, _) => sessions.answer(seen),
        }
    });
    let goes_on = Arc::new(Semaphore::new(0));
    let second = Answer::Gated(calls("two"), goes_on.clone());
    let (house, model) =
        house(&server, vec![Answer::Turn(calls("one")), second, Answer::text("ok")]);
    let asking = house.start(&["ask", "call it twice"]);
    eventually("the first call is over", || model.recorded().len() == 2);
    cut.add_permits(1);
    let session = "session-1";
    eventually("the stream is given up", || gets(&server, session) == GETS);
    goes_on.add_permits(1000);
    let ran = asking.ends().expect(0);
    assert!(!ran.err.contains("has ended"), "{ran:?}");
    one_session_had_both(&server, &house);
    assert_eq!(of(&server, "initialize").len(), 1);
    let ends: Vec<Seen> =
        server.seen().into_iter().filter(|seen| seen.verb == Method::DELETE).collect();
    assert_eq!(ends.len(), 1, "at the end of claw: {ends:?}");
    assert_eq!(gets(&server, session), GETS);
}

/// The balancer in front of it says that it is busy, so that claw asks whether it knows the session
/// before the second call. The question has no answer either until the first call has.
#[test]
fn a_second_call_cuts_no_first_one_of_a_server_that_answers_one_at_a_time() {
    let (sessions, turn) = (Sessions::default(), Arc::new(Mutex::new(())));
    let (cut, done) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let (until_cut, until_done) = (cut.clone(), done.clone());
    let server = HttpRig::that_waits(move |seen| {
        let (sessions, turn) = (sessions.clone(), turn.clone());
        let (cut, done) = (until_cut.clone(), until_done.clone());
        async move {
            if seen.verb == Method::GET {
                return match cut.available_permits() {
                    0 => stream_until(cut),
                    _ => StatusCode::BAD_GATEWAY.into_response(),
                };
            }
            let _turn = turn.lock().await;
            if seen.message()["params"]["arguments"]["text"] == "one" {
                let _done = done.acquire().await;
            }
            sessions.answer(&seen)
        }
    });
    let house = House::new();
    house.write("claw.toml", PATIENT);
    house.write("policy.toml", "[classes]\n\"corp/echo\" = \"safe\"\n");
    house.write("mcp.json", &servers(&server));
    // Makes the home, and knows the server's tools from here on.
    house.claw(&["tools", "corp"]).expect(0);
    let client = Client::start(&house, &["--client", "laptop", "--tools"], Era::Modern);

    let first = client.begin("corp__echo", &json!({"text": "one"}));
    eventually("the first call runs", || of(&server, "tools/call").len() == 1);
    let sent = of(&server, "tools/call");
    let session = sent[0].header("mcp-session-id").unwrap_or_default().to_owned();
    cut.add_permits(1);
    eventually("the stream is given up", || gets(&server, &session) == GETS);
    let second = client.begin("corp__echo", &json!({"text": "two"}));
    eventually("the second call is sent", || of(&server, "tools/call").len() == 2);
    assert!(!first.has_ended(), "nothing has ended the first one");
    done.add_permits(1);
    for (call, word) in [(first, "one"), (second, "two")] {
        let said = text(&call.ends().unwrap_or_else(|error| panic!("{error}")));
        assert!(said.contains("said") && said.contains(word), "{said}");
    }
    let sent = of(&server, "tools/call");
    let sessions: Vec<_> = sent.iter().map(|seen| seen.header("mcp-session-id")).collect();
    assert_eq!(sessions, [Some(session.as_str()); 2]);
}
