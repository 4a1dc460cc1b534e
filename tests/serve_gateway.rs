//! `claw serve` beside a gateway: the gateway answers over its socket, and its end and its return
//! are nothing that a client has to know of.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::process::Command;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::botapi::Message;
use crate::program::{House, Running, alive, eventually, example, said};
use crate::serve_rig::{Client, ERAS, Era, PATIENT, revoke, state, text};
use crate::telegram_rig::Rig;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Turn, Wire};

const TOOLS: &[&str] = &["--client", "laptop", "--tools"];

fn rig(toml: &str) -> Rig {
    let rig = Rig::configured(toml);
    let record = rig.house.user_home().join("effects");
    let legacy = json!({"command": example("hub-stranger"), "args": ["legacy", record]});
    let fs = json!({"command": "claw", "args": ["server", "filesystem"]});
    let servers = json!({"mcpServers": {"legacy": legacy, "filesystem": fs}});
    rig.house.write("mcp.json", &servers.to_string());
    rig.house.claw(&["tools"]).expect(0);
    rig
}

fn effects(rig: &Rig) -> usize {
    let record = std::fs::read_to_string(rig.house.user_home().join("effects")).unwrap_or_default();
    record.lines().filter(|line| line.contains("tools/call")).count()
}

/// The newest message with a button, behind the one that is known.
fn question(rig: &Rig, behind: i32) -> Message {
    rig.telegram.wait_for("a question on the phone", |world| {
        let asked = world.messages(rig.anna.private());
        let mut asked = asked.filter(|message| message.button("Allow once").is_some());
        asked.find(|message| message.id > behind).cloned()
    })
}

/// A gateway in the place of one that was killed.
fn again(rig: &Rig) -> Running {
    serving(rig, rig.house.command(&["gateway"]))
}

fn serving(rig: &Rig, command: Command) -> Running {
    let gateway = rig.house.begin(command);
    eventually("the gateway serves clients", || {
        std::os::unix::net::UnixStream::connect(rig.house.home().join("serve.sock")).is_ok()
    });
    gateway
}

fn is_served_by(rig: &Rig, client: &Client) -> bool {
    // A front has no home open.
    let open = std::fs::read_dir(format!("/proc/{}/fd", client.pid())).unwrap().flatten();
    let mut open = open.filter_map(|fd| std::fs::read_link(fd.path()).ok());
    let db = rig.house.home().join("claw.db");
    !open.any(|path| path == db)
}

#[test]
fn a_gateway_answers_and_the_front_opens_no_home_of_its_own() {
    let rig = rig("");
    let gateway = rig.start();
    let socket = std::fs::metadata(rig.house.home().join("serve.sock")).unwrap();
    assert!(socket.file_type().is_socket());
    assert_eq!(socket.permissions().mode() & 0o777, 0o600);
    for era in ERAS {
        let client = Client::start(&rig.house, TOOLS, era);
        let answer = client.done("ask", &json!({"text": "list"}));
        assert_eq!(answer["status"], "done", "{answer}");
        if cfg!(target_os = "linux") {
            assert!(is_served_by(&rig, &client), "{era:?}: the front has opened the home");
        }
    }
    rig.stop(gateway);
    assert!(!rig.house.home().join("serve.sock").exists());
}

#[test]
fn a_gateway_that_is_killed_and_comes_back_is_not_noticed_by_a_client_that_waits() {
    for era in ERAS {
        let rig = rig(PATIENT);
        let gateway = rig.start();
        let client = Client::start(&rig.house, TOOLS, era);
        let call = client.begin("legacy__echo", &json!({"text": "through."}));
        let first = question(&rig, 0);
        rig.kill(gateway);
        let gateway = again(&rig);
        let second = question(&rig, first.id);
        rig.anna.taps_on(rig.anna.private(), second.id, "Allow once");
        assert_eq!(text(&call.ends().unwrap()), "through.", "{era:?}");
        assert_eq!(effects(&rig), 1);
        let names = client.tool_names();
        assert!(names.contains(&"legacy__echo".to_owned()), "{names:?}");
        assert!(client.closes().success());
        rig.stop(gateway);
    }
}

#[test]
fn an_ask_that_is_under_way_when_the_gateway_is_killed_is_said_once_and_answered() {
    for era in ERAS {
        let never = Answer::Gated(Turn::text("Never."), Arc::new(Semaphore::new(0)));
        let model = Threaded::start(Wire::OpenAi, [never, Answer::text("Through.")]);
        let rig = Rig::with(House::at("openai-compatible", &model.base_url));
        let gateway = rig.start();
        let client = Client::start(&rig.house, &["--client", "laptop"], era);
        let asked = client.begin("ask", &json!({"text": "think"}));
        eventually("the model is asked", || model.recorded().len() == 1);
        let told = || client.progress().iter().any(|line| line.contains("the model is asked"));
        eventually("the client is told through its front", told);
        rig.kill(gateway);
        let gateway = again(&rig);
        let answer = asked.ends().unwrap();
        assert_eq!(text(&answer), "Through.", "{era:?}");
        assert_eq!(said(&rig.house.events("mcp.laptop")).len(), 1, "it was said again");
        drop(client);
        rig.stop(gateway);
    }
}

/// What the front sends again was counted when it was said first.
#[test]
fn what_is_sent_again_is_not_refused_by_the_budget_that_it_has_used_up() {
    let never = || Answer::Gated(Turn::text("Never."), Arc::new(Semaphore::new(0)));
    let model = Threaded::start(Wire::OpenAi, [never(), never(), Answer::text("Through.")]);
    let rig = Rig::with(House::at("openai-compatible", &model.base_url));
    rig.house.write("claw.toml", "[serve]\ncalls_day_max = 1\n");
    let gateway = rig.start();
    let client = Client::start(&rig.house, &["--client", "laptop"], Era::Modern);
    let asked = client.begin("ask", &json!({"text": "think"}));
    eventually("the model is asked", || model.recorded().len() == 1);
    rig.kill(gateway);
    rig.house.write("claw.toml", "[serve]\ncalls_day_max = 2\n");
    // It ends when it has the second message, and has not told so.
    let mut command = rig.house.command(&["gateway"]);
    command.env("CLAW_KILL_AT", "router.submit.after:1");
    let gateway = serving(&rig, command);
    eventually("the model is asked again", || model.recorded().len() == 2);
    let steered = client.begin("steer", &json!({"text": "and at two"}));
    eventually("the gateway is killed", || !alive(gateway.id()));
    drop(gateway);
    let gateway = again(&rig);
    let said = steered.ends().unwrap();
    assert!(text(&said).starts_with("Said."), "{}", text(&said));
    assert_eq!(text(&asked.ends().unwrap()), "Through.");
    let refused = client.fails("ask", &json!({"text": "more"}));
    assert!(refused.contains("2 calls (serve.calls_day_max)"), "{refused}");
    drop(client);
    rig.stop(gateway);
}

/// Some clients give one id to all of their requests. What is said again in the same words is
/// another message, also when the gateway is killed while it is under way.
#[test]
fn an_id_that_a_client_uses_again_is_another_request() {
    let never = Answer::Gated(Turn::text("Never."), Arc::new(Semaphore::new(0)));
    let answers = [Answer::text("Red."), never, Answer::text("Green.")];
    let model = Threaded::start(Wire::OpenAi, answers);
    let rig = Rig::with(House::at("openai-compatible", &model.base_url));
    let gateway = rig.start();
    let mut client = rig.house.start(&["serve", "--client", "laptop"]);
    let sends = |client: &mut Running, method: &str, params: Value| {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        client.types(format!("{request}\n").as_bytes());
    };
    let hears = |client: &Running, what: &str| {
        eventually(&format!("it hears `{what}`"), || client.out().contains(what));
    };
    let ask = json!({"name": "ask", "arguments": {"text": "is the build red?"}});
    let this = json!({"protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"}});
    sends(&mut client, "initialize", this);
    hears(&client, "serverInfo");
    client.types(b"{\"jsonrpc\": \"2.0\", \"method\": \"notifications/initialized\"}\n");
    sends(&mut client, "tools/call", ask.clone());
    hears(&client, "Red.");
    sends(&mut client, "tools/call", ask);
    eventually("the model is asked again", || model.recorded().len() == 2);
    rig.kill(gateway);
    let gateway = again(&rig);
    hears(&client, "Green.");
    assert_eq!(model.recorded().len(), 3);
    assert_eq!(said(&rig.house.events("mcp.laptop")).len(), 2, "each is said once");
    client.ends().expect(0);
    rig.stop(gateway);
}

#[test]
fn what_was_said_before_a_kill_is_not_said_again() {
    for era in ERAS {
        let rig = rig("");
        let gateway = rig.start();
        let client = Client::start(&rig.house, TOOLS, era);
        let write = json!({"text": "write notes/a.txt: 1"});
        // It is told that it waits. The same words again are another message, because the client
        // says them again.
        let handle = client.done("ask", &write)["handle"].clone();
        rig.kill(gateway);
        let gateway = again(&rig);
        let waits = client.done("ask_result", &json!({"handle": handle}));
        assert_eq!(waits["status"], "waiting", "{waits}");
        rig.house.claw(&["approve", &rig.house.waiting()]).expect(0);
        eventually("the answer is there", || {
            client.done("ask_result", &json!({"handle": handle}))["status"] == "done"
        });
        assert_eq!(said(&rig.house.events("mcp.laptop")).len(), 1);
        drop(client);
        rig.stop(gateway);
    }
}

#[test]
fn without_a_gateway_to_come_back_the_front_answers_itself() {
    let rig = rig("[serve]\nanswer_wait_s = 20\n");
    let gateway = rig.start();
    let client = Client::start(&rig.house, TOOLS, Era::Legacy);
    let call = client.begin("legacy__echo", &json!({"text": "alone."}));
    question(&rig, 0);
    rig.kill(gateway);
    rig.house.claw(&["approve", &rig.house.waiting()]).expect(0);
    let result = call.ends().unwrap();
    let said = match state(&result)["state"].as_str() {
        // Its patience was over before.
        Some("waiting" | "running") => {
            text(&client.call("legacy__echo", &json!({"text": "alone."})))
        }
        _ => text(&result),
    };
    assert_eq!(said, "alone.");
    assert_eq!(effects(&rig), 1);
}

#[test]
fn one_client_too_many_and_a_revoked_one_are_refused_at_the_door_with_a_sentence() {
    let rig = rig("[serve]\nclients_max = 1\n");
    let gateway = rig.start();
    let one = Client::start(&rig.house, TOOLS, Era::Modern);
    let many = rig.house.claw(&["serve", "--client", "other"]);
    many.expect_mistake(&["serve.clients_max"]);
    one.done("ask", &json!({"text": "list"}));
    drop(one);
    revoke(&rig.house, "laptop");
    eventually("the place is free", || {
        let refused = rig.house.claw(&["serve", "--client", "laptop"]);
        refused.err.contains("was revoked") && refused.code == Some(2)
    });
    rig.stop(gateway);
}

#[test]
fn whoever_is_no_front_gets_nothing_at_the_socket() {
    use std::io::{Read as _, Write as _};
    let rig = rig("");
    let gateway = rig.start();
    let socket = rig.house.home().join("serve.sock");
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    for first in [
        format!("{initialize}\n"),
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(),
        format!("{}\n", json!({"claw/serve": 1, "client": "../x", "tools": true, "front": "f"})),
        format!("{}\n", "x".repeat(10_000)),
    ] {
        let mut stream = std::os::unix::net::UnixStream::connect(&socket).unwrap();
        let _closed = stream.write_all(first.as_bytes());
        let mut answer = Vec::new();
        let _reset = stream.read_to_end(&mut answer);
        assert_eq!(answer, b"", "{first:.60}");
    }
    let told: Value = Client::start(&rig.house, &[], Era::Modern).done("sessions", &json!({}));
    assert_eq!(told["sessions"], json!([]));
    rig.stop(gateway);
}

/// Nobody looks by the clock here: an answer and a stop that another process writes are heard of.
#[test]
fn a_gateway_that_waits_hears_what_another_process_writes_without_looking() {
    let rig = rig(&format!("[limits]\nstore_look_s = 3600\n{PATIENT}"));
    let gateway = rig.start();
    let client = Client::start(&rig.house, TOOLS, Era::Legacy);
    let call = client.begin("legacy__echo", &json!({"text": "heard."}));
    question(&rig, 0);
    rig.house.claw(&["approve", &rig.house.waiting()]).expect(0);
    assert_eq!(text(&call.ends().unwrap()), "heard.");
    assert_eq!(effects(&rig), 1);
    drop(client);
    rig.stop(gateway);
}
