//! `read_files`: several files in one call, one bound for all, and what cannot be read told by
//! itself.
#![expect(clippy::unwrap_used, reason = "a test helper that fails should panic")]

mod support;

use serde_json::{Value, json};
use support::Room;

/// The smallest file that counts as a PNG image.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n0123456789";

fn field(output: &Value, key: &str) -> Vec<Value> {
    output["files"].as_array().unwrap().iter().map(|file| file[key].clone()).collect()
}

#[test]
fn what_cannot_be_read_is_told_by_itself_and_the_rest_is_read() {
    let room = Room::new();
    room.write("a.txt", "one\ntwo\n");
    room.write("b/c.txt", "three");
    room.write("binary", b"\0\x01\x02");
    room.write("shut/key", "secret");
    room.link(room.outside.join("canary"), "out");
    let mut server = room.start(&["--protect", "shut"]);
    let paths =
        ["b/c.txt", "gone", "out", "shut/key", "../outside/canary", "binary", "b", "", "a.txt"];
    let (output, text) = server.ok("read_files", json!({"paths": paths}));
    assert_eq!(output["failed"], 7);
    let contents = field(&output, "content");
    assert_eq!((&contents[0], &contents[8]), (&json!("three"), &json!("one\ntwo\n")));
    assert_eq!(field(&output, "total_lines")[8], 2);
    let errors = field(&output, "error");
    for (at, what) in [
        (1, "does not exist"),
        (2, "outside"),
        (3, "protected"),
        (4, "outside"),
        (5, "not text"),
        (6, "is a directory"),
        (7, "the path is empty"),
    ] {
        assert!(errors[at].as_str().unwrap().contains(what), "{what}: {}", errors[at]);
        assert!(contents[at].is_null(), "{}", contents[at]);
    }
    assert!(text.contains("[file `a.txt`: 2 lines]") && text.contains("[`gone` was not read: "));
    assert!(!text.contains("secret") && !text.contains("canary sings"), "{text}");
}

#[test]
fn a_call_of_which_nothing_can_be_read_is_an_error() {
    let room = Room::new();
    room.write("a.txt", "one");
    let mut server = room.start(&[]);
    let message = server.err("read_files", json!({"paths": ["x", "y"]}));
    assert!(
        message.contains("`x` does not exist") && message.contains("`y` does not"),
        "{message}"
    );
    server.err("read_files", json!({"paths": []}));
    let many: Vec<&str> = std::iter::repeat_n("a.txt", 51).collect();
    assert!(server.err("read_files", json!({"paths": many})).contains("1 to 50"));
}

#[test]
fn all_files_together_have_the_bound_of_one_reply() {
    let room = Room::new();
    let lines = |letter: &str| format!("{}\n", letter.repeat(99)).repeat(30);
    for name in ["a", "b", "c", "d"] {
        room.write(name, lines(name));
    }
    room.write("small", "fits\n");
    let mut server = room.start(&["--read-reply-bytes-max", "4096"]);
    let (output, _) = server.ok("read_files", json!({"paths": ["a", "b", "c", "d"]}));
    let contents = field(&output, "content");
    let bytes: usize = contents.iter().filter_map(Value::as_str).map(str::len).sum();
    assert!(bytes <= 4096, "{bytes}");
    assert_eq!(contents[0], lines("a"), "the first is whole");
    let next = field(&output, "next_start_line")[1].as_u64().unwrap();
    assert!(next > 5 && contents[1].as_str().unwrap().ends_with('\n'), "the second is cut: {next}");
    for at in [2, 3] {
        let error = field(&output, "error")[at].as_str().unwrap().to_owned();
        assert!(error.contains("Read it with read_file"), "{error}");
        assert!(contents[at].is_null());
    }
    // A line that no reply holds is cut, and said to be, as by `read_file`.
    room.write("long", "x".repeat(5000));
    let (output, text) = server.ok("read_files", json!({"paths": ["long", "small"]}));
    assert_eq!(field(&output, "content")[0].as_str().unwrap().len(), 4096);
    assert!(text.contains("too long"), "{text}");
    assert!(field(&output, "error")[1].as_str().unwrap().contains("Read it with read_file"));
}

#[test]
fn pictures_have_one_bound_together() {
    let room = Room::new();
    room.write("a.png", PNG);
    room.write("b.png", PNG);
    let mut server = room.start(&["--image-bytes-max", "20"]);
    let result = server.call("read_files", json!({"paths": ["a.png", "b.png"]}));
    let output = &result["structuredContent"];
    assert_eq!(field(output, "image")[0], "image/png");
    assert!(field(output, "error")[1].as_str().unwrap().contains("Make a smaller one"));
}
