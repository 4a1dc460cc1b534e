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

#[test]
fn a_client_proposes_by_its_name_and_writes_nothing() {
    let house = House::new();
    house.write("claw.toml", "[serve]\nanswer_wait_s = 1\n");
    house.claw(&["tools"]).expect(0);
    let client = Client::start(&house, &["--client", "laptop", "--tools"], Era::Modern);
    let said = text(&client.call("memory__propose", &fact()));
    assert!(said.contains("Not remembered yet"), "{said}");
    assert!(notes(&house).is_empty(), "nothing was written");
    let open = house.claw(&["memory", "list", "--proposals", "--json"]).expect(0).rows();
    assert_eq!((open.len(), &open[0]["source"]["who"]), (1, &json!("mcp_client")), "{open:?}");
    // Its own promotion waits for its owner, as everything that it would change.
    let tap = json!({"id": open[0]["id"], "version": open[0]["version"]});
    client.fails("memory__promote", &tap);
    let (id, shown) = question(&house);
    assert!(shown.contains("client") && shown.contains("laptop"), "{shown}");
    assert!(notes(&house).is_empty(), "nothing was written");
    house.claw(&["deny", &id]).expect(0);
    assert!(notes(&house).is_empty(), "nothing was written");
    house.is_whole();
}
