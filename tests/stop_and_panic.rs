//! Stopping: Ctrl-C, `/stop`, the stop switch, and being killed. What runs is ended, the log says
//! so, and nothing that may have run is run again.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use crate::program::{House, Running, alive, eventually, outcomes, pid_in};
use rustix::process::Signal;
use serde_json::{Value, json};

/// Commands run without a question here, so that one process asks and runs.
const ALLOW: &str =
    "[[rule]]\nserver = \"bash\"\ndecision = \"allow\"\nwhy = \"this test runs commands\"\n";
/// Writes who it is, leaves an effect, and stays.
const STAYS: &str = "run `echo $$ > pid; echo x >> effects; sleep 1000 & echo $! > child; wait`";

fn house() -> House {
    let house = House::new();
    house.write("policy.toml", ALLOW);
    house
}

/// The processes of a command that has begun to run.
fn pids(house: &House) -> [u32; 2] {
    let mut pids = [None, None];
    eventually("the command runs", || {
        pids = ["pid", "child"].map(|name| pid_in(&house.workspace().join(name)));
        pids.iter().all(Option::is_some)
    });
    pids.map(Option::unwrap)
}

fn are_gone(pids: [u32; 2]) {
    eventually("what ran is ended", || !pids.iter().any(|pid| alive(*pid)));
}

fn runs(house: &House) -> (Running, [u32; 2]) {
    let running = house.start(&["ask", STAYS]);
    let pids = pids(house);
    (running, pids)
}

fn effects(house: &House) -> usize {
    house.in_workspace("effects").lines().count()
}

fn last(events: &[Value]) -> &Value {
    events.last().unwrap()
}

#[test]
fn one_interrupt_ends_the_turn_and_what_runs() {
    let house = house();
    let (running, pids) = runs(&house);
    running.signal(Signal::INT);
    running.ends().expect(130);
    are_gone(pids);
    let events = house.events("main");
    assert_eq!(
        (&last(&events)["type"], &last(&events)["end"]["kind"]),
        (&json!("turn.ended"), &json!("stopped"))
    );
    assert_eq!(outcomes(&events)[0]["kind"], "unknown", "{events:#?}");
    house.claw(&["ask", "list"]).expect(0);
    assert_eq!(effects(&house), 1, "it was run again");
    house.is_whole();
}

#[test]
fn an_approval_that_runs_is_stopped_like_an_ask() {
    let house = House::new();
    let id = house.ask_parks(STAYS);
    let running = house.start(&["approve", &id]);
    let pids = pids(&house);
    running.signal(Signal::INT);
    running.ends().expect(130);
    are_gone(pids);
    house.claw(&["ask", "list"]).expect(0);
    assert_eq!(effects(&house), 1);
    house.is_whole();
}

#[test]
fn slash_stop_of_one_terminal_ends_what_another_runs() {
    let house = house();
    let (running, pids) = runs(&house);
    house.claw_with_stdin(&["chat"], b"/stop\n").expect(0);
    are_gone(pids);
    running.ends().expect(130);
    assert_eq!(last(&house.events("main"))["end"]["kind"], "stopped");
    house.is_whole();
}

#[test]
fn leaving_a_chat_that_runs_something_ends_it_and_reports_it() {
    let house = house();
    let mut chat = house.start(&["chat"]);
    chat.types(format!("{STAYS}\n").as_bytes());
    let pids = pids(&house);
    // From a pipe `/quit` waits for what runs; being asked to end does not.
    chat.signal(Signal::TERM);
    chat.ends().expect(0);
    are_gone(pids);
    let next = house.claw(&["ask", "list"]).expect(0);
    assert!(next.err.contains("may or may not have run"), "nobody was told: {next:?}");
    assert_eq!(effects(&house), 1);
    house.is_whole();
}

#[test]
fn the_stop_switch_ends_blocks_and_lets_go() {
    let house = house();
    let (running, pids) = runs(&house);
    let on = house.claw(&["panic", "on", "--json"]).expect(0).json();
    assert_eq!(on["on"], true);
    are_gone(pids);
    running.ends();
    assert_eq!(outcomes(&house.events("main"))[0]["kind"], "unknown");

    for blocked in ["run `echo x >> effects`", "list", "write a: b"] {
        let said = house.claw(&["ask", blocked]).expect(0);
        assert!(said.out.contains("stop switch"), "{said:?}");
    }
    let kinds: Vec<_> =
        outcomes(&house.events("main")).iter().map(|one| one["kind"].clone()).collect();
    assert_eq!(kinds, ["unknown", "denied", "denied", "denied"]);
    assert_eq!(house.claw(&["panic", "status", "--json"]).expect(0).json()["on"], true);
    assert_eq!(
        house
            .claw(&["doctor", "--json"])
            .expect(1)
            .rows()
            .iter()
            .filter(|row| row["id"] == "panic")
            .count(),
        1
    );

    assert_eq!(house.claw(&["panic", "off", "--json"]).expect(0).json()["on"], false);
    house.claw(&["ask", "run `echo x >> effects`"]).expect(0);
    assert_eq!(effects(&house), 2);
    let kinds: Vec<_> =
        house.audit().iter().map(|row| row["kind"].as_str().unwrap().to_owned()).collect();
    assert!(
        kinds.iter().any(|kind| kind == "panic.on") && kinds.iter().any(|kind| kind == "panic.off")
    );
    house.is_whole();
}

#[test]
fn a_question_from_before_the_stop_switch_does_not_run_through_it() {
    let house = House::new();
    let id = house.ask_parks("run `echo x >> effects`");
    house.claw(&["panic", "on"]).expect(0);
    let said = house.claw(&["approve", &id]);
    assert!(said.out.contains("stop switch") || said.err.contains("stop switch"), "{said:?}");
    assert_eq!(effects(&house), 0);
    house.claw(&["panic", "off"]).expect(0);
    house.claw(&["ask", "list"]).expect(0);
    assert_eq!(effects(&house), 0, "what the switch denied came back");
    house.is_whole();
}

#[test]
fn what_was_killed_is_finished_by_the_next_and_never_run_again() {
    let house = house();
    let (running, pids) = runs(&house);
    running.signal(Signal::KILL);
    assert_eq!(running.ends().code, None);
    are_gone(pids);
    let next = house.claw(&["ask", "list"]).expect(0);
    assert!(next.err.contains("may or may not have run"), "the owner was not told: {next:?}");
    let events = house.events("main");
    assert_eq!(outcomes(&events)[0]["kind"], "unknown", "{events:#?}");
    assert_eq!(effects(&house), 1, "it was run again");
    assert_eq!(events.iter().filter(|event| event["type"] == "turn.ended").count(), 2);
    house.is_whole();
}

#[test]
fn a_question_survives_the_death_of_who_asked() {
    let house = House::new();
    let mut chat = house.start(&["chat"]);
    chat.types(b"run `echo x >> effects`\n");
    eventually("the chat asks", || chat.out().contains("y yes"));
    chat.signal(Signal::KILL);
    assert_eq!(chat.ends().code, None);
    let mut chat = house.start(&["chat"]);
    eventually("a new chat asks again", || chat.out().contains("y yes"));
    chat.types(b"y\n");
    eventually("it runs", || effects(&house) == 1);
    chat.ends().expect(0);
    assert_eq!(effects(&house), 1);
    house.is_whole();
}
