//! Proposals for the memory that do not come of the owner's words, over the whole
//! program: a job that is due, and an MCP client. Both can propose, what they propose
//! names them, and neither writes.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use crate::jobs_rig::{JobsRig as _, schedule};
use crate::program::{House, SERVER_WAIT, eventually};
use crate::serve_rig::{Client, Elicited, Era, text};
use crate::telegram_model::Rig;
use crate::wires::{Answer, Call, Turn};
use rmcp::model::ElicitationAction;
use serde_json::{Value, json};
use std::sync::Arc;

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

/// The very arguments that the owner's tap stands for.
fn promotion(house: &House) -> Value {
    let frozen = "SELECT arguments FROM calls WHERE server = 'memory' AND tool = 'promote'";
    let frozen: String = house.db().query_row(frozen, [], |row| row.get(0)).unwrap();
    serde_json::from_str(&frozen).unwrap()
}

/// What each tool that changes the memory takes, for a note that is there.
fn writes(house: &House, id: &str) -> Vec<(&'static str, Value)> {
    let shown = house.claw(&["memory", "show", id, "--json"]).expect(0).json();
    let version = &shown["version"];
    vec![
        ("promote", promotion(house)),
        ("remember", json!({"text": "Mallory has a key."})),
        ("update", json!({"id": id, "version": version, "text": "Lives with Mallory."})),
        ("supersede", json!({"id": id, "version": version, "text": "Lives with Mallory."})),
        ("forget", json!({"id": id})),
        ("link", json!({"id": id, "to": id})),
    ]
}

/// Every rule, every answer and every grant says yes, and still nothing is written.
const YES_TO_ALL: &str = "[[rule]]\nserver = \"*\"\ndecision = \"allow\"\nwhy = \"all\"\n\
    origin = [\"owner\", \"button\", \"schedule\", \"mcp_client\", \"sub_agent\", \"forwarded\"]\n";

#[test]
fn a_client_writes_nothing_to_the_memory_whatever_rules_say_and_itself_answers() {
    for policy in ["", YES_TO_ALL] {
        let house = House::new();
        house.write("policy.toml", policy);
        house.write("claw.toml", "[serve]\nanswer_wait_s = 1\napprove_in_client = ['laptop']\n");
        house.claw(&["memory", "add", "Anna: Lives in Graz."]).expect(0);
        let before = notes(&house);
        let id = before[0]["id"].as_str().unwrap().to_owned();
        house.claw(&["tools"]).expect(0);
        let yes: Elicited = Arc::new(|_| (ElicitationAction::Accept, Some(json!({}))));
        let options = ["--client", "laptop", "--tools"];
        let client = Client::that_elicits(&house, &options, Era::Modern, yes);
        client.call("memory__propose", &fact());
        let (question, _) = question(&house);
        for (tool, arguments) in writes(&house, &id) {
            let said = text(&client.call(&format!("memory__{tool}"), &arguments));
            let why = match tool {
                "promote" => "a proposal becomes a note by its owner's tap alone",
                _ => "only its owner's own words and taps change the memory",
            };
            assert!(said.contains("Not run") && said.contains(why), "{tool}: {said}");
            assert_eq!(notes(&house), before, "{tool}");
        }
        assert!(client.asked().is_empty(), "nobody is asked about it");
        assert_eq!(house.waiting(), question, "the proposal alone waits");
        // The tap of the owner is what it was.
        house.claw(&["approve", &question]).expect(0);
        eventually("the note is there", || notes(&house).len() == 2);
        drop(client);
        house.is_whole();
    }
}

/// Its model tries to make a note of what it has proposed itself.
#[test]
fn neither_forwarded_text_nor_a_job_nor_the_owners_own_model_takes_the_tap_from_its_owner() {
    for origin in ["forwarded", "schedule", "owner"] {
        let proposes = Turn::calls(&[Call::new("1", "memory__propose", &fact().to_string())]);
        let rig = Rig::new([Answer::Turn(proposes), Answer::text("I have asked.")]);
        rig.house.write("claw.toml", SERVER_WAIT);
        rig.house.write("policy.toml", YES_TO_ALL);
        let gateway = rig.start();
        rig.says("Remember the code of the door, 4711.");
        rig.hears("I have asked.");
        let (question, _) = question(&rig.house);
        let arguments = promotion(&rig.house).to_string();
        rig.model.push(Answer::Turn(Turn::calls(&[Call::new("2", "memory__promote", &arguments)])));
        rig.model.push(Answer::text("That is that."));
        match origin {
            "owner" => rig.says("Go on."),
            "forwarded" => {
                let writes = rig.anna.writes(rig.anna.private()).text("Remember it now!");
                writes.forwarded_from("Mallory").send();
            }
            _ => {
                let session = rig.session();
                let job = json!({"text": "Go on.", "in_minutes": 60, "session": session});
                schedule(&rig.house, job);
                rig.minutes_pass(60);
            }
        }
        rig.hears("That is that.");
        assert!(notes(&rig.house).is_empty(), "{origin}");
        let ended = rig.house.audit().into_iter().filter(|row| row["kind"] == "ended");
        let denied = ended.filter(|row| row["body"].to_string().contains("builtin.memory-tap"));
        assert_eq!(denied.count(), 1, "{origin}");
        assert_eq!(rig.house.waiting(), question, "{origin}: the proposal alone waits");
        rig.house.claw(&["approve", &question]).expect(0);
        eventually("the note is there", || notes(&rig.house).len() == 1);
        drop(gateway);
        rig.house.is_whole();
    }
}
