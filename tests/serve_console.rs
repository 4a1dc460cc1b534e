//! A question of an MCP client in `claw chat`: asked of whoever sits there, never of a pipe.

use serde_json::{Value, json};

use crate::program::{House, eventually, example};
use crate::pty::Pty;
use crate::serve_rig::{Client, Era, PATIENT, text};

const TOOLS: &[&str] = &["--client", "laptop", "--tools"];

fn house() -> House {
    let house = House::new();
    house.write("claw.toml", PATIENT);
    let record = house.user_home().join("effects");
    let legacy = json!({"command": example("hub-stranger"), "args": ["legacy", record]});
    house.write("mcp.json", &json!({"mcpServers": {"legacy": legacy}}).to_string());
    // Makes the home, and knows the server's tools from here on.
    house.claw(&["tools"]).expect(0);
    house
}

fn echo(words: &str) -> Value {
    json!({"text": words})
}

#[test]
fn who_sits_at_a_console_is_asked_what_a_client_wants_and_answers_there() {
    let house = house();
    let mut terminal = Pty::start(&house, &["chat"]);
    terminal.shows("lists the commands").shows("> ");
    let client = Client::start(&house, TOOLS, Era::Modern);
    let call = client.begin("legacy__echo", &echo("one."));
    terminal.shows("MCP client “laptop” asks").shows(" yes");
    // What comes faster than anybody reads is no answer.
    eventually("it is answered", || {
        terminal.types("y");
        house.claw(&["approvals", "--json"]).expect(0).rows().is_empty()
    });
    assert_eq!(text(&call.ends().unwrap()), "one.");
    house.is_whole();
}

#[test]
fn what_is_answered_elsewhere_is_closed_at_the_console() {
    let house = house();
    let client = Client::start(&house, TOOLS, Era::Modern);
    let call = client.begin("legacy__echo", &echo("two."));
    eventually("the owner is asked", || {
        !house.claw(&["approvals", "--json"]).expect(0).rows().is_empty()
    });
    // Also one that was open before this console came.
    let mut terminal = Pty::start(&house, &["chat"]);
    terminal.shows("MCP client “laptop” asks").shows(" yes");
    house.claw(&["approve", &house.waiting()]).expect(0);
    terminal.shows("was allowed");
    assert_eq!(text(&call.ends().unwrap()), "two.");
}

#[test]
fn what_a_client_proposes_to_remember_is_asked_at_the_console_and_remembered_by_a_yes() {
    let house = House::new();
    house.claw(&["tools"]).expect(0);
    let mut terminal = Pty::start(&house, &["chat"]);
    terminal.shows("lists the commands").shows("> ");
    let client = Client::start(&house, TOOLS, Era::Modern);
    client.call("memory__propose", &json!({"subject": "Door", "text": "The code is 4711."}));
    terminal.shows("MCP client “laptop”").shows("The code is 4711.").shows("Remember");
    eventually("it is answered", || {
        terminal.types("y\n");
        house.claw(&["approvals", "--json"]).expect(0).rows().is_empty()
    });
    eventually("the note is there", || house.home().join("memory/door.md").exists());
    drop(client);
    house.is_whole();
}

#[test]
fn the_lines_of_a_pipe_answer_no_client() {
    let house = house();
    let client = Client::start(&house, TOOLS, Era::Modern);
    let call = client.begin("legacy__echo", &echo("three."));
    eventually("the owner is asked", || {
        !house.claw(&["approvals", "--json"]).expect(0).rows().is_empty()
    });
    let waiting = house.waiting();
    let said = house.claw_with_stdin(&["chat"], b"y\ny\n/quit\n");
    assert!(!said.out.contains("laptop"), "{said:?}");
    assert_eq!(house.waiting(), waiting);
    house.claw(&["deny", &waiting]).expect(0);
    let ended = call.ends().unwrap();
    assert_eq!(ended.is_error, Some(true), "{}", text(&ended));
}
