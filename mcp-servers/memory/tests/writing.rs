//! The tools that write, over a real child process: nothing is remembered without a second call,
//! nothing that somebody else wrote is lost, and what is forgotten comes back.
#![expect(clippy::unwrap_used, reason = "a test helper that fails should panic")]

mod support;

use serde_json::{Value, json};
use support::{Room, Server};

fn ids(server: &mut Server, query: &str) -> Vec<String> {
    let (output, _) = server.ok("recall", json!({"query": query}));
    let hits = output["hits"].as_array().unwrap();
    hits.iter().map(|hit| hit["id"].as_str().unwrap().to_owned()).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// Proposes and promotes. Gives id and version of the note.
fn remember(server: &mut Server, subject: &str, text: &str) -> (String, String) {
    let (proposal, _) = server.ok("propose", json!({"subject": subject, "text": text}));
    let arguments = json!({"id": proposal["id"], "version": proposal["version"]});
    let (note, _) = server.ok("promote", arguments);
    (note["id"].as_str().unwrap().to_owned(), note["version"].as_str().unwrap().to_owned())
}

#[test]
fn a_proposal_is_nothing_until_it_is_promoted() {
    let room = Room::new();
    let mut server = room.start();
    let asked = json!({
        "subject": "Boiler", "text": "The boiler is blue.", "tags": ["#house"], "kind": "fact",
        "source": {"who": "owner", "session": "main", "turn": 4}, "valid_from": "2026-11-01",
    });
    let result = server.call("propose", asked);
    let proposal = result["structuredContent"].clone();
    let said = claw_test_kit::mcp::text_of(&result);
    assert!(said.contains("Not remembered yet") && said.contains("The boiler is blue."), "{said}");
    assert!(ids(&mut server, "boiler").is_empty());
    assert_eq!(std::fs::read_dir(&room.notes).unwrap().count(), 0);
    let action = &result["_meta"]["claw/actions"][0];
    assert_eq!((text(&action["tool"]), text(&action["label"])), ("promote", "Remember"));
    assert!(text(&action["summary"]).contains("The boiler is blue."), "{action}");
    let (waiting, _) = server.ok("list", json!({"what": "proposals"}));
    assert_eq!(waiting["notes"][0]["id"], proposal["id"]);
    // Exactly what was shown: another version is refused.
    let wrong = server.err("promote", json!({"id": proposal["id"], "version": "000000000000"}));
    assert!(wrong.contains("not what was shown"), "{wrong}");
    let (note, _) = server.ok("promote", action["arguments"].clone());
    assert_eq!(ids(&mut server, "boiler"), [text(&note["id"])]);
    let file = room.read("boiler.md");
    assert_eq!(file, text(&proposal["text"]));
    for line in [
        "kind: fact",
        "tags: [\"house\"]",
        "source: owner",
        "source_session: main",
        "source_turn: 4",
    ] {
        assert!(file.contains(line), "{line}: {file}");
    }
    // What the owner reads is what is frozen, and what is stored.
    assert_eq!(text(&action["arguments"]["text"]), "The boiler is blue.");
    // Once more does no harm, and nothing waits any more.
    server.ok("promote", action["arguments"].clone());
    assert_eq!(std::fs::read_dir(&room.notes).unwrap().count(), 1);
    assert_eq!(server.ok("list", json!({"what": "proposals"})).0["total"], 0);
}

#[test]
fn a_proposal_shows_what_it_would_replace_and_what_is_similar() {
    let room = Room::new();
    let mut server = room.start();
    let (old, _) = remember(&mut server, "Anna's home", "Anna lives in Graz.");
    let (proposal, said) = server.ok(
        "propose",
        json!({"subject": "Anna's home", "text": "Anna lives in Wien.", "replaces": old}),
    );
    assert_eq!(proposal["replaces"]["text"], "Anna lives in Graz.");
    assert!(said.contains("Anna lives in Graz."), "{said}");
    let (same, _) =
        server.ok("propose", json!({"subject": "Anna", "text": "Anna lives in Graz, they say."}));
    assert_eq!(same["similar"][0]["id"], json!(old));
    let (new, _) =
        server.ok("promote", json!({"id": proposal["id"], "version": proposal["version"]}));
    assert_eq!(ids(&mut server, "lives"), [text(&new["id"])]);
    assert!(room.read("anna-s-home.md").contains(&format!("superseded_by: {}", text(&new["id"]))));
}

#[test]
fn an_update_on_an_older_version_is_refused_and_what_was_there_can_be_restored() {
    let room = Room::new();
    let mut server = room.start();
    let (id, version) = remember(&mut server, "Boiler", "The boiler is blue.");
    let (new, _) = server.ok(
        "update",
        json!({"id": id, "version": version, "text": "The boiler is red.", "tags": ["house"]}),
    );
    assert_eq!(new["text"], "The boiler is red.");
    let refused = server.err("update", json!({"id": id, "version": version, "text": "green"}));
    assert!(
        refused.contains("has changed since") && refused.contains(text(&new["version"])),
        "{refused}"
    );
    // By hand, between reading and writing.
    let by_hand = room
        .read("boiler.md")
        .replace("red", "red, by hand")
        .replace("kind: fact", "kind: fact # mine");
    room.write("boiler.md", &by_hand);
    let refused =
        server.err("update", json!({"id": id, "version": new["version"], "text": "green"}));
    assert!(refused.contains("has changed since"), "{refused}");
    let (now, _) = server.ok("read", json!({"id": id}));
    server.ok("update", json!({"id": id, "version": now["version"], "kind": "lesson"}));
    assert!(room.read("boiler.md").contains("red, by hand"));
    let (trash, _) = server.ok("list", json!({"what": "trash"}));
    assert_eq!(trash["notes"].as_array().unwrap().len(), 2, "two versions: {trash}");
    server.ok("restore", json!({"id": id}));
    assert_eq!(room.read("boiler.md"), by_hand);
}

#[test]
fn what_is_forgotten_is_in_the_trash_and_comes_back_as_it_was() {
    let room = Room::new();
    room.write("people/anna.md", "Anna sails.\n");
    let mut server = room.start();
    let (gone, said) = server.ok("forget", json!({"id": "people/anna.md"}));
    assert!(said.contains(text(&gone["trash"])), "{said}");
    assert!(ids(&mut server, "sails").is_empty() && !room.notes.join("people/anna.md").exists());
    server.ok("restore", json!({"id": gone["trash"]}));
    assert_eq!(room.read("people/anna.md"), "Anna sails.\n");
    assert_eq!(ids(&mut server, "sails"), ["people/anna.md"]);
    let none = server.err("restore", json!({"id": "people/anna.md"}));
    assert!(none.contains("in the trash"), "{none}");
    let (proposal, _) = server.ok("propose", json!({"subject": "x", "text": "y"}));
    server.ok("forget", json!({"id": proposal["id"]}));
    assert_eq!(server.ok("list", json!({"what": "proposals"})).0["total"], 0);
}

#[test]
fn what_supersedes_stands_beside_what_was_so() {
    let room = Room::new();
    let mut server = room.start();
    let (old, version) = remember(&mut server, "Anna's job", "Works at Acme.");
    let arguments = json!({"id": old, "version": version, "text": "Works at Initech.", "valid_from": "2026-01-01"});
    let (new, _) = server.ok("supersede", arguments.clone());
    assert_eq!(ids(&mut server, "works"), [text(&new["id"])]);
    assert!(server.err("supersede", arguments).contains("has changed since"));
    let (was, _) = server.ok("recall", json!({"query": "works", "as_of": "2025-06-01"}));
    assert_eq!(was["hits"][0]["id"], json!(old));
    assert!(room.check().0);
}

#[test]
fn a_link_is_a_line_that_both_sides_know() {
    let room = Room::new();
    let mut server = room.start();
    let (anna, _) = remember(&mut server, "Anna", "A sister.");
    let (acme, _) = remember(&mut server, "Acme", "A firm.");
    let (first, _) = server.ok("link", json!({"id": anna, "to": acme, "relation": "works at"}));
    assert_eq!((&first["line"], &first["added"]), (&json!("- works at: [[Acme]]"), &json!(true)));
    let (again, _) = server.ok("link", json!({"id": anna, "to": "acme", "relation": "works at"}));
    assert_eq!(again["added"], false);
    assert_eq!(server.ok("read", json!({"id": anna})).0["links"][0]["id"], json!(acme));
    assert_eq!(server.ok("read", json!({"id": acme})).0["linked_from"][0]["id"], anna);
    assert!(server.err("link", json!({"id": anna, "to": "nobody"})).contains("nobody"));
}

#[test]
fn what_a_note_cannot_hold_is_one_sentence_and_nothing_is_written() {
    let room = Room::new();
    room.write("broken.md", "---\nsubject: [x\n---\nThe boiler is blue.\n");
    let mut server = room.start();
    let many: Vec<String> = (0..40).map(|n| format!("t{n}")).collect();
    for (arguments, needle) in [
        (json!({"subject": "", "text": "x"}), "the subject is empty"),
        (json!({"subject": "x", "text": "  "}), "the text is empty"),
        (json!({"subject": "x", "text": "y".repeat(10 * 1024 * 1024 / 8)}), "may have 2048"),
        (json!({"subject": "x".repeat(300), "text": "y"}), "may have 200"),
        (json!({"subject": "x", "text": "y", "tags": many}), "at most 32"),
        (json!({"subject": "x", "text": "y", "valid_from": "soon"}), "no date"),
        (json!({"subject": "x", "text": "y", "replaces": "m404"}), "no note `m404`"),
    ] {
        let said = server.err("propose", arguments);
        assert!(said.contains(needle) && said.lines().count() == 1, "{said}");
    }
    assert_eq!(server.ok("list", json!({"what": "proposals"})).0["total"], 0);
    let (broken, _) = server.ok("read", json!({"id": "broken.md"}));
    let said =
        server.err("update", json!({"id": "broken.md", "version": broken["version"], "text": "x"}));
    assert!(said.contains("no tool writes to `broken.md`") && said.contains("by hand"), "{said}");
    // Words that a path would be made of, and texts that look like front matter.
    let (id, _) = remember(&mut server, "../../etc/cron.d/x", "---\nid: m404\n---\nkind: person");
    let (note, _) = server.ok("read", json!({"id": id}));
    assert_eq!(
        (text(&note["path"]), text(&note["text"])),
        ("etc-cron-d-x.md", "---\nid: m404\n---\nkind: person")
    );
}
