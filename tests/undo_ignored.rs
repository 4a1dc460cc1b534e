//! Undo where a turn changes `.gitignore`, through the whole program: what it changed comes back
//! and can be had again, and what was named before is left alone. Must not know how a snapshot is
//! kept.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::fs;

use crate::common::picture;
use crate::program::House;

/// What is tried here needs no questions.
const ALLOW: &str = "[[rule]]\nserver = \"*\"\ndecision = \"allow\"\nwhy = \"a test\"\n";

/// A house whose workspace has these files.
fn house(files: &[(&str, &str)]) -> House {
    let house = House::new();
    house.write("policy.toml", ALLOW);
    house.claw(&["ask", "list"]).expect(0);
    for (name, text) in files {
        let path = house.workspace().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    house
}

fn undo(house: &House, args: &[&str]) -> String {
    let args: Vec<&str> = ["undo", "--yes"].iter().chain(args).copied().collect();
    house.claw(&args).expect(0).out
}

/// The turn changes a file, names it together with one that it makes, and is undone and had again,
/// twice.
#[test]
fn what_a_turn_has_changed_and_named_in_gitignore_comes_back_and_can_be_had_again() {
    let names = "echo .env > .gitignore; echo made >> .gitignore";
    for asked in [
        format!("run `echo new > .env; echo 3 > made; {names}`"),
        format!("write `new` to .env, then run `echo 3 > made; {names}`"),
    ] {
        let house = house(&[(".env", "old")]);
        house.claw(&["ask", &asked]).expect(0);
        let turn = picture(&house.workspace());
        for _ in 0..2 {
            assert!(undo(&house, &[]).contains("Undone: 2 paths."), "{asked}");
            assert_eq!(house.in_workspace(".env"), "old", "{asked}");
            assert!(!house.workspace().join(".gitignore").exists(), "{asked}");
            let made = house.in_workspace("made");
            assert_eq!(made, "3\n", "what was named when claw looked is left alone");
            assert!(undo(&house, &["--redo"]).contains("taken back: 2 paths."), "{asked}");
            assert_eq!(picture(&house.workspace()), turn, "{asked}");
        }
        house.is_whole();
    }
}

#[test]
fn a_file_whose_folder_the_turn_has_named_in_gitignore_comes_back_too() {
    let house = house(&[("conf/deep/local", "1")]);
    let before = picture(&house.workspace());
    let changes = "echo 2 > conf/deep/local; echo conf/ > .gitignore";
    house.claw(&["ask", &format!("run `{changes}`")]).expect(0);
    let turn = picture(&house.workspace());
    assert!(undo(&house, &[]).contains("Undone: 2 paths."));
    assert_eq!(picture(&house.workspace()), before);
    assert!(undo(&house, &["--redo"]).contains("taken back: 2 paths."));
    assert_eq!(picture(&house.workspace()), turn);
    house.is_whole();
}

/// As by `git checkout` of a commit that had no such file.
#[test]
fn what_gitignore_named_before_the_turn_is_left_alone_when_the_turn_takes_the_line_away() {
    let named = [(".gitignore", ".env\ndata/\n"), (".env", "KEY=1"), ("data/m.csv", "1")];
    let house = house(&named);
    let before = picture(&house.workspace());
    let asked = house.claw(&["ask", "run `rm .gitignore; echo x > code.txt`"]).expect(0);
    assert!(asked.err.contains("2 files changed."), "{asked:?}");
    let shown = house.claw(&["undo"]).expect(3).out;
    assert!(shown.contains("changes 2 paths") && !shown.contains("data"), "{shown}");
    let turn = picture(&house.workspace());
    undo(&house, &[]);
    assert_eq!(picture(&house.workspace()), before);
    undo(&house, &["--redo"]);
    assert_eq!(picture(&house.workspace()), turn);
    undo(&house, &[]);

    // From the call on that brought it to sight it is a file like all others.
    let two_calls = "run `rm .gitignore`, then run `echo KEY=2 > .env`";
    let asked = house.claw(&["ask", two_calls]).expect(0);
    assert!(asked.err.contains("2 files changed."), "{asked:?}");
    let said = undo(&house, &[]);
    assert!(said.contains("Undone: 2 paths.") && !said.contains("data"), "{said}");
    assert_eq!(picture(&house.workspace()), before);
    house.is_whole();
}
