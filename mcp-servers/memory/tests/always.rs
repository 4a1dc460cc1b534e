//! The file that every prompt holds, over a real child process: a line is there after a yes alone,
//! in the words that were shown, and nobody's change is overwritten.
#![expect(clippy::unwrap_used, reason = "a test helper that fails should panic")]

mod support;

use std::path::PathBuf;

use serde_json::{Value, json};
use support::{Room, Server, spawn};

fn file(room: &Room) -> PathBuf {
    room.temp.path().join("MEMORY.md")
}

fn text(room: &Room) -> String {
    std::fs::read_to_string(file(room)).unwrap()
}

fn start(room: &Room, more: &[&str]) -> Server {
    let file = file(room);
    let mut server = spawn(&room.notes, &[&["--always", file.to_str().unwrap()], more].concat());
    server.initialize("2025-11-25");
    server
}

fn propose(server: &mut Server, turn: i64, text: &str, line: Option<&str>) -> Value {
    let mut arguments = json!({"subject": "Anna", "text": text, "where": "always"});
    if let Some(line) = line {
        arguments["replaces_line"] = json!(line);
    }
    let source = json!({"origin": "owner", "session": "main", "turn": turn});
    let id = server.begin(
        "tools/call",
        json!({"name": "propose", "arguments": arguments, "_meta": {"claw/source": source}}),
    );
    server.end(id)["result"].clone()
}

fn tap(result: &Value) -> Value {
    result["_meta"]["claw/actions"][0]["arguments"].clone()
}

fn said(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

#[test]
fn a_line_is_there_after_a_yes_in_the_words_that_were_shown() {
    let room = Room::new();
    std::fs::write(file(&room), "# What I keep\n\n- Likes coffee.\n").unwrap();
    let mut server = start(&room, &[]);
    let first = propose(&mut server, 1, "- Calls her bike Rosa.", None);
    let asked = tap(&first);
    assert_eq!(asked["text"], "Calls her bike Rosa.");
    let after = "# What I keep\n\n- Likes coffee.\n- Calls her bike Rosa.\n";
    let full = json!({"file": "MEMORY.md", "bytes": after.len(), "bytes_max": 4096});
    assert_eq!(asked["always"], full);
    assert!(!text(&room).contains("Rosa"), "nothing is there without a yes");
    let mut lie = asked.clone();
    lie["text"] = json!("Calls her bike Otto.");
    assert!(server.err("promote", lie).contains("not what was shown"));
    // The lie ends nothing.
    let (done, words) = server.ok("promote", asked.clone());
    assert_eq!((text(&room).as_str(), &done["always"]), (after, &full));
    assert!(words.starts_with("Remembered for every prompt, in MEMORY.md (54 of"), "{words}");
    // Once more does no harm, it is no note, and it is not asked again.
    server.ok("promote", asked);
    assert_eq!(text(&room), after);
    assert_eq!(std::fs::read_dir(&room.notes).unwrap().count(), 0);
    let again = propose(&mut server, 2, "calls her bike rosa", None);
    assert!(tap(&again).is_null() && said(&again).contains("already"), "{again}");
    let other = propose(&mut server, 2, "Likes tea.", Some("- Likes coffee."));
    assert_eq!(tap(&other)["instead_of"], "Likes coffee.");
    server.ok("promote", tap(&other));
    let out = propose(&mut server, 3, "", Some("Calls her bike Rosa."));
    assert!(tap(&out)["text"].is_null(), "{out}");
    let (_, words) = server.ok("promote", tap(&out));
    assert!(words.starts_with("Taken out of MEMORY.md"), "{words}");
    assert_eq!(text(&room), "# What I keep\n\n- Likes tea.\n");
    assert_eq!(server.ok("list", json!({"what": "proposals"})).0["total"], 0);
}

#[test]
fn what_somebody_changed_since_it_was_shown_is_not_overwritten_and_the_proposal_ends() {
    let room = Room::new();
    let mut server = start(&room, &[]);
    let (one, two) = (
        propose(&mut server, 1, "Likes tea.", None),
        propose(&mut server, 1, "Sails on Sundays.", None),
    );
    // Taps come one after the other, and nothing but them lies in between.
    server.ok("promote", tap(&one));
    server.ok("promote", tap(&two));
    assert_eq!(text(&room), "- Likes tea.\n- Sails on Sundays.\n");
    let third = propose(&mut server, 2, "Has a cat.", None);
    std::fs::write(file(&room), "- Likes tea.\n- Sails on Sundays.\n- By hand.\n").unwrap();
    let refused = server.err("promote", tap(&third));
    assert!(refused.contains("changed by somebody") && refused.contains("is over"), "{refused}");
    assert!(!text(&room).contains("cat"));
    assert_eq!(server.ok("list", json!({"what": "proposals"})).0["total"], 0);
    assert!(server.err("promote", tap(&third)).contains("there is no proposal"));
    server.err("restore", json!({"id": tap(&third)["id"]}));
    // Nobody has said no.
    let again = propose(&mut server, 3, "Has a cat.", None);
    server.ok("promote", tap(&again));
    assert!(text(&room).ends_with("- By hand.\n- Has a cat.\n"));
}

#[test]
fn a_full_file_is_told_in_one_sentence_and_may_become_smaller() {
    let room = Room::new();
    std::fs::write(file(&room), format!("- {}\n- Short.\n", "x".repeat(80))).unwrap();
    let mut server = start(&room, &["--always-bytes-max", "100"]);
    let full = propose(&mut server, 1, "Likes tea.", None);
    let why = full["structuredContent"]["full"].as_str().unwrap();
    for words in ["MEMORY.md is full: it has 92 bytes", "may have 100", "Replace or take out"] {
        assert!(why.contains(words), "{why}");
    }
    assert!(full["isError"] == false && tap(&full).is_null(), "{full}");
    assert_eq!(full["structuredContent"]["is_proposed"], false);
    let order = server.err("remember", json!({"text": "Likes tea.", "where": "always"}));
    assert!(order.contains("is full"), "{order}");
    let out = propose(&mut server, 2, "", Some(&"x".repeat(80)));
    server.ok("promote", tap(&out));
    server.ok("remember", json!({"text": "Likes tea.", "where": "always"}));
    assert_eq!(text(&room), "- Short.\n- Likes tea.\n");
    let (known, said) = server.ok("remember", json!({"text": "likes tea", "where": "always"}));
    assert!(known["was_known"] == true && said.starts_with("Remembered already"), "{said}");
}

#[test]
fn what_such_a_line_cannot_be_is_one_sentence_and_nothing_is_written() {
    let room = Room::new();
    let elsewhere = room.temp.path().join("elsewhere.md");
    std::fs::write(&elsewhere, "- Likes tea.\n").unwrap();
    std::os::unix::fs::symlink(&elsewhere, file(&room)).unwrap();
    let mut server = start(&room, &[]);
    let order = json!({"text": "Sails.", "where": "always"});
    assert!(server.err("remember", order.clone()).contains("symbolic link"));
    assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "- Likes tea.\n");
    std::fs::remove_file(file(&room)).unwrap();
    for (text, line, needle) in [
        ("a\nb", None, "several lines"),
        ("", None, "the text is empty"),
        ("x", Some("not there"), "no line says `not there`"),
        ("x", Some("x"), "says that already"),
    ] {
        let result = propose(&mut server, 1, text, line);
        assert!(result["isError"] == true && said(&result).contains(needle), "{result}");
    }
    let replaces = json!({"subject": "x", "text": "y", "where": "always", "replaces": "m1"});
    assert!(server.err("propose", replaces).contains("`replaces_line`"));
    assert!(!file(&room).exists());
    let mut without = room.start();
    assert!(without.err("remember", order).contains("--always FILE"));
    // The limits of a turn are those of notes.
    for fact in 0..4 {
        let result = propose(&mut server, 9, &format!("fact {fact}"), None);
        assert_eq!(result["isError"] == true, fact == 3, "{result}");
    }
}

/// What others read along shows no line of the file.
#[test]
fn where_others_read_along_no_line_is_shown() {
    let room = Room::new();
    std::fs::write(file(&room), "- Likes tea and the opera.\n").unwrap();
    let mut server = start(&room, &[]);
    let mut ask = |arguments: Value| {
        let source = json!({
            "origin": "owner", "session": "group", "turn": 1, "heard_by_others": true,
        });
        let id = server.begin(
            "tools/call",
            json!({"name": "propose", "arguments": arguments, "_meta": {"claw/source": source}}),
        );
        server.end(id)["result"].clone()
    };
    let out = json!({"subject": "x", "text": "", "where": "always",
        "replaces_line": "Likes tea and the opera."});
    let refused = ask(out);
    assert!(refused["isError"] == true && said(&refused).contains("read along"), "{refused}");
    // A part of a line is no way to find it out.
    let part = ask(json!({"subject": "x", "text": "the opera", "where": "always"}));
    assert_eq!(part["structuredContent"]["is_proposed"], true, "{part}");
    assert!(!part.to_string().contains("Likes tea"), "{part}");
}
