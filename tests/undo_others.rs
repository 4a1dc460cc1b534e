//! What others write in a workspace while a turn is under way, and what they note at its files,
//! through the whole program: an undo leaves it. Must not know how a change is attributed.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::fs;

use crate::common::picture;
use crate::program::{House, eventually};
use claw_test_kit::skipped;
use rustix::fs::{XattrFlags, fgetxattr, fsetxattr};

/// What is tried here needs no questions.
const ALLOW: &str = "[[rule]]\nserver = \"*\"\ndecision = \"allow\"\nwhy = \"a test\"\n";

/// Files are changed without a question, commands are not.
const EDITS_RUN: &str =
    "[[rule]]\nserver = \"filesystem\"\ndecision = \"allow\"\nwhy = \"a test\"\n";

fn undo(house: &House, args: &[&str]) -> String {
    let args: Vec<&str> = ["undo", "--yes"].iter().chain(args).copied().collect();
    house.claw(&args).expect(0).out
}

/// The newest turn of a session that is not undone.
fn newest_of(house: &House, session: &str) -> String {
    let rows = house.claw(&["undo", "--list", "--json"]).expect(0).rows();
    let open = rows.iter().filter(|row| row["undone"] == false);
    let mut turns = open.map(|row| row["id"].as_str().unwrap());
    turns.find(|turn| turn.starts_with(&format!("{session}:"))).unwrap().to_owned()
}

/// One turn begins first and ends last; in between another session has a turn of its own, and the
/// owner's editor writes. With each of the two undone first.
#[test]
fn what_another_conversation_and_an_editor_have_written_meanwhile_is_left_and_named() {
    for first in ["main", "other"] {
        let house = House::new();
        house.write("policy.toml", EDITS_RUN);
        let id = house.ask_parks("write `one` to a.txt, then run `echo one > b.txt`");
        house.claw(&["ask", "--session", "other", "write `two` to c.txt"]).expect(0);
        fs::write(house.workspace().join("d.txt"), "mine").unwrap();
        house.claw(&["approve", &id]).expect(0);
        assert_eq!(house.in_workspace("b.txt"), "one\n");
        let second = if first == "main" { "other" } else { "main" };
        for session in [first, second] {
            let said = undo(&house, &[&newest_of(&house, session)]);
            let left = ["a.txt", "c.txt"].map(|name| house.workspace().join(name).exists());
            match (session, session == first) {
                ("main", true) => assert_eq!(left, [false, true], "{said}"),
                ("other", true) => assert_eq!(left, [true, false], "{said}"),
                _ => assert_eq!(left, [false, false], "{said}"),
            }
            if session == "main" {
                assert!(said.contains("Undone: 2 paths."), "{said}");
                assert!(said.contains("  d.txt (changed while others worked here)"), "{said}");
                assert_eq!(said.contains("  c.txt (changed while"), first == "main", "{said}");
                assert!(!house.workspace().join("b.txt").exists(), "{said}");
            }
        }
        assert_eq!(house.in_workspace("d.txt"), "mine");
        house.is_whole();
    }
}

/// Who has written a file while commands of both ran is not known, so neither takes it back.
#[test]
fn commands_side_by_side_take_back_only_what_is_theirs_for_sure() {
    let house = House::new();
    house.write("policy.toml", ALLOW);
    house.claw(&["ask", "list"]).expect(0);
    let at = |name: &str| house.workspace().join(name);
    fs::write(at("mixed.txt"), "0").unwrap();
    let long = "run `echo one > a.txt; printf 1 > mixed.txt; while [ ! -e go ]; do sleep 0.05; \
        done; printf 3 > mixed.txt`";
    let running = house.start(&["ask", long]);
    eventually("the command runs", || house.in_workspace("mixed.txt") == "1");
    let other = ["ask", "--session", "other", "run `echo two > b.txt; printf 2 > mixed.txt`"];
    house.claw(&other).expect(0);
    fs::write(at("go"), "").unwrap();
    assert_eq!(running.ends().code, Some(0));
    // One more turn begins and ends between two of another.
    house.claw(&["ask", "run `echo later > c.txt`"]).expect(0);
    let before = picture(&house.workspace());
    let said = undo(&house, &[&newest_of(&house, "other")]);
    assert_eq!(picture(&house.workspace()), before, "{said}");
    for name in ["b.txt", "mixed.txt"] {
        assert!(said.contains(&format!("  {name} (changed ")), "{said}");
    }
    undo(&house, &[&newest_of(&house, "main")]);
    let said = undo(&house, &[&newest_of(&house, "main")]);
    assert!(said.contains("  b.txt (changed while others worked here)"), "{said}");
    let left = ["a.txt", "b.txt", "c.txt", "mixed.txt"].map(|name| house.in_workspace(name));
    assert_eq!(left, ["", "two\n", "", "3"], "{said}");
    house.is_whole();
}

/// Tags, labels of a backup and the like: no part of a text, and not remembered.
#[test]
fn an_edit_and_its_undo_leave_a_file_its_extended_attributes() {
    let house = House::new();
    house.write("policy.toml", EDITS_RUN);
    house.write("workspace/a.txt", "old");
    let path = house.workspace().join("a.txt");
    let old = fs::File::open(&path).unwrap();
    if let Err(error) = fsetxattr(&old, "user.k", b"kept", XattrFlags::empty()) {
        return skipped(&format!("no attribute can be set here: {error}"));
    }
    let kept = |text: &str| {
        assert_eq!(house.in_workspace("a.txt"), text);
        let mut value = [0; 10];
        let length = fgetxattr(fs::File::open(&path).unwrap(), "user.k", &mut value);
        assert_eq!(&value[..length.unwrap_or_default()], b"kept", "{text}");
    };
    house.claw(&["ask", "write `one` to a.txt"]).expect(0);
    kept("one");
    assert!(undo(&house, &[]).contains("Undone: 1 path."));
    kept("old");
}
