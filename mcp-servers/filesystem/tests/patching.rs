//! `apply_patch`: all of it or nothing, wherever the names lead.
#![expect(clippy::unwrap_used, reason = "a test helper that fails should panic")]

mod support;

use serde_json::json;
use support::Room;

fn part(path: &str, old: &str, new: &str) -> String {
    format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-{old}\n+{new}\n")
}

fn made(path: &str, line: &str) -> String {
    format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{line}\n")
}

/// Everything below the workspace, by name.
fn all(room: &Room) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![room.root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            found.push(path.strip_prefix(&room.root).unwrap().display().to_string());
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_patch_changes_and_makes_files_together() {
    let room = Room::new();
    room.write("a.txt", "zero\none\n");
    let mut server = room.start(&[]);
    let patch = part("a.txt", "one", "1") + &made("n/b.txt", "new");
    let (output, text) = server.ok("apply_patch", json!({ "patch": patch }));
    assert_eq!((room.read("a.txt"), room.read("n/b.txt")), ("zero\n1\n".into(), "new\n".into()));
    let created: Vec<bool> =
        output["files"].as_array().unwrap().iter().map(|f| f["created"] == true).collect();
    assert_eq!(created, [false, true]);
    assert!(text.contains("Patched `a.txt`: 7 bytes (before: 9 bytes)."), "{text}");
    assert_eq!(all(&room), ["a.txt", "n", "n/b.txt"]);
}

/// Whatever is wrong with one file, the others stay as they are.
#[test]
fn one_part_that_cannot_be_applied_leaves_every_file_as_it_was() {
    let room = Room::new();
    room.write("a.txt", "one\n");
    room.write("there", "x\n");
    room.write("binary", b"one\n\0");
    room.write("shut/key", "one\n");
    room.write("fixed", "one\n");
    room.link("a.txt", "same");
    room.link(room.outside.join("canary"), "out");
    room.link("/etc/hostname", "system");
    let mut server = room.start(&["--protect", "shut", "--read-only", "fixed"]);
    let before = all(&room);
    let good = part("a.txt", "one", "1");
    for (bad, what) in [
        (part("there", "one", "1"), "hunk 1 does not fit"),
        (part("gone", "one", "1"), "does not exist"),
        (made("there", "x"), "already exists"),
        (part("binary", "one", "1"), "not text"),
        (part("shut/key", "one", "1"), "protected"),
        (made("shut/new", "x"), "protected"),
        (part("fixed", "one", "1"), "read-only"),
        (part("out", "the canary sings", "1"), "outside"),
        (part("system", "one", "1"), "outside"),
        (part("../outside/canary", "the canary sings", "1"), "outside"),
        (made("../outside/new", "x"), "outside"),
        (part("same", "one", "2"), "are the same file"),
        ("rename from there\nrename to b\n".to_owned(), "is no part of a unified diff"),
        ("--- a/there\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n".to_owned(), "use delete"),
    ] {
        for patch in [good.clone() + &bad, bad.clone() + &good] {
            let message = server.err("apply_patch", json!({ "patch": patch }));
            assert!(message.contains(what), "{what}: {message}");
            assert_eq!((room.read("a.txt"), room.read("there")), ("one\n".into(), "x\n".into()));
            assert_eq!(all(&room), before, "{what}");
        }
    }
    room.assert_outside_untouched();
}
