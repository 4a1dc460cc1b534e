//! A memory server that hangs or dies in the middle of a call, over the whole program: the
//! turn goes on, an answer counts, what may or may not have run is told as such, and no
//! note is there twice.
#![cfg(target_os = "linux")]

use std::fs;

use crate::program::{House, SERVER_WAIT, eventually};
use crate::telegram_model::Rig;
use crate::wires::{Answer, Call, Turn};
use rustix::process::Signal;
use serde_json::{Value, json};

fn proposes(arguments: Value) -> Answer {
    Answer::Turn(Turn::calls(&[Call::new("1", "memory__propose", &arguments.to_string())]))
}

fn fact(subject: &str, text: &str) -> [Answer; 2] {
    [proposes(json!({"subject": subject, "text": text})), Answer::text("Noted, if you say so.")]
}

fn notes(house: &House) -> Vec<Value> {
    house.claw(&["memory", "list", "--json"]).expect(0).rows()
}

/// How many calls of this tool the audit has with a row of this kind.
fn audited(house: &House, tool: &str, kind: &str) -> usize {
    let rows = house.claw(&["audit", "--rows", "--json", "--limit", "1000"]).expect(0).rows();
    let is_of_tool = |row: &&Value| row["kind"] == "received" && row["body"]["tool"] == tool;
    let calls: Vec<&Value> = rows.iter().filter(is_of_tool).map(|row| &row["call"]).collect();
    rows.iter().filter(|row| row["kind"] == kind && calls.contains(&&row["call"])).count()
}

/// Has the server stopped, waits until this call is under way, and kills it in the middle.
fn dies_in(rig: &Rig, tool: &str, calls: impl FnOnce()) {
    let before = audited(&rig.house, tool, "started");
    signal_memory(&rig.house, Signal::STOP);
    calls();
    eventually("the call is under way", || audited(&rig.house, tool, "started") > before);
    signal_memory(&rig.house, Signal::KILL);
}

#[test]
fn a_server_that_dies_in_a_promotion_leaves_a_note_at_most_once_and_it_is_told() {
    let rig = Rig::new(
        fact("Anna", "Lives in Graz.").into_iter().chain(fact("Bob", "Sails on Sundays.")),
    );
    let gateway = rig.start();
    rig.says("Anna lives in Graz");
    rig.hears("Noted, if you say so.");
    rig.telegram.wait_for_button(rig.anna.id, "✅ Remember");
    dies_in(&rig, "promote", || drop(rig.anna.taps(rig.anna.id, "✅ Remember")));
    rig.hears("It may or may not have run");
    assert!(notes(&rig.house).len() <= 1);
    assert_eq!(audited(&rig.house, "promote", "started"), 1, "it is not repeated");
    rig.says("Bob sails");
    eventually("the next one is asked", || {
        rig.telegram.screen(rig.anna.id).contains("Sails on Sundays.")
    });
    rig.telegram.wait_for_button(rig.anna.id, "✅ Remember");
    rig.anna.taps(rig.anna.id, "✅ Remember");
    rig.hears("Remembered: Bob");
    let texts: Vec<String> = notes(&rig.house)
        .iter()
        .map(|note| note["subject"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(texts.iter().filter(|one| *one == "Bob").count(), 1, "{texts:?}");
    assert!(texts.iter().filter(|one| *one == "Anna").count() <= 1, "{texts:?}");
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn a_server_that_dies_in_a_recall_ends_no_turn() {
    let rig = Rig::new(["First.", "Without notes.", "With notes."].map(Answer::text));
    let patient = "[memory]\nrecall_time_ms = 60000\n";
    rig.house.write("claw.toml", &format!("{SERVER_WAIT}{patient}"));
    rig.house.claw(&["memory", "add", "Anna: lives in Graz"]).expect(0);
    let gateway = rig.start();
    rig.says("where does Anna live?");
    rig.hears("First.");
    dies_in(&rig, "recall", || rig.says("is it Graz where she lives, in the park?"));
    rig.hears("Without notes.");
    let told = rig.telegram.screen(rig.anna.id);
    assert_eq!(told.matches("could not be asked").count(), 1, "{told}");
    rig.says("and Anna now, in Graz?");
    rig.hears("With notes.");
    assert_eq!(notes(&rig.house).len(), 1);
    drop(gateway);
    rig.house.is_whole();
}

/// Sends a signal to the memory server of this house and to what watches over it.
#[expect(clippy::unwrap_used, reason = "a helper of tests: to panic is how a test fails")]
fn signal_memory(house: &House, signal: rustix::process::Signal) {
    let notes = house.home().join("memory").display().to_string();
    let is_ours = |line: &str| line.contains("server\0memory\0") && line.contains(&notes);
    let pids = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let line = fs::read_to_string(entry.path().join("cmdline")).ok()?;
        is_ours(&line).then(|| rustix::process::Pid::from_raw(pid))?
    });
    let pids: Vec<_> = pids.collect();
    assert!(!pids.is_empty());
    pids.into_iter().for_each(|pid| rustix::process::kill_process(pid, signal).unwrap());
}

/// The answer counts, whatever becomes of the memory, and one sentence says so.
#[test]
fn a_memory_that_hangs_loses_no_answer_and_doubles_no_note() {
    let rig =
        Rig::new(fact("Anna", "Lives in Graz.").into_iter().chain([
            proposes(json!({"subject": "Bob", "text": "Sails."})),
            Answer::text("And this."),
        ]));
    let gateway = rig.start();
    rig.says("Anna lives in Graz");
    rig.hears("Noted, if you say so.");
    rig.telegram.wait_for_button(rig.anna.id, "❌ Skip");
    signal_memory(&rig.house, Signal::STOP);
    rig.anna.taps(rig.anna.id, "❌ Skip");
    rig.hears("Skipped: ");
    let said = rig.telegram.screen(rig.anna.id);
    assert_eq!(said.matches("The memory could not be told").count(), 1, "{said}");
    signal_memory(&rig.house, Signal::CONT);
    rig.says("Bob sails");
    rig.hears("And this.");
    rig.telegram.wait_for_button(rig.anna.id, "✅ Remember");
    rig.anna.taps(rig.anna.id, "✅ Remember");
    rig.hears("Remembered: Bob");
    assert_eq!(notes(&rig.house).len(), 1);
    drop(gateway);
    rig.house.is_whole();
}
