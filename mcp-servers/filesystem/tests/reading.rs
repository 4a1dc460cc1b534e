//! `read_file`, `list_dir`, `find` and `search`: what a model gets, and what it is told when it
//! cannot have it.
#![expect(clippy::disallowed_methods, reason = "a test starts real processes and real clients")]
#![expect(clippy::unwrap_used, reason = "a test helper that fails should panic")]

mod support;

use serde_json::{Value, json};
use support::Room;

fn paths(output: &Value, key: &str) -> Vec<String> {
    output[key]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["path"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_file_is_read_whole_or_in_part() {
    let room = Room::new();
    room.write("a.txt", "one\ntwo\r\nthree");
    room.write("empty", "");
    let mut server = room.start(&[]);
    let (output, text) = server.ok("read_file", json!({"path": "a.txt"}));
    assert_eq!(text, "one\ntwo\r\nthree");
    assert_eq!(output["total_lines"], 3);
    let (output, text) =
        server.ok("read_file", json!({"path": "a.txt", "start_line": 2, "end_line": 2}));
    assert_eq!(output["content"], "two\r\n");
    assert!(text.contains("[lines 2–2 of 3"), "{text}");
    let (_, text) =
        server.ok("read_file", json!({"path": "a.txt", "start_line": 2, "line_numbers": true}));
    assert!(text.starts_with("     2\ttwo\r\n     3\tthree"), "{text}");
    let (_, text) = server.ok("read_file", json!({"path": "empty"}));
    assert!(text.contains("is empty"));
    let absolute = room.root.join("a.txt");
    assert_eq!(server.ok("read_file", json!({"path": absolute})).1, "one\ntwo\r\nthree");
    let message = server.err("read_file", json!({"path": "a.txt", "start_line": 4}));
    assert!(message.contains("has 3 lines"), "{message}");
    for (start, end) in [(0, 3), (3, 2)] {
        server.err("read_file", json!({"path": "a.txt", "start_line": start, "end_line": end}));
    }
}

#[test]
fn a_long_file_is_read_in_pieces_that_join_up() {
    let room = Room::new();
    let whole: String = (1..=1000).map(|number| format!("line number {number} é\n")).collect();
    room.write("long.txt", &whole);
    let mut server = room.start(&["--read-reply-bytes-max", "4096"]);
    let (mut joined, mut next) = (String::new(), Some(1));
    while let Some(start) = next {
        let (output, text) =
            server.ok("read_file", json!({"path": "long.txt", "start_line": start}));
        let content = output["content"].as_str().unwrap();
        assert!(content.len() <= 4096 && content.ends_with('\n'));
        joined.push_str(content);
        next = output["next_start_line"].as_u64();
        if let Some(next) = next {
            assert!(text.contains(&format!("there is more: ask for lines {next}–")), "{text}");
        }
    }
    assert_eq!(joined, whole);
}

#[test]
fn huge_files_and_lines_get_a_clear_answer() {
    let room = Room::new();
    room.write("one-line.json", "é".repeat(5000) + "\nsecond\n");
    room.write("huge.txt", "0123456789\n".repeat(10_000));
    let mut server = room.start(&[
        "--read-reply-bytes-max",
        "1001",
        "--read-scan-bytes-max",
        "50000",
        "--edit-file-bytes-max",
        "50000",
    ]);
    let (output, text) = server.ok("read_file", json!({"path": "one-line.json"}));
    assert_eq!(output["content"].as_str().unwrap().chars().count(), 500);
    assert_eq!(output["line_cut"], true);
    assert!(text.contains("use search") && text.contains("next line is 2"), "{text}");
    let (output, _) = server.ok("read_file", json!({"path": "huge.txt"}));
    assert!(output.get("total_lines").is_none());
    let message = server.err("read_file", json!({"path": "huge.txt", "start_line": 9000}));
    assert!(message.contains("50000 bytes"), "{message}");
    let message = server.err(
        "edit_file",
        json!({"path": "huge.txt", "edits": [{"old_text": "x", "new_text": "y"}]}),
    );
    assert!(
        message.contains("110000") && message.contains("50000") && message.contains("read_file"),
        "{message}"
    );
}

#[test]
fn what_is_no_text_is_named() {
    let room = Room::new();
    room.write("old.sqlite", b"SQLite format 3\0");
    room.write("latin.txt", b"gr\xfc\xdfe\n");
    let mut server = room.start(&[]);
    for tool in ["read_file", "edit_file"] {
        let call = |path| match tool {
            "read_file" => json!({"path": path}),
            _ => json!({"path": path, "edits": [{"old_text": "a", "new_text": "b"}]}),
        };
        let message = server.err(tool, call("old.sqlite"));
        assert!(message.contains("an SQLite database, 16 bytes"), "{message}");
        let message = server.err(tool, call("latin.txt"));
        assert!(message.contains("Latin-1"), "{message}");
    }
    assert_eq!(std::fs::read(room.root.join("latin.txt")).unwrap(), b"gr\xfc\xdfe\n");
}

#[test]
fn a_missing_path_names_what_is_near() {
    let room = Room::new();
    room.write("src/config.rs", "");
    let mut server = room.start(&[]);
    let message = server.err("read_file", json!({"path": "src/confg.rs"}));
    assert!(message.contains("`src`") && message.contains("`config.rs`"), "{message}");
    let message = server.err("read_file", json!({"path": "lib/deep/x.rs"}));
    assert!(message.contains("is the workspace"), "{message}");
    let message = server.err("read_file", json!({"path": "src"}));
    assert!(message.contains("is a directory") && message.contains("list_dir"), "{message}");
    let message = server.err("read_file", json!({"path": "src/config.rs/x"}));
    assert!(message.contains("not a directory but a file"), "{message}");
    let message = server.err("list_dir", json!({"path": "src/config.rs"}));
    assert!(message.contains("not a directory"), "{message}");
}

#[test]
fn a_directory_is_listed_with_types_and_sizes() {
    let room = Room::new();
    room.write("b.txt", "12345");
    room.write("a/inner/x", "1");
    room.write(".hidden", "");
    room.link("b.txt", "to-b");
    room.link("missing", "to-nothing");
    room.link(&room.outside, "to-outside");
    let mut server = room.start(&[]);
    let (output, text) = server.ok("list_dir", json!({}));
    assert_eq!(
        paths(&output, "entries"),
        [".hidden", "a", "b.txt", "to-b", "to-nothing", "to-outside"]
    );
    assert_eq!(output["entries"][2]["size_bytes"], 5);
    assert_eq!(output["entries"][1]["type"], "dir");
    let leads: Vec<&str> =
        (3..6).map(|at| output["entries"][at]["leads"].as_str().unwrap()).collect();
    assert_eq!(leads, ["inside", "nowhere", "outside"]);
    assert!(
        text.contains("a/\n")
            && text.contains("b.txt  5 bytes")
            && text.contains("to-b -> b.txt\n"),
        "{text}"
    );
    let (output, _) = server.ok("list_dir", json!({"depth": 3}));
    assert!(paths(&output, "entries").contains(&"a/inner/x".to_owned()));
    let (output, text) = server.ok("list_dir", json!({"limit": 2}));
    assert!(output["truncated"] == true && text.contains("there are more"), "{text}");
    room.write("empty/x", "");
    std::fs::remove_file(room.root.join("empty/x")).unwrap();
    assert!(server.ok("list_dir", json!({"path": "empty"})).1.contains("empty directory"));
}

#[test]
fn find_is_sorted_and_respects_gitignore() {
    let room = Room::new();
    for path in [
        "z.rs",
        "a/b.rs",
        "a/gen/c.rs",
        "target/d.rs",
        ".git/e.rs",
        "a/keep.log",
        "a/drop.log",
        ".github/f.rs",
    ] {
        room.write(path, "");
    }
    room.write(".gitignore", "target/\n*.log\n");
    room.write("a/.gitignore", "/gen\n!keep.log\n");
    let mut server = room.start(&[]);
    let (output, _) = server.ok("find", json!({"pattern": "*.rs"}));
    assert_eq!(paths(&output, "paths"), [".github/f.rs", "a/b.rs", "z.rs"]);
    let (output, _) = server.ok("find", json!({"pattern": "*.log"}));
    assert_eq!(paths(&output, "paths"), ["a/keep.log"]);
    // The rules above the directory that is looked at hold as well.
    let (output, _) = server.ok("find", json!({"pattern": "*.log", "path": "a"}));
    assert_eq!(paths(&output, "paths"), ["a/keep.log"]);
    let (output, _) = server.ok("find", json!({"pattern": "**/*.rs", "include_ignored": true}));
    assert_eq!(
        paths(&output, "paths"),
        [".git/e.rs", ".github/f.rs", "a/b.rs", "a/gen/c.rs", "target/d.rs", "z.rs"]
    );
    let (output, text) = server.ok("find", json!({"pattern": "*", "type": "dir", "limit": 1}));
    assert!(
        paths(&output, "paths") == [".github"]
            && output["truncated"] == true
            && text.contains("raise limit")
    );
    assert!(server.ok("find", json!({"pattern": "d.rs"})).1.contains("include_ignored"));
    assert!(server.err("find", json!({"pattern": "["})).contains("glob"));
    assert!(server.err("find", json!({"pattern": "/etc/*"})).contains("relative"));
}

#[test]
fn search_gives_lines_with_context_and_counts_what_it_skips() {
    let room = Room::new();
    room.write("a.rs", "zero\nfn one() {}\ntwo\nthree\nfn four() {}\nfive\n");
    room.write("b.md", "fn in text\r\n");
    room.write("bin", b"fn \0 x");
    room.write("big.txt", "fn x\n".repeat(1000));
    room.write("ignored/c.rs", "fn no() {}\n");
    room.write(".gitignore", "ignored\n");
    let mut server = room.start(&["--search-file-bytes-max", "1000"]);
    let (output, text) = server.ok("search", json!({"pattern": r"^fn \w+", "context_lines": 1}));
    let lines: Vec<String> = output["matches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| {
            format!(
                "{}:{}:{}",
                found["path"].as_str().unwrap(),
                found["line"],
                found["text"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(lines, ["a.rs:2:fn one() {}", "a.rs:5:fn four() {}", "b.md:1:fn in text"]);
    let expected = "a.rs\n  1- zero\n  2: fn one() {}\n  3- two\n  4- three\n  5: fn four() {}\n  6- five\n\nb.md\n  1: fn in text\n";
    assert!(text.starts_with(expected), "{text}");
    assert!(
        text.contains("1 binary file skipped")
            && text.contains("1 too large file skipped (big.txt)"),
        "{text}"
    );
    let (output, _) =
        server.ok("search", json!({"pattern": "FN", "ignore_case": true, "glob": "*.rs"}));
    assert_eq!(output["matches"].as_array().unwrap().len(), 2);
    let (output, _) =
        server.ok("search", json!({"pattern": "one() {", "literal": true, "path": "a.rs"}));
    assert_eq!(output["matches"][0]["line"], 2);
    let (output, text) = server.ok("search", json!({"pattern": "fn", "limit": 1}));
    assert!(output["truncated"] == true && text.contains("raise limit"), "{text}");
    let (output, _) = server.ok("search", json!({"pattern": "fn no", "include_ignored": true}));
    assert_eq!(output["matches"].as_array().unwrap().len(), 1);
    assert!(server.err("search", json!({"pattern": "("})).contains("literal: true"));
}

#[test]
fn overlapping_context_shows_every_line_once() {
    let room = Room::new();
    room.write("a", "1\nx2\nx3\n4\n5\n6\n7\nx8\n");
    let mut server = room.start(&[]);
    let (_, text) = server.ok("search", json!({"pattern": "x", "context_lines": 1}));
    assert!(
        text.starts_with("a\n  1- 1\n  2: x2\n  3: x3\n  4- 4\n  --\n  7- 7\n  8: x8\n"),
        "{text}"
    );
}

#[test]
fn a_reply_is_bounded_however_much_matches() {
    let room = Room::new();
    room.write("all", format!("{}\n", "x".repeat(1000)).repeat(5000));
    let mut server = room.start(&["--list-reply-bytes-max", "50000"]);
    let result = server.call("search", json!({"pattern": "x", "context_lines": 20, "limit": 9000}));
    let (bytes, structured) = (result.to_string().len(), &result["structuredContent"]);
    assert!(bytes < 150_000 && structured["truncated"] == true, "{bytes} bytes");
    let shown = structured["matches"][0]["text"].as_str().unwrap();
    assert!(shown.ends_with("… [1000 bytes]"), "{shown}");
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_utf8_are_shown_and_do_no_harm() {
    use std::os::unix::ffi::OsStrExt as _;
    let room = Room::new();
    let name = std::ffi::OsStr::from_bytes(b"na\xffme.txt");
    std::fs::write(room.root.join(name), "needle\n").unwrap();
    let mut server = room.start(&[]);
    let (output, text) = server.ok("list_dir", json!({}));
    assert!(output["entries"][0]["name_not_utf8"] == true && text.contains("not UTF-8"), "{text}");
    assert_eq!(server.ok("search", json!({"pattern": "needle"})).0["files_with_matches"], 1);
    assert_eq!(
        server.ok("find", json!({"pattern": "*.txt"})).0["paths"].as_array().unwrap().len(),
        1
    );
}

#[test]
fn pipes_sockets_and_devices_never_block() {
    let room = Room::new();
    assert!(
        std::process::Command::new("mkfifo")
            .arg(room.root.join("pipe"))
            .status()
            .unwrap()
            .success()
    );
    let _socket = std::os::unix::net::UnixListener::bind(room.root.join("socket")).unwrap();
    room.write("file", "needle");
    let mut server = room.start(&[]);
    for (path, what) in [("pipe", "FIFO"), ("socket", "socket")] {
        for (tool, arguments) in [
            ("read_file", json!({"path": path})),
            ("write_file", json!({"path": path, "content": "x"})),
            ("edit_file", json!({"path": path, "edits": [{"old_text": "a", "new_text": "b"}]})),
            ("search", json!({"path": path, "pattern": "x"})),
        ] {
            let message = server.err(tool, arguments);
            assert!(message.contains(what), "{tool}: {message}");
        }
    }
    assert_eq!(server.ok("search", json!({"pattern": "needle"})).0["files_searched"], 1);
    assert!(server.ok("list_dir", json!({})).1.contains("pipe  [a FIFO"));
    server.ok("delete", json!({"path": "pipe"}));
}
