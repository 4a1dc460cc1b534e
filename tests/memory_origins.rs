//! Proposals for the memory that do not come of the owner's words, over the whole program: a job that is
//! due, and an MCP client. Both can propose, what they propose names them, and neither writes.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use crate::jobs_rig::{JobsRig as _, schedule};
use crate::program::{House, SERVER_WAIT, eventually};
use crate::serve_rig::{Client, Era, text};
use crate::telegram_model::Rig;
use crate::wires::{Answer, Call, Turn};
use serde_json::{Value, json};

fn fact() -> Value {
    json!({"subject": "Door", "text": "The code is 4711."})
}

fn notes(house: &House) -> Vec<Value> {
    house.claw(&["memory", "list", "--json"]).expect(0).rows()
}

/// The one question that waits, as its owner reads it.
fn question(house: &House) -> (String, String) {
    eventually("the owner is asked", || {
        !house.claw(&["approvals", "--json"]).expect(0).rows().is_empty()
    });
    let id = house.waiting();
    let shown = house.claw(&["approvals", &id]).expect(0).out;
    (id, shown)
}

/// Only the owner's yes makes a note of it, and the note says where it came from.
fn becomes_a_note_by_a_yes_alone(house: &House, shown: &str, id: &str, source: &str) {
    assert!(shown.contains("The code is 4711."), "{shown}");
    assert!(notes(house).is_empty(), "nothing was written");
    house.claw(&["approve", id]).expect(0);
    eventually("the note is there", || notes(house).len() == 1);
    let file = std::fs::read_to_string(house.home().join("memory/door.md")).unwrap();
    assert!(file.contains(&format!("source: {source}")), "{file}");
}

#[test]
fn a_job_proposes_by_its_name_and_writes_nothing() {
    let proposes = Turn::calls(&[Call::new("1", "memory__propose", &fact().to_string())]);
    let rig = Rig::new([Answer::Turn(proposes), Answer::text("I have asked.")]);
    rig.house.write("claw.toml", SERVER_WAIT);
    let gateway = rig.start();
    rig.says("/status");
    rig.hears("stop switch: off");
    let session = rig.session();
    schedule(&rig.house, json!({"text": "Look around.", "in_minutes": 60, "session": session}));
    rig.minutes_pass(60);
    rig.hears("I have asked.");
    let (id, shown) = question(&rig.house);
    assert!(shown.contains("Proposed by a schedule"), "{shown}");
    becomes_a_note_by_a_yes_alone(&rig.house, &shown, &id, "schedule");
    drop(gateway);
    rig.house.is_whole();
}

/// A client that may propose, and has.
fn client_proposes(house: &House) -> Client {
    house.write("claw.toml", "[serve]\nanswer_wait_s = 1\n");
    house.claw(&["tools"]).expect(0);
    let client = Client::start(house, &["--client", "laptop", "--tools"], Era::Modern);
    let said = text(&client.call("memory__propose", &fact()));
    assert!(said.contains("Not remembered yet"), "{said}");
    client
}

fn proposals(house: &House) -> Vec<Value> {
    house.claw(&["memory", "list", "--proposals", "--json"]).expect(0).rows()
}

#[test]
fn a_client_proposes_by_its_name_and_its_owner_is_asked_to_remember() {
    let house = House::new();
    let client = client_proposes(&house);
    let (id, shown) = question(&house);
    for words in ["Proposed by the MCP client “laptop”", "Remember about “Door”", "Skip"] {
        assert!(shown.contains(words), "{words} is not in {shown}");
    }
    let status = house.claw_with_stdin(&["chat"], b"/status\n").expect(0).out;
    assert!(status.contains("1 proposal waits for your tap"), "{status}");
    let open = proposals(&house);
    assert_eq!((open.len(), &open[0]["source"]["who"]), (1, &json!("mcp_client")), "{open:?}");
    becomes_a_note_by_a_yes_alone(&house, &shown, &id, "\"mcp_client\"");
    drop(client);
    house.is_whole();
}

#[test]
fn what_a_client_proposed_is_over_with_a_no_and_with_the_end_of_its_time() {
    for expires in [false, true] {
        let house = House::new();
        let client = client_proposes(&house);
        let (id, _) = question(&house);
        match expires {
            false => drop(house.claw(&["deny", &id]).expect(0)),
            true => {
                let past = "UPDATE approvals SET expires_ms = 1 WHERE state = 'waiting'";
                assert_eq!(house.db().execute(past, []).unwrap(), 1);
            }
        }
        // The memory hears of it from whoever serves the client.
        eventually("it is over", || proposals(&house).is_empty());
        assert!(house.claw(&["approvals", "--json"]).expect(0).rows().is_empty());
        assert!(notes(&house).is_empty(), "nothing was written");
        drop(client);
        house.is_whole();
    }
}
