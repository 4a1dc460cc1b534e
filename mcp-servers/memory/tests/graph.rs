//! The small knowledge graph over a real child process: what a query names brings what is linked to
//! it, by the thesaurus too, and none of it is more than was said.
#![expect(clippy::unwrap_used, reason = "a test helper that fails should panic")]

mod support;

use serde_json::{Value, json};
use support::{Room, Server};

/// Each hit with why it came, empty for one by words.
fn recall(server: &mut Server, arguments: Value) -> Vec<(String, String)> {
    let (output, text) = server.ok("recall", arguments);
    let hits = output["hits"].as_array().unwrap().iter();
    hits.map(|hit| {
        let why = hit["why"].as_str().unwrap_or_default().to_owned();
        assert!(text.contains(&format!("here because {why}")) || why.is_empty(), "{text}");
        (hit["id"].as_str().unwrap().to_owned(), why)
    })
    .collect()
}

fn ask(server: &mut Server, query: &str) -> Vec<(String, String)> {
    recall(server, json!({ "query": query }))
}

fn pairs(of: &[(&str, &str)]) -> Vec<(String, String)> {
    of.iter().map(|(id, why)| ((*id).to_owned(), (*why).to_owned())).collect()
}

fn family() -> Room {
    let room = Room::new();
    room.write("anna.md", "---\nid: m1\nsubject: Anna\naliases: [Annie]\ncreated: 2026-01-01\n---\nSails.\n- works at: [[Acme]]\n- friend of: [[Nobody]]");
    room.write("acme.md", "---\nid: m2\nsubject: Acme\ncreated: 2026-01-02\n---\nBuilds boats.");
    room.write(
        "trip.md",
        "---\nid: m3\nsubject: Summer\ncreated: 2026-01-03\n---\nGreece, with:\n- guest: [[annie]]",
    );
    room.write("far.md", "---\nid: m4\nsubject: Greece\ncreated: 2026-01-04\n---\nWarm.");
    room
}

#[test]
fn a_name_brings_its_neighbours_and_says_why() {
    let room = family();
    let mut server = room.start();
    let around = [("m2", "it is linked from Anna (works at)"), ("m3", "it links to Anna (guest)")];
    let wanted = pairs(&[&[("m1", "")], &around[..]].concat());
    assert_eq!(ask(&mut server, "What does ANNA do?"), wanted);
    // By another name, which does not stand in the words of the note beside it.
    assert_eq!(ask(&mut server, "and Annie?")[2..], pairs(&around)[..1]);
    // Of what no note is about, too; and no part of a word is a name.
    assert_eq!(ask(&mut server, "nobody")[..], pairs(&[("m1", "")]));
    assert!(ask(&mut server, "Joanna, Annabel").is_empty());
    // One step and no more: Greece is only named beside Anna.
    assert!(!ask(&mut server, "Acme").iter().any(|(id, _)| id == "m3"));
}

#[test]
fn filters_and_what_is_superseded_hold_for_neighbours() {
    let room = family();
    room.write("old.md", "---\nid: m5\nsubject: Initech\nkind: project\ncreated: 2025-01-01\nsuperseded_by: m2\n---\nOld.\n- staff: [[Anna]]");
    let mut server = room.start();
    let has = |found: Vec<(String, String)>, id: &str| found.iter().any(|(found, _)| found == id);
    assert!(!has(ask(&mut server, "Anna?"), "m5"));
    assert!(has(recall(&mut server, json!({"query": "Anna?", "superseded": true})), "m5"));
    let none = recall(&mut server, json!({"query": "Anna?", "until": "2026-01-01"}));
    assert_eq!(none, pairs(&[("m1", "")]));
}

#[test]
fn the_thesaurus_says_what_a_word_means_and_each_role_may_have_its_own() {
    let room = family();
    room.write(
        "ev.md",
        "---\nid: m6\nsubject: Car\ncreated: 2026-01-05\n---\nThe EV is charged at night.",
    );
    let mut server = room.start();
    assert!(ask(&mut server, "Was macht 姐姐?").is_empty());
    room.write("thesaurus.md", "# Words\n- 姐姐, Schwester → [[Anna]]\nStromauto → EV\n");
    let found = ask(&mut server, "Was macht 姐姐?");
    assert_eq!(found[0], ("m1".to_owned(), "姐姐 means Anna".to_owned()));
    assert_eq!(found[1].0, "m2");
    // A term that is no name is looked for as words.
    assert_eq!(ask(&mut server, "Wo steht das STROMAUTO?"), pairs(&[("m6", "stromauto means EV")]));
    room.write("thesaurus.skipper.md", "crew → Anna\n");
    assert!(ask(&mut server, "the crew").is_empty());
    let found = recall(&mut server, json!({"query": "the crew", "role": "skipper"}));
    assert_eq!(found[0], ("m1".to_owned(), "crew means Anna".to_owned()));
    // No thesaurus is a note, also not one that was written while the server ran.
    let (list, _) = server.ok("list", json!({}));
    assert_eq!(list["total"], 5);
    room.remove("thesaurus.md");
    assert!(ask(&mut server, "Was macht 姐姐?").is_empty());
    drop(server);
    assert!(room.check().0, "{}", room.check().1);
}

#[test]
fn a_line_that_is_not_understood_is_one_sentence_of_a_check() {
    let room = family();
    room.write("thesaurus.md", "sis Anna\nmum → Anna\n");
    let (is_equal, said) = room.check();
    assert!(is_equal, "{said}");
    let lines: Vec<&str> = said.lines().filter(|line| line.contains("thesaurus")).collect();
    assert_eq!(lines.len(), 1, "{said}");
    assert!(lines[0].starts_with("thesaurus.md, line 1: there is no arrow"), "{said}");
    assert_eq!(ask(&mut room.start(), "mum")[0].0, "m1");
    assert_eq!(room.read("thesaurus.md"), "sis Anna\nmum → Anna\n");
}

#[test]
fn what_is_too_much_is_left_out_and_said() {
    let room = family();
    for n in 10..30 {
        room.write(
            &format!("n{n}.md"),
            format!("---\nid: n{n}\ncreated: 2026-02-{n:02}\n---\nx [[Annie]]"),
        );
    }
    let mut server = room.start();
    let (output, text) = server.ok("recall", json!({"query": "Anna", "limit": 1}));
    assert_eq!(output["hits"].as_array().unwrap().len(), 1 + 5);
    assert_eq!(output["linked_left_out"], 17);
    assert!(text.contains("17 more linked notes were left out"), "{text}");
    let mut server = support::spawn(&room.notes, &["--recall-linked-max", "0"]);
    server.initialize("2025-11-25");
    let (output, _) = server.ok("recall", json!({"query": "Anna", "limit": 1}));
    assert_eq!(output["hits"].as_array().unwrap().len(), 1);
    let (_, said) = room.check_with(&["--linked-names-max", "2"]);
    assert!(said.contains("names of linked notes are not looked for"), "{said}");
}

#[test]
fn links_are_found_by_names_of_any_alphabet() {
    let room = Room::new();
    room.write("a.md", "---\nid: m1\nsubject: Ägypten\n---\nHeiß.");
    room.write("b.md", "---\nid: m2\nsubject: Reise\n---\nNach [[ÄGYPTEN]].");
    let mut server = room.start();
    let (read, text) = server.ok("read", json!({"id": "m2"}));
    assert_eq!(read["links"][0], json!({"subject": "Ägypten", "id": "m1"}));
    assert!(text.contains("[links to: Ägypten [m1]]"), "{text}");
    let (read, text) = server.ok("read", json!({"id": "Ägypten"}));
    assert_eq!(read["linked_from"][0], json!({"subject": "Reise", "id": "m2"}));
    assert!(text.contains("[linked from: Reise [m2]]"), "{text}");
}

/// `é` is one character, or a letter and its mark: macOS writes file names in the second way.
#[test]
fn a_name_is_the_same_in_either_way_of_writing_its_letters() {
    let room = Room::new();
    room.write(
        "m1.md",
        "---\nid: m1\nsubject: Caf\u{e9} Museum\naliases: [Kro\u{308}n]\n---\nHas good cake.",
    );
    room.write("m2.md", "---\nid: m2\nsubject: Sunday\n---\nWe meet in [[Cafe\u{301} Museum]].");
    room.write("Zoe\u{308}.md", "---\nid: m3\n---\nSister of [[Caf\u{e9} museum]]'s owner.");
    let mut server = room.start();
    let (note, _) = server.ok("read", json!({"id": "m2"}));
    assert_eq!(note["links"][0]["id"], "m1");
    let (note, _) = server.ok("read", json!({"id": "m1"}));
    assert_eq!(note["linked_from"].as_array().unwrap().len(), 2);
    assert_eq!(server.ok("read", json!({"id": "Zo\u{eb}"})).0["id"], "m3");
    let around = ask(&mut server, "and KR\u{d6}N?");
    assert!(around.iter().any(|(id, why)| id == "m2" && why.contains("links to")), "{around:?}");
    let again = json!({"subject": "Cafe\u{301} Museum", "text": "Has good cake."});
    assert_eq!(server.ok("remember", again).0["was_known"], true);
}
