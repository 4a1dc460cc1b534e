//! What is read-only is read and never changed: by no tool, under no other spelling, through no
//! link, and not while it does not exist. What lies beside it is changed as ever.
#![expect(clippy::unwrap_used, reason = "a test helper that fails should panic")]

mod support;

use std::os::unix::fs::MetadataExt as _;

use serde_json::{Value, json};
use support::{CANARY, Room, Server};

/// The calls by which one file could be changed, removed, replaced or made.
fn changes(path: &str, other: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("write_file", json!({"path": path, "content": "mine\n"})),
        ("edit_file", json!({"path": path, "edits": [{"old_text": "law", "new_text": "mine"}]})),
        ("delete", json!({"path": path})),
        ("delete", json!({"path": path, "recursive": true})),
        ("move", json!({"source": path, "destination": format!("{other}.taken")})),
        ("move", json!({"source": other, "destination": path})),
        ("move", json!({"source": other, "destination": path, "overwrite": true})),
    ]
}

/// A workspace with a read-only file, and a file beside it.
fn room() -> Room {
    let room = Room::new();
    room.write("p/SOUL.md", "law\n");
    room.write("p/notes.md", "notes\n");
    room
}

#[track_caller]
fn refused(server: &mut Server, tool: &str, arguments: Value) {
    let message = server.err(tool, arguments.clone());
    assert!(message.contains("is read-only here"), "{tool} {arguments}: {message}");
}

#[test]
fn no_tool_changes_it_and_every_reader_reads_it() {
    let room = room();
    let mut server = room.start(&["--read-only", "p/SOUL.md"]);
    for (tool, arguments) in changes("p/SOUL.md", "p/notes.md") {
        refused(&mut server, tool, arguments);
    }
    assert_eq!(server.ok("read_file", json!({"path": "p/SOUL.md"})).0["content"], "law\n");
    assert_eq!(server.ok("search", json!({"pattern": "law"})).0["matches"][0]["path"], "p/SOUL.md");
    assert_eq!(
        server.ok("find", json!({"pattern": "**/SOUL.md"})).0["paths"].as_array().unwrap().len(),
        1
    );
    assert_eq!(
        server.ok("list_dir", json!({"path": "p"})).0["entries"].as_array().unwrap().len(),
        2
    );
    server.ok(
        "edit_file",
        json!({"path": "p/notes.md", "edits": [{"old_text": "notes", "new_text": "more"}]}),
    );
    server.ok("write_file", json!({"path": "p/new.md", "content": "new\n"}));
    server.ok("move", json!({"source": "p/new.md", "destination": "p/newer.md"}));
    server.ok("delete", json!({"path": "p/newer.md"}));
    assert_eq!(
        (room.read("p/SOUL.md").as_str(), room.read("p/notes.md").as_str()),
        ("law\n", "more\n")
    );
}

#[test]
fn another_spelling_is_the_same_file() {
    let room = room();
    let whole = room.root.join("p/SOUL.md").display().to_string();
    let mut server = room.start(&["--read-only", &whole]);
    let spellings = [
        "./p/./SOUL.md",
        "p//SOUL.md",
        "p/SOUL.md/",
        "p/SOUL.md/.",
        "p/../p/SOUL.md",
        "p/soul.md",
        "P/../p/Soul.MD",
        "p/\u{17f}oul.md",
        "p/SO\u{200d}UL.md",
        whole.as_str(),
    ];
    for spelling in spellings.into_iter().filter(|spelling| !spelling.starts_with("P/")) {
        refused(&mut server, "write_file", json!({"path": spelling, "content": "mine\n"}));
        refused(
            &mut server,
            "move",
            json!({"source": "p/notes.md", "destination": spelling, "overwrite": true}),
        );
    }
    for spelling in spellings {
        server.err("delete", json!({"path": spelling}));
    }
    assert_eq!(
        (room.read("p/SOUL.md").as_str(), room.read("p/notes.md").as_str()),
        ("law\n", "notes\n")
    );
    assert_eq!(std::fs::read_dir(room.root.join("p")).unwrap().count(), 2);
}

#[test]
fn a_name_that_does_not_exist_cannot_be_made() {
    let room = Room::new();
    room.write("notes.md", "notes\n");
    room.write("tree/SOUL.md", "mine\n");
    let mut server = room.start(&["--read-only", "SOUL.md", "--read-only", "p/q/SOUL.md"]);
    for path in ["SOUL.md", "soul.md", "SOUL.md/inside", "p/q/SOUL.md", "p/q/SOUL.md/inside"] {
        refused(&mut server, "write_file", json!({"path": path, "content": "mine\n"}));
        refused(&mut server, "move", json!({"source": "notes.md", "destination": path}));
    }
    // A folder that would bring it along.
    refused(&mut server, "move", json!({"source": "tree", "destination": "p/q"}));
    refused(&mut server, "move", json!({"source": "tree", "destination": "p"}));
    server.ok("write_file", json!({"path": "p/q/other.md", "content": "fine\n"}));
    refused(&mut server, "delete", json!({"path": "p", "recursive": true}));
    assert!(!room.root.join("SOUL.md").exists() && !room.root.join("p/q/SOUL.md").exists());
    assert_eq!(
        (room.read("notes.md").as_str(), room.read("tree/SOUL.md").as_str()),
        ("notes\n", "mine\n")
    );
}

#[test]
fn a_folder_above_it_is_neither_moved_nor_deleted_nor_replaced() {
    let room = Room::new();
    room.write("a/b/SOUL.md", "law\n");
    room.write("a/b/x", "x\n");
    room.write("other/SOUL.md", "mine\n");
    let mut server = room.start(&["--read-only", "a/b/SOUL.md"]);
    for folder in ["a", "a/b", "A", "a/b/."] {
        server.err("delete", json!({"path": folder, "recursive": true}));
        server.err("move", json!({"source": folder, "destination": "gone"}));
    }
    refused(&mut server, "move", json!({"source": "a/b", "destination": "gone"}));
    refused(
        &mut server,
        "move",
        json!({"source": "other", "destination": "a/b", "overwrite": true}),
    );
    assert_eq!((room.read("a/b/SOUL.md").as_str(), room.read("a/b/x").as_str()), ("law\n", "x\n"));
    server.ok("move", json!({"source": "a/b/x", "destination": "x"}));
}

#[test]
fn no_link_leads_around_it() {
    let room = room();
    room.link("SOUL.md", "p/link.md");
    room.link("p", "folder");
    room.link(room.root.join("p/SOUL.md"), "absolute.md");
    std::fs::hard_link(room.root.join("p/SOUL.md"), room.root.join("hard.md")).unwrap();
    let mut server = room.start(&["--read-only", "p/SOUL.md"]);
    for path in ["p/link.md", "folder/SOUL.md", "absolute.md", "hard.md"] {
        refused(&mut server, "write_file", json!({"path": path, "content": "mine\n"}));
        refused(
            &mut server,
            "edit_file",
            json!({"path": path, "edits": [{"old_text": "law", "new_text": "mine"}]}),
        );
    }
    // The link is a thing of its own.
    server.ok("delete", json!({"path": "absolute.md"}));
    assert_eq!(room.read("p/SOUL.md"), "law\n");
    assert_eq!(std::fs::metadata(room.root.join("p/SOUL.md")).unwrap().nlink(), 2);
}

/// What is read-only may itself be a link: then neither the link, nor the next one, nor what they
/// lead to can be changed.
#[test]
fn a_read_only_link_keeps_everything_that_it_leads_over() {
    let room = Room::new();
    room.write("texts/real.md", "law\n");
    room.write("notes.md", "notes\n");
    room.link("next.md", "SOUL.md");
    room.link("texts/real.md", "next.md");
    room.link("dangling", "IDENTITY.md");
    room.link(room.outside.join("canary"), "out");
    room.link("out", "AGENTS.md");
    let fixed = ["SOUL.md", "IDENTITY.md", "AGENTS.md"];
    let arguments: Vec<&str> = fixed.iter().flat_map(|name| ["--read-only", name]).collect();
    let mut server = room.start(&arguments);
    for path in ["SOUL.md", "next.md", "texts/real.md", "IDENTITY.md", "dangling"] {
        refused(&mut server, "write_file", json!({"path": path, "content": "mine\n"}));
        refused(
            &mut server,
            "move",
            json!({"source": "notes.md", "destination": path, "overwrite": true}),
        );
    }
    for path in ["SOUL.md", "next.md", "texts/real.md", "texts", "out", "AGENTS.md"] {
        refused(&mut server, "delete", json!({"path": path, "recursive": true}));
        refused(&mut server, "move", json!({"source": path, "destination": "gone"}));
    }
    assert_eq!((room.read("SOUL.md").as_str(), room.read("AGENTS.md").as_str()), ("law\n", CANARY));
    assert!(!room.root.join("dangling").exists());
    room.assert_outside_untouched();
}

#[test]
fn a_further_root_has_its_own_and_a_whole_one_can_be_read_only() {
    let room = room();
    let outside = room.outside.display().to_string();
    let canary = format!("{outside}/canary");
    let mut server = room.start(&["--root", &outside, "--read-only", &canary]);
    for (tool, arguments) in changes(&canary, "p/notes.md") {
        refused(&mut server, tool, arguments);
    }
    server.ok("write_file", json!({"path": format!("{outside}/new"), "content": "new\n"}));
    server.ok("delete", json!({"path": format!("{outside}/new")}));
    // The whole root, under another spelling; and a folder around it.
    let (spelled, inner) = (format!("{outside}/../outside"), format!("{outside}/inner"));
    std::fs::create_dir(&inner).unwrap();
    for (root, fixed) in [(&outside, &spelled), (&inner, &outside)] {
        let mut server = room.start(&["--root", root, "--read-only", fixed]);
        refused(
            &mut server,
            "write_file",
            json!({"path": format!("{root}/new"), "content": "new\n"}),
        );
        refused(
            &mut server,
            "move",
            json!({"source": "p/notes.md", "destination": format!("{root}/new")}),
        );
        server.ok("list_dir", json!({"path": root}));
        server.ok("write_file", json!({"path": "p/notes.md", "content": "notes\n"}));
    }
    std::fs::remove_dir(inner).unwrap();
    room.assert_outside_untouched();
}

#[test]
fn the_instructions_name_what_is_read_only() {
    let room = room();
    let mut server = support::spawn(&room.root, &["--read-only", "p/SOUL.md"]);
    let reply = server.initialize("2025-11-25");
    let said = reply["result"]["instructions"].as_str().unwrap();
    assert!(said.contains("never changed") && said.contains("p/SOUL.md"), "{said}");
}
