//! `recall` over a real child process: words, filters, what was so and when, other scripts, and
//! texts that FTS5 would take for orders.
#![expect(clippy::unwrap_used, reason = "a test helper that fails should panic")]

mod support;

use serde_json::{Value, json};
use support::{Room, Server};

fn found(server: &mut Server, arguments: Value) -> Vec<String> {
    let (output, _) = server.ok("recall", arguments);
    let hits = output["hits"].as_array().unwrap();
    hits.iter().map(|hit| hit["id"].as_str().unwrap().to_owned()).collect()
}

fn ask(server: &mut Server, query: &str) -> Vec<String> {
    found(server, json!({"query": query}))
}

#[test]
fn words_are_found_in_their_forms_and_the_subject_counts_most() {
    let room = Room::new();
    room.write("a.md", "---\nsubject: Sailing\n---\nEvery summer.");
    room.write(
        "b.md",
        "She sailed once, long ago, over the lake and along the coast of the island.",
    );
    room.write("c.md", "Nothing about it.");
    let mut server = room.start();
    assert_eq!(ask(&mut server, "Does anybody sail?"), ["a.md", "b.md"]);
    assert!(ask(&mut server, "quantum").is_empty());
}

#[test]
fn filters_hold_and_hits_carry_source_date_and_age() {
    let room = Room::new();
    room.write("a.md", "---\nid: m1\nkind: preference\ntags: [food]\nsource: owner\nsource_session: main\nsource_turn: 7\ncreated: 2024-01-10\n---\nLikes bread.");
    room.write("b.md", "---\nid: m2\ntags: food\ncreated: 2025-06-01\n---\nBread is in the box.");
    let mut server = room.start();
    assert_eq!(found(&mut server, json!({"query": "bread", "kind": "preference"})), ["m1"]);
    assert_eq!(
        found(&mut server, json!({"query": "bread", "tag": "#food", "since": "2025-01-01"})),
        ["m2"]
    );
    assert_eq!(found(&mut server, json!({"query": "bread", "until": "2024-01-10"})), ["m1"]);
    assert!(found(&mut server, json!({"query": "bread", "tag": "drink"})).is_empty());
    assert_eq!(found(&mut server, json!({})), ["m2", "m1"], "the newest first");
    let (output, text) = server.ok("recall", json!({"query": "likes"}));
    let hit = &output["hits"][0];
    assert_eq!(hit["source"], json!({"who": "owner", "session": "main", "turn": 7}));
    assert_eq!((&hit["date"], &hit["kind"]), (&json!("2024-01-10"), &json!("preference")));
    assert!(hit["age"].as_str().unwrap().ends_with("ago"));
    for needle in ["[m1]", "2024-01-10", "from owner", "session main", "turn 7", "#food"] {
        assert!(text.contains(needle), "{needle}: {text}");
    }
}

#[test]
fn what_is_superseded_is_found_only_for_its_time() {
    let room = Room::new();
    room.write(
        "a.md",
        "---\nid: m1\nvalid_from: 2020-01-01\nsuperseded_by: m2\n---\nLives in Graz.",
    );
    room.write("b.md", "---\nid: m2\nvalid_from: 2024-05-01\n---\nLives in Wien.");
    // Only the new one names the old one: the other write was lost.
    room.write("c.md", "---\nid: m3\n---\nWorks at Acme.");
    room.write("d.md", "---\nid: m4\nsupersedes: m3\ncreated: 2024-05-01\n---\nWorks at Initech.");
    room.write("e.md", "---\nid: m5\nvalid_from: 2199-01-01\n---\nRetires then.");
    let mut server = room.start();
    assert_eq!(ask(&mut server, "lives"), ["m2"]);
    assert_eq!(found(&mut server, json!({"query": "lives", "as_of": "2021-06-01"})), ["m1"]);
    assert_eq!(ask(&mut server, "works"), ["m4"]);
    assert_eq!(found(&mut server, json!({"query": "works", "as_of": "2021-06-01"})), ["m3"]);
    assert_eq!(found(&mut server, json!({"query": "lives", "superseded": true})).len(), 2);
    let (_, text) = server.ok("recall", json!({"query": "lives", "superseded": true}));
    assert!(text.contains("NO LONGER SO: superseded by [m2]"), "{text}");
    let (output, text) = server.ok("recall", json!({"query": "retires"}));
    assert_eq!(output["hits"][0]["is_to_come"], true);
    assert!(text.contains("so only from 2199-01-01"), "{text}");
    assert!(found(&mut server, json!({"query": "retires", "as_of": "2026-01-01"})).is_empty());
}

#[test]
fn other_scripts_are_found() {
    let room = Room::new();
    for (path, text) in [
        ("zh.md", "她住在北京大学旁边。"),
        ("ja.md", "彼は東京でラーメンを食べる。"),
        ("th.md", "เขาอาศัยอยู่ในกรุงเทพ"),
        ("hi.md", "वह दिल्ली में रहती है"),
        ("ru.md", "Она живёт в Москве."),
        ("ko.md", "그녀는 서울에 산다"),
        ("ar.md", "تعيش في القاهرة"),
        ("de.md", "Sie wohnt in Köln."),
    ] {
        room.write(path, text);
    }
    let mut server = room.start();
    for (query, path) in [
        ("北京", "zh.md"),
        ("她在大学吗", "zh.md"),
        ("ラーメン", "ja.md"),
        ("東京", "ja.md"),
        ("กรุงเทพ", "th.md"),
        ("दिल्ली", "hi.md"),
        ("москве", "ru.md"),
        ("서울에", "ko.md"),
        ("القاهرة", "ar.md"),
        ("Koln", "de.md"),
        ("KÖLN", "de.md"),
    ] {
        assert_eq!(ask(&mut server, query).first().map(String::as_str), Some(path), "{query}");
    }
}

#[test]
fn a_long_note_gives_the_part_that_answers() {
    let room = Room::new();
    let filler = "Nothing of interest stands in this line. ".repeat(200);
    room.write("long.md", format!("{filler}The boiler is blue. {filler}"));
    let mut server = room.start();
    let (output, _) = server.ok("recall", json!({"query": "boiler"}));
    let text = output["hits"][0]["text"].as_str().unwrap();
    assert!(text.contains("The boiler is blue") && text.len() <= 1024, "{text}");
    assert_eq!(output["hits"][0]["is_part"], true);
}

/// No text is an order to FTS5: operators, quotes, NUL, columns and half characters are words or
/// nothing.
#[test]
fn no_query_is_an_error_of_the_index() {
    let room = Room::new();
    room.write("a.md", "apples AND \"pears\" OR NOT near(this) body:that * ^ 北京 😀");
    let mut server = room.start();
    for query in [
        "AND",
        "\"",
        "\"\"\"",
        "a\0b",
        "NEAR(",
        "body:",
        "-",
        "^a",
        "a*",
        "{a b}:c",
        "😀",
        "' OR 1=1 --",
        "(((",
        "",
        " ",
        "\u{301}",
        "a\u{301}\"b",
    ] {
        ask(&mut server, query);
    }
    let (_, text) = server.ok("recall", json!({"query": "😀 !!"}));
    assert!(text.contains("no word"), "{text}");
    let (output, text) = server
        .ok("recall", json!({"query": (0..99).map(|n| format!("w{n} ")).collect::<String>()}));
    assert_eq!(output["words_left_out"], 35);
    assert!(text.contains("35 words"), "{text}");
}
