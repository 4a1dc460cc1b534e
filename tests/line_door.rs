//! What the line door (`tests/support/line_door.rs`) keeps beyond the scenes of `tests/doors`:
//! paths of the shared parts that no other door of a test takes.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::sync::Arc;

use crate::line_client::{Client, line_door, start, start_as_set};
use crate::program::{House, eventually};
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Turn, Wire};
use serde_json::Value;
use tokio::sync::Semaphore;

fn speaking(answers: impl IntoIterator<Item = Answer>) -> (House, Threaded) {
    let model = Threaded::start(Wire::OpenAi, answers);
    (House::at("openai-compatible", &model.base_url), model)
}

/// The first line of which this holds.
#[track_caller]
fn waits_for(client: &Client, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
    eventually(what, || client.lines().iter().any(&holds));
    client.lines().into_iter().find(holds).unwrap()
}

#[track_caller]
fn waits_for_text(client: &Client, text: &str) {
    waits_for(client, text, |line| {
        [&line["text"], &line["note"]].iter().any(|it| it.as_str().unwrap_or("").contains(text))
    });
}

#[test]
fn what_nobody_was_there_to_read_waits_until_somebody_is() {
    let gate = Arc::new(Semaphore::new(0));
    let answer = Answer::Gated(Turn::text("The answer, much later."), gate.clone());
    let (house, model) = speaking([answer]);
    let _door = start(&house);
    let mut anna = Client::connect(&house, "anna");
    anna.says("go");
    eventually("the model is asked", || model.recorded().len() == 1);
    anna.leaves();
    gate.add_permits(100);
    eventually("the turn has ended", || {
        let rows = "SELECT count(*) FROM outbox";
        house.db().query_row(rows, [], |row| row.get::<_, i64>(0)).unwrap() > 0
    });
    anna.reconnect(&house);
    waits_for_text(&anna, "The answer, much later.");
}

#[test]
fn a_text_that_is_too_long_is_its_beginning_and_a_file_and_a_file_that_is_missing_is_named() {
    let long = "word ".repeat(4_000);
    let texts = [long.trim_end(), "Here it is: [none](none.txt)."];
    let (house, _model) = speaking(texts.map(Answer::text));
    let _door = start(&house);
    let anna = Client::connect(&house, "anna");
    anna.says("long");
    let file = waits_for(&anna, "the whole", |line| line["file"] == "answer.md");
    assert!(file["text"].as_str().unwrap().starts_with(long.trim_end()));
    let messages = anna.lines().iter().filter_map(|line| line["message"].as_i64()).max();
    let first = anna.lines().iter().find_map(|line| line["message"].as_i64());
    assert_eq!(messages, first, "the beginning is one message");
    anna.says("file");
    waits_for_text(&anna, "none.txt was not sent: there is no such file in the workspace.");
}

/// Its section is read by the program's own gateway, which is told of it by one list of doors.
#[test]
fn a_door_has_settings_of_its_own_with_the_errors_of_all_others() {
    let (house, _model) = speaking(["Here it is: [big](big.txt).", "Hello."].map(Answer::text));
    let socket = house.home().join("lines.sock");
    let set = |more: &str| {
        let toml = format!("[lines]\nsocket = \"{}\"\n{more}\n", socket.display());
        house.write("claw.toml", &toml);
    };
    let refused = |parts: &[&str]| {
        house.begin(line_door(&house, &["gateway"])).ends().expect_mistake(parts);
    };
    refused(&["no door is configured", "set CLAW_LINES_SOCKET"]);
    set("file_bytes_mox = 5");
    refused(&["claw.toml, line 3", "did you mean `file_bytes_max`?", "Correct the line"]);
    set("file_bytes_max = \"$NOT_SET\"");
    refused(&["claw.toml, line 3", "NOT_SET, which is not set"]);
    // Another program has no such door, and says so.
    set("");
    house.claw(&["sessions"]).expect_mistake(&["claw.toml, line 1", "`lines` is not a key here"]);
    set("file_bytes_max = 5");
    house.write("workspace/big.txt", "sixty bytes and more");
    let door = start_as_set(&house);
    let anna = Client::connect(&house, "anna");
    anna.says("file");
    waits_for_text(&anna, "big.txt was not sent");
    // A change of a door's section waits for the next start, and is told once.
    set("file_bytes_max = 50");
    anna.says("go on");
    waits_for_text(&anna, "Hello.");
    drop(door);
}
