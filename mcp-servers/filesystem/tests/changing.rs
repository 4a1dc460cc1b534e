//! `write_file`, `edit_file`, `move` and `delete`: what changes, what is kept, and what is refused.

#![expect(clippy::unwrap_used, reason = "a test helper that fails should panic")]

mod support;

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use support::Room;

fn mode(room: &Room, path: &str) -> u32 {
    std::fs::metadata(room.root.join(path)).unwrap().permissions().mode() & 0o777
}

fn set_mode(room: &Room, path: &str, mode: u32) {
    std::fs::set_permissions(room.root.join(path), std::fs::Permissions::from_mode(mode)).unwrap();
}

fn names(room: &Room, path: &str) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(room.root.join(path))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_write_creates_and_replaces() {
    let room = Room::new();
    let mut server = room.start(&["--write-file-bytes-max", "100"]);
    let (output, text) = server.ok("write_file", json!({"path": "a/b/c.sh", "content": "one\n"}));
    assert!(
        output["created"] == true
            && output["size_bytes"] == 4
            && output["directories_created"] == 2,
        "{output}"
    );
    assert!(text.contains("Created `a/b/c.sh`: 4 bytes"), "{text}");
    set_mode(&room, "a/b/c.sh", 0o751);
    let (output, text) =
        server.ok("write_file", json!({"path": "a/b/c.sh", "content": "other\r\n"}));
    assert!(output["created"] == false && output["previous_size_bytes"] == 4, "{output}");
    assert!(text.contains("Replaced") && text.contains("7 bytes (before: 4 bytes)"), "{text}");
    assert_eq!(room.read("a/b/c.sh"), "other\r\n");
    assert_eq!(mode(&room, "a/b/c.sh"), 0o751);
    assert_eq!(names(&room, "a/b"), ["c.sh"], "no temporary file is left");
    assert!(
        server.err("write_file", json!({"path": "a", "content": ""})).contains("is a directory")
    );
    assert!(
        server.err("write_file", json!({"path": ".", "content": ""})).contains("is a directory")
    );
    assert!(
        server
            .err("write_file", json!({"path": "x", "content": "y".repeat(101)}))
            .contains("101 bytes")
    );
    assert!(
        server
            .err("write_file", json!({"path": "a/b/c.sh/d", "content": ""}))
            .contains("not a directory")
    );
    set_mode(&room, "a/b/c.sh", 0o444);
    assert!(
        server
            .err("write_file", json!({"path": "a/b/c.sh", "content": ""}))
            .contains("read-only (mode 444)")
    );
    assert_eq!(names(&room, "a/b"), ["c.sh"]);
}

#[test]
fn a_replaced_file_is_a_new_inode_so_that_a_hard_link_outside_keeps_its_text() {
    let room = Room::new();
    std::fs::hard_link(room.outside.join("canary"), room.root.join("hard")).unwrap();
    let mut server = room.start(&[]);
    server.ok("write_file", json!({"path": "hard", "content": "new"}));
    assert_eq!(room.read("hard"), "new");
    room.assert_outside_untouched();
}

#[test]
fn a_link_inside_is_written_through_and_stays_a_link() {
    let room = Room::new();
    room.write("real/file", "old");
    room.link("real/file", "relative");
    room.link(room.root.join("real/file"), "absolute");
    room.link("real/new", "dangling");
    room.link("real", "dir");
    let mut server = room.start(&[]);
    for (path, real) in [
        ("relative", "real/file"),
        ("absolute", "real/file"),
        ("dangling", "real/new"),
        ("dir/x", "real/x"),
    ] {
        let (output, _) = server.ok("write_file", json!({"path": path, "content": path}));
        assert_eq!(output["path"], real);
        assert_eq!(room.read(real), path);
    }
    for link in ["relative", "absolute", "dangling", "dir"] {
        assert!(room.root.join(link).is_symlink(), "{link}");
    }
}

#[test]
fn edits_are_exact_unique_and_all_or_nothing() {
    let room = Room::new();
    room.write("a.txt", "one\ntwo\nthree\ntwo\n");
    set_mode(&room, "a.txt", 0o640);
    let mut server = room.start(&[]);
    let edit = |edits: serde_json::Value| json!({"path": "a.txt", "edits": edits});
    let message = server.err("edit_file", edit(json!([{"old_text": "two", "new_text": "2"}])));
    assert!(message.contains("2 times") && message.contains("lines 2, 4"), "{message}");
    let both = json!([{"old_text": "one", "new_text": "1"}, {"old_text": "nine", "new_text": "9"}]);
    let message = server.err("edit_file", edit(both));
    assert!(message.contains("edit 2") && message.contains("Nothing was changed"), "{message}");
    assert_eq!(room.read("a.txt"), "one\ntwo\nthree\ntwo\n");

    let edits = json!([{"old_text": "one\ntwo", "new_text": "1\ntwo"}, {"old_text": "1\n", "new_text": "uno\n"}]);
    let (output, text) =
        server.ok("edit_file", json!({"path": "a.txt", "edits": edits, "dry_run": true}));
    let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1,4 +1,4 @@\n-one\n+uno\n two\n three\n two\n";
    assert_eq!(output["diff"], diff);
    assert!(output["written"] == false && text.contains("nothing written"), "{text}");
    assert_eq!(room.read("a.txt"), "one\ntwo\nthree\ntwo\n");
    assert_eq!(server.ok("edit_file", edit(edits)).0["written"], true);
    assert_eq!(room.read("a.txt"), "uno\ntwo\nthree\ntwo\n");
    assert_eq!(mode(&room, "a.txt"), 0o640);
    assert_eq!(names(&room, "."), ["a.txt"]);
    server.err("edit_file", edit(json!([])));
    let all = json!([{"old_text": "two", "new_text": "2", "replace_all": true}]);
    let (output, text) = server.ok("edit_file", edit(all));
    assert_eq!((&output["edits"], &output["replaced"]), (&json!(1), &json!(2)));
    assert!(text.contains("2 replacements"), "{text}");
    assert_eq!(room.read("a.txt"), "uno\n2\nthree\n2\n");
}

#[test]
fn line_ends_and_the_end_of_the_file_are_kept() {
    let room = Room::new();
    room.write("crlf.txt", "one\r\ntwo\r\nthree");
    let mut server = room.start(&[]);
    let edits = json!([{"old_text": "one\ntwo\n", "new_text": "1\n2\n2.5\n"}]);
    server.ok("edit_file", json!({"path": "crlf.txt", "edits": edits}));
    assert_eq!(room.read("crlf.txt"), "1\r\n2\r\n2.5\r\nthree");
}

#[test]
fn parallel_edits_of_one_file_all_count() {
    let room = Room::new();
    room.write("n.txt", (0..40).map(|n| format!("<{n}>\n")).collect::<String>());
    let mut server = room.start(&[]);
    let ids: Vec<u64> = (0..40)
        .map(|n| {
            let edits = json!([{"old_text": format!("<{n}>"), "new_text": format!("[{n}]")}]);
            server.begin_call("edit_file", json!({"path": "n.txt", "edits": edits}))
        })
        .collect();
    for id in ids {
        assert_eq!(server.end(id)["result"]["isError"], false);
    }
    assert_eq!(room.read("n.txt"), (0..40).map(|n| format!("[{n}]\n")).collect::<String>());
}

#[test]
fn a_move_never_overwrites_unless_told() {
    let room = Room::new();
    room.write("a", "A");
    room.write("b", "B");
    room.write("dir/x", "X");
    room.link("dir/x", "link");
    let mut server = room.start(&[]);
    let message = server.err("move", json!({"source": "a", "destination": "b"}));
    assert!(message.contains("already exists") && message.contains("overwrite: true"), "{message}");
    assert!(
        server
            .err("move", json!({"source": "a", "destination": "dir", "overwrite": true}))
            .contains("full new path")
    );
    assert!(
        server
            .err("move", json!({"source": "dir", "destination": "dir/sub/dir"}))
            .contains("into itself")
    );
    assert!(
        server
            .err("move", json!({"source": "dir", "destination": "b", "overwrite": true}))
            .contains("cannot replace")
    );
    assert!(
        server.err("move", json!({"source": ".", "destination": "z"})).contains("workspace itself")
    );
    assert!(server.err("move", json!({"source": "a", "destination": "./a"})).contains("the same"));
    assert!(
        server.err("move", json!({"source": "no", "destination": "z"})).contains("does not exist")
    );
    assert_eq!((room.read("a"), room.read("b")), ("A".into(), "B".into()));

    let (output, _) =
        server.ok("move", json!({"source": "a", "destination": "b", "overwrite": true}));
    assert_eq!(output["replaced"], true);
    assert_eq!(room.read("b"), "A");
    server.ok("move", json!({"source": "dir", "destination": "new/deep/dir"}));
    assert_eq!(room.read("new/deep/dir/x"), "X");
    let (output, _) = server.ok("move", json!({"source": "link", "destination": "moved"}));
    assert_eq!(output["type"], "symlink");
    assert!(room.root.join("moved").is_symlink());
}

#[test]
fn delete_takes_what_it_is_told_and_no_more() {
    let room = Room::new();
    room.write("file", "");
    room.write("tree/a/b", "");
    room.write("tree/c", "");
    room.write("kept/x", "");
    room.link("../kept", "tree/link");
    room.link(&room.outside, "tree/out");
    std::fs::create_dir(room.root.join("empty")).unwrap();
    let mut server = room.start(&[]);
    assert_eq!(server.ok("delete", json!({"path": "file"})).0["removed_entries"], 1);
    assert_eq!(server.ok("delete", json!({"path": "empty"})).0["type"], "dir");
    let message = server.err("delete", json!({"path": "tree"}));
    assert!(message.contains("not empty") && message.contains("recursive: true"), "{message}");
    let (output, text) = server.ok("delete", json!({"path": "tree", "recursive": true}));
    assert!(output["removed_entries"] == 6 && text.contains("6 entries"), "{output}");
    assert_eq!(names(&room, "."), ["kept"]);
    assert_eq!(names(&room, "kept"), ["x"]);
    room.assert_outside_untouched();
    for path in [".", "", "kept/..", room.root.to_str().unwrap()] {
        server.err("delete", json!({"path": path, "recursive": true}));
    }
    assert_eq!(names(&room, "."), ["kept"]);
    assert!(server.err("delete", json!({"path": "file"})).contains("does not exist"));
}

#[test]
fn a_reader_sees_the_old_file_or_the_new_one_and_never_a_part() {
    let room = Room::new();
    let contents = ["a".repeat(3_000_000), "b".repeat(2_000_000)];
    room.write("f", &contents[0]);
    let mut server = room.start(&[]);
    let (path, expected) = (room.root.join("f"), contents.clone());
    let done = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let finished = std::sync::Arc::clone(&done);
    let reader = std::thread::spawn(move || {
        let mut reads = 0;
        while !finished.load(std::sync::atomic::Ordering::Relaxed) {
            let seen = std::fs::read_to_string(&path).unwrap();
            assert!(
                expected.contains(&seen),
                "{} bytes, beginning with {:?}",
                seen.len(),
                seen.chars().next()
            );
            reads += 1;
        }
        reads
    });
    for round in 1..=20 {
        server.ok("write_file", json!({"path": "f", "content": contents[round % 2]}));
    }
    done.store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(reader.join().unwrap() > 0);
}
