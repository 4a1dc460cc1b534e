//! Files that a turn has changed, put back through the whole program: what comes back, what is left
//! alone, and what a kill leaves. Must not know how a snapshot is kept.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::common::picture;
use crate::program::{House, eventually};
use rustix::process::Signal;
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

/// The newest turn that `claw undo --list` names.
fn newest(house: &House) -> String {
    let rows = house.claw(&["undo", "--list", "--json"]).expect(0).rows();
    rows[0]["id"].as_str().unwrap().to_owned()
}

fn undo(house: &House, args: &[&str]) -> String {
    let args: Vec<&str> = ["undo", "--yes"].iter().chain(args).copied().collect();
    house.claw(&args).expect(0).out
}

#[test]
fn the_second_of_two_turns_is_undone_and_the_first_stays() {
    let house = house();
    let asked = house.claw(&["ask", "write `one` to a.txt"]).expect(0);
    let way_back = format!("1 file changed. `claw undo {}` puts it back.", newest(&house));
    assert!(asked.err.contains(&way_back), "{asked:?}");
    house.claw(&["ask", "write `two` to b.txt"]).expect(0);
    let looked = house.claw(&["ask", "list"]).expect(0);
    assert!(!looked.err.contains("claw undo"), "{looked:?}");
    let rows = house.claw(&["undo", "--list", "--json"]).expect(0).rows();
    assert_eq!(rows.len(), 2, "a turn that only reads costs nothing: {rows:?}");

    // Without a yes it is only shown.
    let shown = house.claw(&["undo"]).expect(3);
    let turn = newest(&house);
    assert!(shown.out.contains(&format!("Undoing the turn {turn} changes 1 path")), "{shown:?}");
    assert!(shown.out.contains("  remove   b.txt"), "{shown:?}");
    assert!(shown.err.contains(&format!("`claw undo {turn} --yes`")), "{shown:?}");
    assert_eq!(house.in_workspace("b.txt"), "two");

    assert!(undo(&house, &[]).contains("Undone: 1 path."));
    assert_eq!(picture(&house.workspace()).len(), 1);
    assert_eq!(house.in_workspace("a.txt"), "one");
    house.claw(&["undo", &turn, "--yes"]).expect_mistake(&[&turn, "undone already"]);
    // The next one is the turn before.
    undo(&house, &[]);
    assert!(picture(&house.workspace()).is_empty());
    let nothing = house.claw(&["undo", "--yes"]).expect(0);
    assert!(nothing.err.contains("There is nothing to put back"), "{nothing:?}");
    house.claw(&["undo", "main:999", "--yes"]).expect_mistake(&["main:999"]);

    let audited = house.audit();
    let of = |kind: &str| audited.iter().filter(|row| row["kind"] == kind).count();
    assert_eq!((of("undo.started"), of("undo.ended")), (2, 2), "{audited:?}");
    house.is_whole();
}

#[test]
fn what_others_have_changed_since_is_left_and_named() {
    let house = house();
    house.claw(&["ask", "write `one` to a.txt and write `two` to b.txt"]).expect(0);
    fs::write(house.workspace().join("a.txt"), "mine").unwrap();
    let said = undo(&house, &[]);
    assert!(said.contains("Undone: 1 path.") && said.contains("  a.txt (changed since)"), "{said}");
    assert_eq!(house.in_workspace("a.txt"), "mine");
    assert!(!house.workspace().join("b.txt").exists());
    house.is_whole();
}

#[test]
fn an_undo_is_taken_back() {
    let house = house();
    house.claw(&["ask", "write `one` to a.txt"]).expect(0);
    house.claw(&["ask", "write `two` to a.txt and write `new` to b.txt"]).expect(0);
    let turns = picture(&house.workspace());
    undo(&house, &[]);
    assert_eq!(house.in_workspace("a.txt"), "one");
    assert!(undo(&house, &["--redo"]).contains("The undo is taken back: 2 paths."));
    assert_eq!(picture(&house.workspace()), turns);
    house.claw(&["undo", "--redo", "--yes"]).expect_mistake(&["nothing was undone"]);
    // And undone once more.
    undo(&house, &[]);
    assert_eq!(house.in_workspace("a.txt"), "one");
    assert_eq!(picture(&house.workspace()).len(), 1);
    house.is_whole();
}

#[test]
fn a_turn_that_goes_on_is_not_undone() {
    let house = house();
    house.write("policy.toml", EDITS_RUN);
    let asked = "write `one` to a.txt, then run `echo x > b.txt`";
    let id = house.ask_parks(asked);
    let refused = house.claw(&["undo", "--yes"]).expect_mistake(&[&id, "claw approvals"]);
    assert_eq!(house.in_workspace("a.txt"), "one", "{refused:?}");
    // Also by a session that works in the same workspace and has ended.
    house.claw(&["ask", "--session", "other", "write `c` to c.txt"]).expect(0);
    house
        .claw(&["undo", &newest(&house), "--yes"])
        .expect_mistake(&["main:", "waits for an answer"]);
    house.claw(&["deny", &id]).expect(0);
    undo(&house, &[]);
    house.is_whole();
}

#[test]
fn a_turn_that_a_kill_has_cut_keeps_its_beginning() {
    let house = house();
    house.claw(&["ask", "write `old` to a.txt"]).expect(0);
    let before = picture(&house.workspace());
    let killed = house.start(&["ask", "write `new` to a.txt, then run `sleep 600`"]);
    eventually("the command runs", || killed.err().contains("running: bash"));
    killed.signal(Signal::KILL);
    drop(killed.ends());
    assert_eq!(house.in_workspace("a.txt"), "new");
    house.claw(&["undo", "--yes"]).expect_mistake(&["has not ended"]);
    // Whoever takes the session up ends that turn first.
    house.claw(&["ask", "--own-turn", "list"]).expect(0);
    undo(&house, &[]);
    assert_eq!(picture(&house.workspace()), before);
    house.is_whole();
}

/// A kill in the middle leaves each file as it was or as it is to be, and the next command that
/// looks finishes it.
#[test]
fn an_undo_that_a_kill_has_cut_is_finished() {
    const FILES: usize = 3000;
    let house = house();
    house.claw(&["ask", "list"]).expect(0);
    for file in 0..FILES {
        fs::write(house.workspace().join(format!("{file}.txt")), "old").unwrap();
    }
    let before = picture(&house.workspace());
    let change = "for f in *.txt; do echo new > $f; done";
    house.claw(&["ask", &format!("run `{change}`")]).expect(0);
    assert_ne!(picture(&house.workspace()), before);
    let turn = newest(&house);
    let killed = house.start(&["undo", "--yes", &turn]);
    // Files are being made ready, or it is over already.
    eventually("the undo is at work", || {
        let staging = |name: &str| name.starts_with(".undo.") && name.ends_with(".part");
        let names = fs::read_dir(house.workspace()).unwrap();
        let mut names = names.filter_map(|it| it.ok()?.file_name().into_string().ok());
        names.any(|name| staging(&name)) || killed.out().contains("Undone")
    });
    killed.signal(Signal::KILL);
    drop(killed.ends());
    for (path, what) in picture(&house.workspace()) {
        let is_half = path.extension().is_some_and(|it| it == "txt")
            && path.components().count() == 1
            && !what.ends_with("old")
            && !what.ends_with("new\\n");
        assert!(!is_half, "{path:?} is neither: {what:?}");
    }
    // The doctor names it, if it was cut behind its note and before its end.
    let folder = fs::read_dir(house.home().join("snapshots")).unwrap().next().unwrap().unwrap();
    let is_cut = ["undo.json", "untold.json"].iter().any(|name| folder.path().join(name).exists());
    let doctor = house.claw(&["doctor", "--json"]).rows();
    let of = |id: &str| doctor.iter().filter(|row| row["id"] == id).count();
    assert_eq!((of("undo"), of("snapshots")), (usize::from(is_cut), 1), "{doctor:?}");
    // It may have been cut before anything was noted, and then has not begun.
    let again = house.claw(&["undo", "--yes", &turn]);
    assert!(matches!(again.code, Some(0 | 2)), "{again:?}");
    // What was begun has an end in the audit, too, and the next start has said what came of it.
    let audited = house.audit();
    let of = |kind: &str| -> Vec<&Value> {
        audited.iter().filter(|row| row["kind"] == kind).map(|row| &row["body"]).collect()
    };
    assert_eq!(of("undo.started").len(), of("undo.ended").len(), "{audited:?}");
    assert_eq!(again.err.contains("was cut"), of("undo.ended")[0]["cut"] == true, "{again:?}");
    let changed = |body: &&Value| body["changed"].as_u64().unwrap();
    assert_eq!(of("undo.ended").iter().map(changed).sum::<u64>(), FILES as u64, "{audited:?}");
    assert_eq!(picture(&house.workspace()), before);
    house.is_whole();
}

/// As a kill leaves it that comes behind the note that an undo is being taken back, and before the
/// first file.
#[test]
fn taking_an_undo_back_that_was_cut_before_its_first_file_can_be_done_again() {
    let house = house();
    house.claw(&["ask", "write `new` to a.txt"]).expect(0);
    undo(&house, &[]);
    let folder = fs::read_dir(house.home().join("snapshots")).unwrap().next().unwrap().unwrap();
    let mut records = fs::read_dir(folder.path().join("turns")).unwrap().flatten();
    let record = records.find(|it| it.path().to_string_lossy().ends_with(".undo.json")).unwrap();
    let mut cut: Value = serde_json::from_slice(&fs::read(record.path()).unwrap()).unwrap();
    assert_eq!(cut["state"]["changed"], 1, "{cut}");
    cut["state"] = serde_json::json!({"kind": "redoing", "changed": 1});
    fs::write(record.path(), cut.to_string()).unwrap();
    let untold = serde_json::json!({"by": "console:uid:0", "turn": cut["turn"], "redo": true, "undo": null,
        "record": cut["number"], "paths": 1, "audit": 0});
    fs::write(folder.path().join("untold.json"), untold.to_string()).unwrap();
    let said = house.claw(&["ask", "list"]).expect(0).err;
    // The audit has the end of the undo that this one takes back, so it has nothing to add.
    assert!(!said.contains("cut"), "{said}");
    assert!(!house.workspace().join("a.txt").exists());
    undo(&house, &["--redo"]);
    assert_eq!(house.in_workspace("a.txt"), "new");
    assert!(!folder.path().join("untold.json").exists());
    house.is_whole();
}

#[test]
fn turns_of_all_kinds_of_changes_are_undone_one_by_one() {
    let house = house();
    house.claw(&["ask", "list"]).expect(0);
    let workspace = house.workspace();
    for file in 0..200 {
        let folder = workspace.join(format!("d{}", file % 7));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{file}")), format!("{file}")).unwrap();
    }
    let turns = [
        "chmod 700 d0/0 && chmod 600 d0/7",
        "mv d1 e1",
        "rm -r d2",
        "ln -s e1 link && ln -s nowhere dangling",
        "mkdir -p deep/er/still && echo x > deep/er/still/f",
        "rm e1/1 && mkdir e1/1 && echo in > e1/1/x",
        "rm link && echo file > link",
        "mv d3 d4/inside && rm dangling",
        "for n in 1 2 3 4 5; do echo $n >> d5/new$n; done && echo more >> d5/5",
        "printf name > 'a name with  spaces' && mv deep shallow",
    ];
    let mut pictures = vec![picture(&workspace)];
    for change in turns {
        house.claw(&["ask", &format!("run `{change}`")]).expect(0);
        let now = picture(&workspace);
        assert_ne!(Some(&now), pictures.last(), "{change}");
        pictures.push(now);
    }
    for (turn, change) in turns.iter().enumerate().rev() {
        undo(&house, &[]);
        assert_eq!(picture(&workspace), pictures[turn], "{change}");
    }
    house.is_whole();
}

#[test]
fn a_workspace_over_the_limit_is_changed_and_the_turn_says_that_there_is_no_way_back() {
    let house = house();
    house.write("claw.toml", "[limits]\nundo_files_max = 3\n");
    house.claw(&["ask", "list"]).expect(0);
    for file in 0..4 {
        fs::write(house.workspace().join(format!("{file}")), "x").unwrap();
    }
    let ran = house.claw(&["ask", "write `one` to a.txt and write `two` to b.txt"]).expect(0);
    assert_eq!(house.in_workspace("a.txt"), "one");
    let told = "This turn's changes cannot be undone: the workspace has more than 3 files";
    assert_eq!(ran.err.matches(told).count(), 1, "{ran:?}");
    house.claw(&["undo", "--yes"]).expect_mistake(&["cannot be undone", "limits.undo_files_max"]);
    house.is_whole();
}

/// What `.gitignore` names is build output: neither counted nor touched.
#[test]
fn build_output_is_neither_remembered_nor_touched() {
    let house = house();
    house.write("claw.toml", "[limits]\nundo_files_max = 10\n");
    house.claw(&["ask", "list"]).expect(0);
    fs::write(house.workspace().join(".gitignore"), "target\n").unwrap();
    house
        .claw(&[
            "ask",
            "run `mkdir target; for n in $(seq 50); do echo $n > target/$n; done; echo x > a`",
        ])
        .expect(0);
    undo(&house, &[]);
    assert!(!house.workspace().join("a").exists());
    assert_eq!(fs::read_dir(house.workspace().join("target")).unwrap().count(), 50);
    house.is_whole();
}

/// The snapshots lie where no tool comes, and are their owner's alone.
#[test]
fn snapshots_are_out_of_the_reach_of_tools() {
    let house = house();
    house.claw(&["ask", "write `one` to a.txt"]).expect(0);
    let folder = house.home().join("snapshots");
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    let listed = house.claw(&["ask", &format!("run `ls {}`", folder.display())]).expect(0);
    assert!(!format!("{listed:?}").contains("exit code 0"), "{listed:?}");
    let read = house.claw(&["ask", &format!("list {}", folder.display())]).expect(0);
    assert!(!read.out.contains("workspace.json"), "{read:?}");
    house.is_whole();
}

#[test]
fn a_question_whose_time_is_over_is_not_listed_and_keeps_no_turn_from_being_undone() {
    let house = house();
    house.write("policy.toml", EDITS_RUN);
    let id = house.ask_parks("write `one` to a.txt, then run `echo x > b.txt`");
    house.db().execute("UPDATE approvals SET expires_ms = 1", []).unwrap();
    let listed = house.claw(&["approvals", "--json"]).expect(0);
    assert!(listed.out.is_empty(), "{listed:?}");
    let shown = house.claw(&["approvals", &id]).expect(0).out;
    assert!(shown.contains("Its time is over") && !shown.contains("claw approve"), "{shown}");
    let told = house.claw(&["audit", "explain", &id]).expect(0).out;
    assert!(told.contains("the time of its question is over"), "{told}");
    // No model goes on with what is to be undone.
    let undone = house.claw(&["undo", "--yes"]).expect(0);
    let why = format!("Nobody answered the question {id} in time");
    assert!(undone.err.contains(&why) && undone.out.contains("Undone: 1 path."), "{undone:?}");
    assert!(picture(&house.workspace()).is_empty());
    assert!(!house.claw(&["audit", "explain", &id]).expect(0).out.contains("waits"));
    house.is_whole();
}

/// The change goes on, and is not silent about it.
#[test]
fn a_workspace_that_cannot_be_remembered_is_changed_and_the_turn_says_why() {
    let house = house();
    house.claw(&["ask", "list"]).expect(0);
    house.write("snapshots", "a file where the folder should be");
    let ran = house.claw(&["ask", "write `one` to a.txt"]).expect(0);
    assert_eq!(house.in_workspace("a.txt"), "one");
    let told = "This turn's changes cannot be undone: ";
    assert_eq!(ran.err.matches(told).count(), 1, "{ran:?}");
    // As soon as there is room again, turns are remembered again.
    fs::remove_file(house.home().join("snapshots")).unwrap();
    house.claw(&["ask", "write `two` to b.txt"]).expect(0);
    undo(&house, &[]);
    assert_eq!(
        (house.in_workspace("a.txt"), house.in_workspace("b.txt")),
        ("one".into(), String::new())
    );
    house.is_whole();
}

#[test]
fn a_chat_shows_what_would_change_and_does_it_by_a_line_that_names_the_turn() {
    let house = house();
    house.claw(&["ask", "write `one` to a.txt"]).expect(0);
    house.claw(&["ask", "--session", "other", "write `two` to b.txt"]).expect(0);
    // The newest turn is another conversation's.
    let rows = house.claw(&["undo", "--list", "--json"]).expect(0).rows();
    let turn = rows[1]["id"].as_str().unwrap().to_owned();
    let number = turn.strip_prefix("main:").unwrap();
    let shown = house.claw_with_stdin(&["chat"], b"/undo files\n/quit\n").expect(0).out;
    let says = [&format!("Undoing the turn {turn} changes 1 path"), "remove   a.txt", number];
    assert!(says.iter().all(|words| shown.contains(words)), "{shown}");
    assert_eq!(house.in_workspace("a.txt"), "one");
    let yes = format!("/undo files {number} yes\n/undo files {number} yes\n/quit\n");
    let said = house.claw_with_stdin(&["chat"], yes.as_bytes()).expect(0).out;
    assert!(said.contains("Undone: 1 path.") && said.contains("is undone already"), "{said}");
    assert!(!house.workspace().join("a.txt").exists());
    assert_eq!(house.in_workspace("b.txt"), "two");
    house.claw_with_stdin(&["chat"], b"/undo files redo yes\n/quit\n").expect(0);
    assert_eq!(house.in_workspace("a.txt"), "one");
    house.is_whole();
}
