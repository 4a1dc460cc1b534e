//! Files that somebody else writes, over a real child process: what a person, git and sync tools do
//! to the folder is in the next answer.
#![expect(clippy::unwrap_used, reason = "a test helper that fails should panic")]

mod support;

use serde_json::json;
use support::{Room, Server};

fn ids(server: &mut Server, query: &str) -> Vec<String> {
    let (output, _) = server.ok("recall", json!({"query": query}));
    let hits = output["hits"].as_array().unwrap();
    hits.iter().map(|hit| hit["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn changes_by_hand_are_in_the_next_answer() {
    let room = Room::new();
    let mut server = room.start();
    assert!(ids(&mut server, "boiler").is_empty());
    room.write("house.md", "The boiler is blue.");
    assert_eq!(ids(&mut server, "boiler"), ["house.md"]);
    room.write("house.md", "The roof is blue.");
    assert!(ids(&mut server, "boiler").is_empty());
    assert_eq!(ids(&mut server, "roof"), ["house.md"]);
    std::fs::rename(room.notes.join("house.md"), room.notes.join("home.md")).unwrap();
    assert_eq!(ids(&mut server, "roof"), ["home.md"]);
    room.remove("home.md");
    assert!(ids(&mut server, "roof").is_empty());
    // A folder that comes with its notes, one in it later, and one that goes with them.
    room.write("people/family/anna.md", "Anna sails.");
    assert_eq!(ids(&mut server, "sails"), ["people/family/anna.md"]);
    room.write("people/family/bob.md", "Bob sails.");
    assert_eq!(ids(&mut server, "sails").len(), 2);
    std::fs::rename(room.notes.join("people"), room.temp.path().join("away")).unwrap();
    assert!(ids(&mut server, "sails").is_empty());
    std::fs::rename(room.temp.path().join("away"), room.notes.join("back")).unwrap();
    assert_eq!(ids(&mut server, "bob"), ["back/family/bob.md"]);
    drop(server);
    assert!(room.check().0, "{}", room.check().1);
}

#[test]
fn changes_while_no_server_runs_are_found_at_the_start() {
    let room = Room::new();
    room.write("a.md", "apples");
    room.write("b.md", "bananas");
    assert!(room.check().0);
    room.remove("a.md");
    // The same length in the same moment: no stamp tells it.
    room.write("b.md", "cherrie");
    let mut server = room.start();
    assert!(ids(&mut server, "apples").is_empty() && ids(&mut server, "bananas").is_empty());
    assert_eq!(ids(&mut server, "cherrie"), ["b.md"]);
}

#[test]
fn a_conflict_copy_is_shown_and_found_once() {
    let room = Room::new();
    room.write("anna.md", "---\nid: m1\n---\nAnna sails.");
    room.write(
        "anna.sync-conflict-20261123-101112-ABCDEFG.md",
        "---\nid: m1\n---\nAnna sails a lot.",
    );
    room.write("bob.md", "Bob sails.");
    room.write("bob (Eve's conflicted copy 2026-11-23).md", "Bob sails a lot.");
    room.write("sub/same-id.md", "---\nid: m1\n---\nAnna sails, moved by hand.");
    let mut server = room.start();
    let mut found = ids(&mut server, "sails");
    found.sort();
    assert_eq!(found, ["bob.md", "m1"]);
    let (list, _) = server.ok("list", json!({}));
    let copies = list["notes"].as_array().unwrap();
    let copies: Vec<_> = copies.iter().filter(|note| note["is_conflict_copy"] == true).collect();
    assert_eq!(copies.len(), 3, "{list}");
    let (anna, text) = server.ok("read", json!({"id": "m1"}));
    assert_eq!(anna["conflict_copies"].as_array().unwrap().len(), 2);
    assert!(text.contains("merge by hand"), "{text}");
    // Each can be read by its path, and stands for the note when the original goes.
    let copy = "anna.sync-conflict-20261123-101112-ABCDEFG.md";
    assert_eq!(server.ok("read", json!({"id": copy})).0["text"], "Anna sails a lot.");
    room.remove("anna.md");
    room.remove("sub/same-id.md");
    assert_eq!(server.ok("read", json!({"id": "m1"})).0["path"], copy);
    assert!(room.check().1.contains("bob (Eve's conflicted copy 2026-11-23).md: a conflict copy"));
}

/// A tool that knows nothing of our front matter writes a copy without it.
#[test]
fn a_conflict_copy_without_front_matter_is_one_of_a_note_that_has_an_id() {
    let room = Room::new();
    room.write("anna.md", "---\nid: m1\n---\nAnna sails.");
    let copy = "anna (Bob's conflicted copy 2026-11-26).md";
    room.write(copy, "Anna sails a lot.");
    let mut server = room.start();
    assert_eq!(ids(&mut server, "sails"), ["m1"]);
    let (anna, _) = server.ok("read", json!({"id": "m1"}));
    assert_eq!(anna["conflict_copies"], json!([copy]));
    let (faulty, text) = server.ok("list", json!({"what": "faulty"}));
    assert_eq!(faulty["notes"][0]["path"], copy, "{text}");
    assert!(text.contains("merge it by hand"), "{text}");
    assert!(room.check().1.contains("a conflict copy of `anna.md`"), "{}", room.check().1);
    // Without the original it stands for the note.
    room.remove("anna.md");
    assert_eq!(ids(&mut server, "sails"), ["anna.md"]);
}

#[test]
fn what_cannot_be_understood_is_kept_found_and_told() {
    let room = Room::new();
    let broken = "---\nsubject: [never closed\n---\nThe boiler is blue.\n";
    room.write("broken.md", broken);
    room.write("latin1.md", b"caf\xe9 boiler");
    room.write("huge.md", "boiler ".repeat(10 * 1024 * 1024 / 7));
    std::os::unix::fs::symlink("/etc/passwd", room.notes.join("passwd.md")).unwrap();
    let mut server = room.start();
    let mut found = ids(&mut server, "boiler");
    found.sort();
    assert_eq!(found, ["broken.md", "latin1.md"]);
    let (list, text) = server.ok("list", json!({}));
    for needle in [
        "no YAML",
        "not UTF-8",
        "10485755 bytes",
        "more than one note may have",
        "passwd.md` is no note",
    ] {
        assert!(text.contains(needle), "{needle}: {text}");
    }
    assert_eq!(list["passed_over"][0]["path"], "passwd.md");
    assert!(ids(&mut server, "root").is_empty());
    assert_eq!(room.read("broken.md"), broken);
    let (is_equal, said) = room.check();
    assert!(is_equal && said.contains("huge.md: it has 10485755 bytes"), "{said}");
}

#[test]
fn an_index_that_is_damaged_or_gone_is_made_anew() {
    let room = Room::new();
    room.write("a.md", "apples");
    assert!(room.check().0);
    let index = room.temp.path().join("memory-state/index.db");
    std::fs::write(
        &index,
        "this is no database, and it is long enough to be read as one".repeat(100),
    )
    .unwrap();
    let (is_equal, said) = room.check();
    assert!(is_equal && said.contains("made anew"), "{said}");
    std::fs::remove_file(&index).unwrap();
    let mut server = room.start();
    assert_eq!(ids(&mut server, "apples"), ["a.md"]);
}

#[test]
fn index_proposals_and_trash_lie_outside_of_the_notes() {
    let room = Room::new();
    room.write("a.md", "apples");
    let mut server = room.start();
    assert_eq!(ids(&mut server, "apples").len(), 1);
    let inside: Vec<_> = std::fs::read_dir(&room.notes).unwrap().collect();
    assert_eq!(inside.len(), 1, "{inside:?}");
    assert!(room.temp.path().join("memory-state/index.db").exists());
}
