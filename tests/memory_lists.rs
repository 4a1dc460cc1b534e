//! What an owner reads of lists and mistakes at the command line: notes told apart, what the trash
//! can give back, a filter that leaves nothing, and errors that name the next command.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use crate::program::House;
use crate::pty::Pty;
use serde_json::Value;

fn ids(house: &House, words: &[&str]) -> Vec<String> {
    let rows = house.claw(&[&["memory", "list", "--json"], words].concat()).expect(0).rows();
    let id = |row: &Value| row["id"].as_str().unwrap().to_owned();
    rows.iter().map(id).collect()
}

fn remembers(house: &House, text: &str) {
    house.claw(&["memory", "add", text]).expect(0);
}

#[test]
fn everything_that_the_trash_lists_comes_back_and_the_rest_is_counted() {
    let house = House::new();
    house.claw(&["ask", "remember that Bob sails"]).expect(0);
    house.claw(&["deny", &house.waiting()]).expect(0);
    house.claw(&["ask", "remember that Carl cooks"]).expect(0);
    house.claw(&["approve", &house.waiting()]).expect(0);
    let trash = house.claw(&["memory", "list", "--trash"]).expect(0);
    assert_eq!(trash.out, "", "neither was a note that has gone: {trash:?}");
    assert!(trash.err.contains("2 closed proposals lie there, too"), "{trash:?}");
    remembers(&house, "Anna: Lives in Graz.");
    for id in ids(&house, &[]) {
        house.claw(&["memory", "forget", &id]).expect(0);
    }
    let gone = ids(&house, &["--trash"]);
    assert_eq!(gone.len(), 2);
    for id in &gone {
        house.claw(&["memory", "restore", id]).expect(0);
    }
    let mut back = ids(&house, &[]);
    back.sort();
    let mut gone = gone;
    gone.sort();
    assert_eq!(back, gone);
    house.is_whole();
}

#[test]
fn notes_of_one_subject_are_told_apart_at_every_width() {
    let house = House::new();
    remembers(&house, "Anna: Lives in Graz.");
    remembers(&house, &format!("Anna: Plays the cello, {}.", "the viola, ".repeat(12)));
    for (columns, of_a_note) in [(40_u16, 2), (80, 1)] {
        let shown = Pty::sized(&house, &["memory"], 24, columns).ends(0);
        let lines: Vec<&str> = shown.lines().map(str::trim_end).collect();
        assert_eq!(lines.len(), 2 * of_a_note, "{shown}");
        assert!(lines.iter().all(|line| line.chars().count() <= columns.into()), "{shown}");
        assert!(shown.contains("Anna: Lives in Graz."), "{shown}");
        let cut = lines.iter().find(|line| line.contains("Anna: Plays the cello")).unwrap();
        assert!(cut.ends_with('…'), "{shown}");
    }
    let piped = house.claw(&["memory"]).expect(0);
    assert!(piped.out.lines().count() == 2 && piped.out.contains("Plays the cello"), "{piped:?}");
    house.is_whole();
}

/// Its id is the path of the file that it is a copy of.
#[test]
fn a_conflict_copy_is_named_by_its_own_path_so_that_its_original_is_not_forgotten_for_it() {
    let house = House::new();
    let notes = house.home().join("memory");
    std::fs::create_dir_all(&notes).unwrap();
    let copy = "anna.sync-conflict-20261123-101112-ABCDEFG.md";
    std::fs::write(notes.join("anna.md"), "---\nid: m1\n---\nLives in Graz.\n").unwrap();
    std::fs::write(notes.join(copy), "Lives in Linz.\n").unwrap();
    let listed = house.claw(&["memory"]).expect(0).out;
    assert!(listed.contains(copy) && listed.contains("m1 "), "{listed}");
    assert!(!listed.contains("anna.md "), "{listed}");
    house.claw(&["memory", "forget", copy]).expect(0);
    assert!(notes.join("anna.md").exists() && !notes.join(copy).exists());
}

#[test]
fn a_filter_that_leaves_nothing_and_a_linked_note_are_named() {
    let house = House::new();
    let empty = house.claw(&["memory", "list", "--tag", "family"]).expect(0);
    assert!(empty.err.starts_with("Nothing is remembered yet."), "{empty:?}");
    remembers(&house, "Anna: Works at [[Acme]].");
    remembers(&house, "Acme: Makes anvils.");
    let none = house.claw(&["memory", "list", "--tag", "family"]).expect(0);
    let said = "No note has the tag family; `claw memory list` shows all 2.\n";
    assert_eq!((none.out.as_str(), none.err.as_str()), ("", said));
    let none = house.claw(&["memory", "list", "works", "--tag", "family"]).expect(0);
    assert_eq!(none.err, "No note with the tag family holds one of these words.\n");
    let found = house.claw(&["memory", "list", "anna"]).expect(0);
    let lines: Vec<&str> = found.out.lines().collect();
    assert!(lines.len() == 3 && lines[0].contains("Anna: Works at"), "{found:?}");
    assert!(lines[1].contains("Acme: Makes anvils."), "{found:?}");
    assert!(lines[2].starts_with("  ↳ it is linked from Anna"), "{found:?}");
    house.is_whole();
}

#[test]
fn a_mistake_names_the_command_that_helps_and_no_tool_of_a_model() {
    let house = House::new();
    remembers(&house, "Anna: Lives in Graz.");
    let anna = ids(&house, &[]).remove(0);
    let by_name = house.claw(&["memory", "show", "anna"]).expect(0);
    assert!(by_name.out.contains("Lives in Graz."), "a name is enough for one note: {by_name:?}");
    remembers(&house, "Anna: Plays the cello.");
    for (command, named) in [
        (&["forget", "Anna"][..], &["`Anna` is a name", &anna, "Lives in Graz."][..]),
        (&["show", "anna"], &["2 notes are named `anna`", &anna]),
        (&["edit", "Anna"], &["2 notes are named `Anna`", &anna]),
        (&["show", "m404"], &["`m404`", "`claw memory list`"]),
        (&["restore", "m404"], &["`m404`", "`claw memory list --trash`"]),
        (&["graph", "Nobody"], &["`Nobody`", "`claw memory list`", "`claw memory graph`"]),
        (&["add", ""], &["nothing to remember", "`claw memory add"]),
    ] {
        let ran = house.claw(&[&["memory"], command].concat()).expect_mistake(named);
        for tool in ["recall", "`list`", "propose"] {
            assert!(!ran.err.contains(tool), "{tool} is a model's: {ran:?}");
        }
    }
    house.claw(&["memory", "forget", &anna]).expect(0);
    house
        .claw(&["memory", "show", &anna])
        .expect_mistake(&[&format!("claw memory restore {anna}")]);
    house.claw(&["memory", "restore", "Anna"]).expect_mistake(&["is a name", &anna]);
    let kind = house.claw(&["memory", "list", "--kind", "foo"]).expect(2);
    assert!(kind.err.contains("possible values: fact, preference"), "{kind:?}");
    house.is_whole();
}
