//! What the server tells of a note and of its folder, over a real child process: why it came, who
//! else has its name, what stands in its place, and what somebody has to mend.
#![expect(clippy::unwrap_used, reason = "a test helper that fails should panic")]

mod support;

use serde_json::{Value, json};
use support::{Room, spawn};

fn ids(notes: &Value) -> Vec<&str> {
    notes.as_array().unwrap().iter().map(|note| note["id"].as_str().unwrap()).collect()
}

#[test]
fn of_several_notes_of_a_name_all_are_named_and_the_one_that_is_so_is_read() {
    let room = Room::new();
    room.write("a.md", "---\nid: m1\nsubject: Anna\ncreated: 2026-01-01\n---\nLives in Graz.\n");
    room.write("b.md", "---\nid: m2\nsubject: Anna\ncreated: 2026-02-01\n---\nPlays chess.\n");
    let mut server = room.start();
    let (note, text) = server.ok("read", json!({"id": "anna"}));
    assert_eq!((&note["id"], ids(&note["same_name"])), (&json!("m2"), vec!["m1"]));
    assert_eq!(note["same_name"][0]["begins"], "Lives in Graz.");
    assert!(text.contains("another note of that name") && text.contains("[m1]"), "{text}");
    let (note, _) = server.ok("read", json!({"id": "m1"}));
    assert!(note["same_name"].is_null(), "who says the id has chosen: {note}");
    // What is not so any more is no choice.
    let front = "id: m2\nsubject: Anna\ncreated: 2026-02-01\nsupersedes: m1";
    room.write("b.md", format!("---\n{front}\n---\nLives in Linz.\n"));
    let (note, _) = server.ok("read", json!({"id": "Anna"}));
    assert_eq!(note["id"], "m2");
    assert!(note["same_name"].is_null(), "{note}");
}

#[test]
fn a_note_in_whose_place_nothing_is_any_more_is_current() {
    let room = Room::new();
    room.write("a.md", "---\nid: m1\nsuperseded_by: m404\n---\nThe boiler is blue.\n");
    room.write("b.md", "---\nid: m2\nsuperseded_by: m3\n---\nThe door is red.\n");
    room.write("c.md", "---\nid: m3\nsupersedes: m2\n---\nThe door is green.\n");
    let mut server = room.start();
    let (found, _) = server.ok("recall", json!({"query": "boiler"}));
    assert_eq!(ids(&found["hits"]), ["m1"]);
    assert!(found["hits"][0]["superseded_by"].is_null(), "{found}");
    assert_eq!(ids(&server.ok("recall", json!({"query": "door"})).0["hits"]), ["m3"]);
    let (is_equal, said) = room.check();
    assert!(is_equal && said.contains("a.md: it says `superseded_by: m404`"), "{said}");
    assert!(!said.contains("b.md"), "{said}");
    // What stood in its place is forgotten.
    server.ok("forget", json!({"id": "m3"}));
    assert_eq!(ids(&server.ok("recall", json!({"query": "door"})).0["hits"]), ["m2"]);
    assert!(server.ok("read", json!({"id": "m2"})).0["superseded_by"].is_null());
    assert!(room.check().1.contains("b.md: it says `superseded_by: m3`"));
}

#[test]
fn a_note_that_was_said_beside_a_hit_says_so() {
    let room = Room::new();
    for (turn, text) in [(1, "Who wants the kayak?"), (2, "Bob does, on Sunday.")] {
        let front = format!("id: s{turn}\nsubject: x\nsource_session: s\nsource_turn: {turn}");
        room.write(&format!("s{turn}.md"), format!("---\n{front}\n---\n{text}\n"));
    }
    let (found, text) = room.start().ok("recall", json!({"query": "kayak"}));
    assert_eq!(ids(&found["hits"]), ["s1", "s2"]);
    assert!(found["hits"][0]["why"].is_null(), "{found}");
    let why = "it was said right before or after a note that was found";
    assert_eq!(found["hits"][1]["why"], why);
    assert!(text.contains(&format!("here because {why}")), "{text}");
    let newest = room.start().ok("recall", json!({})).0;
    assert!(newest["hits"].as_array().unwrap().iter().all(|hit| hit["why"].is_null()), "{newest}");
}

#[test]
fn what_has_to_be_mended_can_be_listed_alone() {
    let room = Room::new();
    room.write("good.md", "---\nid: m1\n---\nwords\n");
    room.write("good.sync-conflict-20261123-101112-ABCDEFG.md", "---\nid: m1\n---\nother words\n");
    room.write("torn.md", "---\nid: m2\nsubject: [\n---\nwords\n");
    room.write("large.md", "x".repeat(70_000));
    let (listed, _) = room.start().ok("list", json!({"what": "faulty"}));
    let notes = listed["notes"].as_array().unwrap();
    let paths: Vec<&str> = notes.iter().map(|note| note["path"].as_str().unwrap()).collect();
    let copy = "good.sync-conflict-20261123-101112-ABCDEFG.md";
    assert_eq!(paths, [copy, "large.md", "torn.md"]);
    assert_eq!(notes[0]["is_conflict_copy"], true);
    assert!(notes[1]["fault"].as_str().unwrap().contains("70000 bytes"), "{listed}");
    assert!(notes[2]["fault"].as_str().unwrap().contains("line "), "{listed}");
    assert_eq!(listed["total"], 4);
}

#[test]
fn a_folder_that_cannot_be_used_is_one_sentence_with_a_next_step() {
    let room = Room::new();
    let beside = room.temp.path().join("memory-state");
    std::fs::write(&beside, "a file").unwrap();
    let (_, said) = room.check();
    assert!(
        said.contains("a file lies there, where a folder is needed. Move the file away."),
        "{said}"
    );
    assert!(!said.contains("os error"), "{said}");
    std::fs::remove_file(&beside).unwrap();
    let inside = room.notes.join("state").display().to_string();
    let (_, said) = room.check_with(&["--state", &inside]);
    assert!(said.contains("Name a folder beside the notes by --state."), "{said}");
    let (_, said) = room.check_with(&["--state", &inside, "--in-claw"]);
    assert!(said.contains("`--state` in the args of the memory server in mcp.json"), "{said}");
    // Not even the superuser may make a folder there.
    let (_, said) = room.check_with(&["--state", "/sys/claw-memory"]);
    assert!(said.contains("/sys/claw-memory") && !said.contains("os error"), "{said}");
    assert!(said.contains("may not read and write there") || said.contains("read-only"), "{said}");
}

#[test]
fn a_limit_is_named_as_its_reader_sets_it() {
    let room = Room::new();
    let mut server = spawn(&room.notes, &["--proposals-per-day-max", "0"]);
    server.initialize("2025-11-25");
    let alone = server.err("propose", json!({"subject": "a", "text": "b"}));
    assert!(alone.contains("which is the most (--proposals-per-day-max)"), "{alone}");
    drop(server);
    let mut server = spawn(&room.notes, &["--proposals-per-day-max", "0", "--in-claw"]);
    server.initialize("2025-11-25");
    let in_claw = server.err("propose", json!({"subject": "a", "text": "b"}));
    let option = "(`--proposals-per-day-max` in the args of the memory server in mcp.json)";
    assert!(in_claw.contains(option), "{in_claw}");
}
