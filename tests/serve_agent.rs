//! `claw serve` over standard streams, in both eras: the agent behind the tools of a client, its
//! questions, its sessions, and what a client of another name gets of it.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::program::{House, Running, eventually};
use crate::serve_rig::{Client, ERAS, Era, text};
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};

const AGENT_TOOLS: [&str; 7] =
    ["ask", "ask_result", "steer", "interrupt", "sessions", "session_read", "events_wait"];

/// With a file to read, and as many requests as a test makes.
fn house() -> House {
    let house = House::new();
    house.write("claw.toml", MANY);
    house.write("workspace/hello.txt", "hello of the workspace");
    house
}

const MANY: &str = "[serve]\nrequests_minute_max = 100000\n";

fn speaking(answers: impl IntoIterator<Item = Answer>) -> (House, Threaded) {
    let model = Threaded::start(Wire::OpenAi, answers);
    let house = House::at("openai-compatible", &model.base_url);
    house.write("claw.toml", MANY);
    (house, model)
}

#[test]
fn a_client_of_either_era_asks_the_agent_and_has_a_structured_answer() {
    for era in ERAS {
        let house = house();
        let client = Client::start(&house, &["--client", "laptop"], era);
        assert_eq!(client.tool_names(), AGENT_TOOLS, "{era:?}");
        let answer = client.done("ask", &json!({"text": "show hello.txt"}));
        assert_eq!(answer["status"], "done", "{answer}");
        assert!(answer["text"].as_str().unwrap().contains("hello"), "{answer}");
        assert_eq!(answer["calls"][0]["tool"], "filesystem__read_file");
        assert_eq!(answer["calls"][0]["state"], "ended");
        assert_eq!(answer["refused"], json!([]));
        assert!(answer["usage"]["output_tokens"].is_number(), "{answer}");
        let started = &house.events("mcp.laptop")[0];
        assert_eq!(started["origin"], "mcp_client", "{started}");
        assert_eq!(started["principal"], "mcp:laptop", "{started}");
        assert!(client.closes().success());
        house.is_whole();
    }
}

/// The words of its first answer say what is wrong, and what comes behind it ends nothing.
#[test]
fn a_client_that_cannot_begin_reads_why_and_may_begin_again() {
    let house = house();
    let mut client = house.start(&["serve"]);
    let says = |client: &mut Running, id: Option<u8>, method: &str, params: Value| {
        let mut message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        if let Some(id) = id {
            message["id"] = json!(id);
        }
        client.types(format!("{message}\n").as_bytes());
    };
    let this = |info: Value| json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info});
    says(&mut client, Some(1), "initialize", this(json!({"name": "c"})));
    says(&mut client, None, "notifications/initialized", json!({}));
    says(&mut client, Some(2), "initialize", this(json!({"name": "c", "version": "1"})));
    says(&mut client, None, "notifications/initialized", json!({}));
    says(&mut client, Some(3), "tools/list", json!({}));
    eventually("the tools are listed", || client.out().contains("ask_result"));
    let ran = client.ends().expect(0);
    let why = ran.rows()[0]["error"]["message"].as_str().unwrap().to_owned();
    assert!(why.contains("`initialize` cannot be read (missing field `version`"), "{why}");
    assert_eq!(ran.rows().len(), 3, "each request has one answer: {ran:?}");
    assert!(!ran.err.contains("has ended"), "{}", ran.err);
}

#[test]
fn the_tools_of_the_agent_say_honestly_what_they_do_and_come_in_one_order() {
    let house = house();
    let client = Client::start(&house, &[], Era::Modern);
    for tool in client.tools() {
        let hints = tool.annotations.as_ref().unwrap();
        let looks = ["ask_result", "sessions", "session_read", "events_wait"];
        let only_looks = looks.contains(&&*tool.name);
        assert_eq!(hints.read_only_hint, Some(only_looks), "{}", tool.name);
        assert!(tool.output_schema.is_some() && tool.title.is_some(), "{}", tool.name);
        let schema = serde_json::to_string(&tool.input_schema).unwrap();
        assert!(schema.contains("\"type\":\"object\""), "{schema}");
    }
    let server = client.server();
    let said = server.to_string();
    assert!(said.contains("\"claw\"") && said.contains("asks its owner"), "{said}");
}

#[test]
fn a_long_ask_gives_a_handle_and_the_answer_is_fetched_by_it_also_twice() {
    for era in ERAS {
        let gate = Arc::new(Semaphore::new(0));
        let answer = Answer::Gated(Turn::text("Much later."), gate.clone());
        let (house, model) = speaking([answer]);
        let client = Client::start(&house, &[], era);
        let first = client.done("ask", &json!({"text": "think", "wait_s": 0}));
        assert_eq!(first["status"], "working", "{first}");
        let handle = first["handle"].as_str().unwrap().to_owned();
        assert!(first["next"].as_str().unwrap().contains(&handle), "{first}");
        eventually("the model is asked", || model.recorded().len() == 1);
        let still = client.done("ask_result", &json!({"handle": handle, "wait_s": 0}));
        assert_eq!(still["status"], "working", "{still}");
        let fetched = client.begin("ask_result", &json!({"handle": handle}));
        gate.add_permits(100);
        let fetched = fetched.ends().unwrap();
        assert_eq!(text(&fetched), "Much later.");
        let again = client.done("ask_result", &json!({"handle": handle}));
        assert_eq!(again["text"], "Much later.", "{again}");
        assert_eq!(model.recorded().len(), 1, "it was asked again");
    }
}

#[test]
fn a_question_is_told_and_answered_elsewhere_and_the_ask_goes_on() {
    for era in ERAS {
        let house = house();
        let client = Client::start(&house, &["--client", "laptop"], era);
        let asked = client.done("ask", &json!({"text": "write notes/a.txt: 1"}));
        assert_eq!(asked["status"], "waiting", "{asked}");
        let question = house.waiting();
        assert_eq!(asked["questions"][0]["id"], question.as_str());
        assert!(asked["next"].as_str().unwrap().contains(&question), "{asked}");
        let shown = house.claw(&["approvals", &question]).expect(0);
        assert!(shown.out.contains("laptop"), "whoever asks is not named: {shown:?}");
        let handle = asked["handle"].clone();
        let waits = client.begin("ask_result", &json!({"handle": handle}));
        // It gives the same at once while the question is open; the answer comes when it is not.
        assert_eq!(waits.ends().unwrap().structured_content.unwrap()["status"], "waiting");
        house.claw(&["approve", &question]).expect(0);
        eventually("the answer is there", || {
            client.done("ask_result", &json!({"handle": handle}))["status"] == "done"
        });
        assert_eq!(house.in_workspace("notes/a.txt"), "1");
        house.is_whole();
    }
}

#[test]
fn a_denial_is_named_in_the_answer_with_its_reason() {
    let house = house();
    let client = Client::start(&house, &[], Era::Legacy);
    let asked = client.done("ask", &json!({"text": "write notes/a.txt: 1"}));
    house.claw(&["deny", &house.waiting(), "not", "there"]).expect(0);
    let mut answer = json!(null);
    eventually("the answer is there", || {
        answer = client.done("ask_result", &json!({"handle": asked["handle"]}));
        answer["status"] == "done"
    });
    assert_eq!(answer["refused"][0]["tool"], "filesystem__write_file", "{answer}");
    assert!(answer["refused"][0]["why"].as_str().unwrap().contains("not there"), "{answer}");
    assert!(!house.workspace().join("notes/a.txt").exists());
}

#[test]
fn sessions_are_the_clients_own_and_another_name_sees_nothing_of_them() {
    let house = house();
    let one = Client::start(&house, &["--client", "one"], Era::Modern);
    let asked = one.done("ask", &json!({"text": "show secret-of-one.txt", "session": "work"}));
    let handle = asked["handle"].clone();
    assert_eq!(asked["session"], "work");
    let sessions = one.done("sessions", &json!({}));
    assert_eq!(sessions["sessions"][0]["session"], "work", "{sessions}");
    let read = one.done("session_read", &json!({"session": "work"}));
    assert!(read.to_string().contains("secret-of-one"), "{read}");
    // Its `clientInfo` says the same as that of the other one, which proves nothing.
    let other = Client::start(&house, &["--client", "other"], Era::Legacy);
    assert_eq!(other.done("sessions", &json!({}))["sessions"], json!([]));
    let never = other.fails("ask_result", &json!({"handle": "ask-4711"}));
    for (tool, arguments) in [
        ("ask_result", json!({"handle": handle})),
        ("steer", json!({"handle": handle, "text": "stop that"})),
        ("interrupt", json!({"handle": handle})),
    ] {
        assert_eq!(other.fails(tool, &arguments), never, "a handle of another client is known");
    }
    for own in ["../mcp.one", "one.work", "ONE", "_calls", ""] {
        let said = other.fails("session_read", &json!({"session": own}));
        assert!(said.contains("not a name of a session"), "{own}: {said}");
    }
    let said = other.fails("session_read", &json!({"session": "work"}));
    assert!(said.contains("no such session"), "{said}");
    let events = other.done("events_wait", &json!({}));
    assert_eq!(events["events"], json!([]));
    assert!(!events["cursor"].as_str().unwrap().is_empty());
    // What a client is called is nothing of its choice.
    house.claw(&["serve", "--client", "Telegram:7"]).expect_mistake(&["not a name of a client"]);
}

#[test]
fn events_come_from_a_cursor_on_and_are_waited_for() {
    let house = house();
    let client = Client::start(&house, &[], Era::Modern);
    let cursor = client.done("events_wait", &json!({}))["cursor"].clone();
    let waits = client.begin("events_wait", &json!({"cursor": cursor}));
    client.done("ask", &json!({"text": "show hello.txt"}));
    let happened = waits.ends().unwrap().structured_content.unwrap();
    assert!(!happened["events"].as_array().unwrap().is_empty(), "{happened}");
    let mut cursor = happened["cursor"].clone();
    let mut all = happened["events"].as_array().unwrap().clone();
    eventually("the end of the turn is told", || {
        let part = client.done("events_wait", &json!({"cursor": cursor, "wait_s": 0}));
        cursor = part["cursor"].clone();
        all.extend(part["events"].as_array().unwrap().iter().cloned());
        all.iter().any(|event| event["type"] == "turn_ended")
    });
    let numbers: Vec<u64> = all.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert!(numbers.is_sorted_by(|one, next| one < next), "one came twice: {numbers:?}");
    let said = client.fails("events_wait", &json!({"cursor": "no-cursor!"}));
    assert!(said.contains("leave it out"), "{said}");
}

#[test]
fn steer_reaches_the_running_turn_and_interrupt_ends_it() {
    let gate = Arc::new(Semaphore::new(0));
    let run = Turn::calls(&[Call::new("c1", "filesystem__list_dir", r#"{"path": "."}"#)]);
    let answers = [
        Answer::Gated(run, gate.clone()),
        Answer::text("Both are seen."),
        Answer::Gated(Turn::text("Never said."), Arc::new(Semaphore::new(0))),
    ];
    let (house, model) = speaking(answers);
    let client = Client::start(&house, &[], Era::Legacy);
    let nothing = client.fails("steer", &json!({"text": "faster"}));
    assert!(nothing.contains("use `ask`"), "{nothing}");
    let asked = client.done("ask", &json!({"text": "look", "wait_s": 0}));
    eventually("the model is asked", || model.recorded().len() == 1);
    let steered = client.done("steer", &json!({"handle": asked["handle"], "text": "and at two"}));
    gate.add_permits(100);
    let answer = client.done("ask_result", &json!({"handle": steered["handle"]}));
    assert_eq!((&answer["text"], &answer["joined"]), (&json!("Both are seen."), &json!(true)));
    // Behind the result of the call.
    let messages = model.recorded()[1].body["messages"].as_array().unwrap().clone();
    let [.., result, steering] = &messages[..] else { panic!("{messages:?}") };
    assert_eq!((&result["role"], &steering["role"]), (&json!("tool"), &json!("user")));
    assert!(steering["content"].to_string().contains("and at two"), "{steering}");
    let asked = client.done("ask", &json!({"text": "again", "wait_s": 0}));
    eventually("the model is asked again", || model.recorded().len() == 3);
    assert_eq!(client.done("interrupt", &json!({}))["stopped"], true);
    let stopped = client.done("ask_result", &json!({"handle": asked["handle"]}));
    assert_eq!(stopped["status"], "stopped", "{stopped}");
    house.is_whole();
}

#[test]
fn progress_is_told_while_a_client_waits() {
    let gate = Arc::new(Semaphore::new(0));
    let (house, _model) = speaking([Answer::Gated(Turn::text("Much later."), gate.clone())]);
    let client = Client::start(&house, &[], Era::Modern);
    let asked = client.begin("ask", &json!({"text": "think"}));
    // The model answers when the client has been told.
    let told = || client.progress().iter().any(|line| line.contains("the model is asked"));
    eventually("the client is told that the model is asked", told);
    gate.add_permits(100);
    assert_eq!(text(&asked.ends().unwrap()), "Much later.");
}

#[test]
fn files_go_into_the_workspace_and_bad_ones_are_refused_with_a_sentence() {
    let house = house();
    let client = Client::start(&house, &[], Era::Modern);
    let file = json!([{"name": "../../a b.txt", "mime_type": "text/plain", "data": "aGVsbG8="}]);
    client.done("ask", &json!({"text": "help", "attachments": file}));
    let read = client.done("session_read", &json!({})).to_string();
    let path = read.split("file saved as ").nth(1).unwrap().split(',').next().unwrap();
    assert!(path.starts_with("inbox/"), "{read}");
    assert_eq!(house.in_workspace(path), "hello");
    let bad = json!([{"name": "x", "data": "not base64!"}]);
    let said = client.fails("ask", &json!({"text": "x", "attachments": bad}));
    assert!(said.contains("not base64"), "{said}");
    let said = client.fails("ask", &json!({"text": " "}));
    assert!(said.contains("`text` is empty"), "{said}");
    let said = client.fails("ask", &json!({"words": "x"}));
    assert!(said.contains("text, session") || said.contains("The arguments are"), "{said}");
}

#[test]
fn a_client_that_goes_away_leaves_a_turn_that_the_next_one_finishes() {
    let house = house();
    let client = Client::start(&house, &["--client", "laptop"], Era::Legacy);
    let asked = client.done("ask", &json!({"text": "write notes/a.txt: 1"}));
    assert!(client.closes().success());
    house.claw(&["approve", &house.waiting()]).expect(0);
    let client = Client::start(&house, &["--client", "laptop"], Era::Modern);
    eventually("the answer is there", || {
        client.done("ask_result", &json!({"handle": asked["handle"]}))["status"] == "done"
    });
    assert_eq!(house.in_workspace("notes/a.txt"), "1");
}
