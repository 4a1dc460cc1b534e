//! How long what turns have changed can be undone, through the whole program: by days, by bytes,
//! and while the folder that they worked in is not there. Must not know how a snapshot is kept.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::fs;
use std::path::PathBuf;

use crate::program::{House, Ran};
use serde_json::Value;

/// What is tried here needs no questions.
const ALLOW: &str = "[[rule]]\nserver = \"*\"\ndecision = \"allow\"\nwhy = \"a test\"\n";

/// Files are changed without a question, commands are not.
const EDITS_RUN: &str =
    "[[rule]]\nserver = \"filesystem\"\ndecision = \"allow\"\nwhy = \"a test\"\n";

fn house() -> House {
    let house = House::new();
    house.write("policy.toml", ALLOW);
    house
}

/// As if the first ones of what is remembered had begun four days before.
fn make_older(house: &House, first: usize) {
    let folder = fs::read_dir(house.home().join("snapshots")).unwrap().next().unwrap().unwrap();
    let turns = fs::read_dir(folder.path().join("turns")).unwrap();
    let mut records: Vec<PathBuf> = turns.map(|entry| entry.unwrap().path()).collect();
    records.sort();
    for path in records.iter().take(first) {
        let mut record: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        record["began_ms"] = (record["began_ms"].as_i64().unwrap() - 4 * 86_400_000).into();
        fs::write(path, record.to_string()).unwrap();
    }
}

/// Retention looks again, as it does once a day.
fn keep_anew(house: &House) {
    house.db().execute("DELETE FROM meta WHERE key = 'told.retention'", []).unwrap();
    house.claw(&["ask", "--session", "other", "list"]).expect(0);
}

#[test]
fn what_a_turn_that_goes_on_remembers_is_not_let_go() {
    let house = house();
    house.write("claw.toml", "[retention]\nundo_days = 3\n");
    house.write("policy.toml", EDITS_RUN);
    let id = house.ask_parks("write `one` to a.txt, then run `echo x > b.txt`");
    make_older(&house, 1);
    keep_anew(&house);
    house.claw(&["deny", &id]).expect(0);
    house.claw(&["undo", "--yes"]).expect(0);
    assert!(!house.workspace().join("a.txt").exists());
    house.is_whole();
}

#[test]
fn old_turns_and_what_is_too_much_of_them_is_let_go() {
    let house = house();
    house.write("claw.toml", "[retention]\nundo_days = 3\nundo_bytes_max = 1048576\n");
    let look_again = || keep_anew(&house);
    let turns = || house.claw(&["undo", "--list", "--json"]).expect(0).rows().len();
    house.claw(&["ask", "write `one` to a.txt"]).expect(0);
    house.claw(&["ask", "write `two` to b.txt"]).expect(0);
    look_again();
    assert_eq!(turns(), 2, "they are young");

    // The first one is four days old.
    make_older(&house, 1);
    look_again();
    assert_eq!(turns(), 1);
    assert!(house.audit().iter().any(|row| row["kind"] == "retention" && row["body"]["undo"] == 1));
    let rows = house.claw(&["audit", "--rows"]).expect(0).out;
    assert!(rows.contains("1 record of what turns had changed ("), "{rows}");

    // What the second one remembers is more than is allowed.
    fs::write(house.workspace().join("large"), vec![7; 2 << 20]).unwrap();
    house.claw(&["ask", "write `three` to c.txt"]).expect(0);
    look_again();
    assert_eq!(turns(), 0);
    house.claw(&["ask", "write `four` to d.txt"]).expect(0);
    house.claw(&["undo", "--yes"]).expect(0);
    assert!(!house.workspace().join("d.txt").exists());
    house.is_whole();
}

/// A drive that is not plugged in at the moment, or a folder that has another name for a while.
#[test]
fn turns_of_a_folder_that_is_not_there_stay_for_their_time_and_no_longer() {
    let house = house();
    house.write("claw.toml", "[retention]\nundo_days = 3\n");
    let (plugged_in, away) = (house.user_home().join("drive"), house.user_home().join("away"));
    let project = plugged_in.join("project");
    fs::create_dir_all(&project).unwrap();
    let there = |args: &[&str]| -> Ran {
        let at = ["--workspace", project.to_str().unwrap()];
        house.claw(&[&at[..], args].concat()).expect(0)
    };
    let turns = || there(&["undo", "--list", "--json"]).rows().len();
    let a_day_passes_without_it = || {
        fs::rename(&plugged_in, &away).unwrap();
        keep_anew(&house);
        fs::rename(&away, &plugged_in).unwrap();
    };
    let says = |told: &str| {
        let rows = house.claw(&["audit", "--rows"]).expect(0).out;
        assert!(rows.contains(told), "{told}: {rows}");
    };
    there(&["ask", "write `one` to a.txt"]);
    there(&["ask", "write `two` to b.txt"]);
    a_day_passes_without_it();
    assert_eq!(turns(), 2, "they are young");

    make_older(&house, 1);
    a_day_passes_without_it();
    assert_eq!(turns(), 1);
    says("1 record of what turns had changed (");
    assert!(there(&["undo", "--yes"]).out.contains("Undone: 1 path."));
    let text = |name: &str| fs::read_to_string(project.join(name)).unwrap_or_default();
    assert_eq!((text("a.txt"), text("b.txt")), ("one".into(), String::new()));

    // The turn, and the undo of it. Nothing else is left of the folder.
    make_older(&house, 2);
    a_day_passes_without_it();
    assert_eq!(fs::read_dir(house.home().join("snapshots")).unwrap().count(), 0);
    assert_eq!(turns(), 0);
    says("2 records of what turns had changed (");
    house.is_whole();
}
