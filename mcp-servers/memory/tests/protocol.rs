//! Both protocol eras over a real child process: what a host sees before it calls anything, and how
//! calls fail.
#![expect(clippy::disallowed_methods, reason = "a test starts real processes and real clients")]
#![expect(clippy::unwrap_used, reason = "a test helper that fails should panic")]

mod support;

use claw_test_kit::mcp::{Told, assert_described, assert_keeps_to_schemas, tools};
use serde_json::json;
use support::Room;

const READERS: [&str; 3] = ["recall", "read", "list"];

#[test]
fn a_legacy_client_is_served() {
    let room = Room::new();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut server = support::spawn(&room.notes, &[]);
        let reply = server.initialize(version);
        assert_eq!(reply["result"]["protocolVersion"], version);
        assert_eq!(reply["result"]["serverInfo"]["name"], "claw-mcp-memory");
        assert!(reply["result"]["capabilities"]["tools"].is_object());
        assert!(tools(&mut server).len() >= READERS.len());
        assert!(server.close().success());
    }
}

#[test]
fn a_modern_client_is_served_without_a_handshake() {
    let room = Room::new();
    room.write("a.md", "The boiler is blue.\n");
    let mut server = support::spawn(&room.notes, &[]);
    server.be_modern();
    let found = server.request("server/discover", json!({}))["result"].clone();
    assert!(found["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")));
    assert!(found["ttlMs"].is_u64() && found["cacheScope"].is_string(), "{found}");
    let list = server.request("tools/list", json!({}))["result"].clone();
    assert!(list["ttlMs"].as_u64().unwrap() > 0 && list["cacheScope"] == "public", "{list}");
    assert_eq!(list["resultType"], "complete");
    let (output, _) = server.ok("recall", json!({"query": "boiler"}));
    assert_eq!(output["hits"][0]["id"], "a.md");
    assert!(server.close().success());
}

#[test]
fn every_tool_is_described_and_honest() {
    let room = Room::new();
    let mut server = room.start();
    assert_described(&mut server, &Told { readers: &READERS, ..Told::default() });
}

#[test]
fn results_keep_to_their_output_schema() {
    let room = Room::new();
    room.write("a.md", "---\nid: m1\nsource: owner\nsource_turn: 3\nvalid_from: 2026-01-01\ntags: [x]\n---\nSee [[b]].\n");
    room.write("b.md", "---\nkind: recipe\n---\nBread [[a]].\n");
    let mut server = room.start();
    let calls = vec![
        ("recall", json!({"query": "bread", "limit": 5})),
        (
            "recall",
            json!({"tag": "x", "since": "2020-01-01", "until": "2100-01-01", "as_of": "2026-02-01"}),
        ),
        ("read", json!({"id": "m1"})),
        ("list", json!({"limit": 1})),
    ];
    assert_keeps_to_schemas(&mut server, calls);
}

#[test]
fn wrong_calls_get_an_error_that_says_what_works() {
    let room = Room::new();
    let mut server = room.start();
    let reply = server.request("tools/call", json!({"name": "nothing", "arguments": {}}));
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
    for (tool, arguments, needles) in [
        ("recall", json!({"words": "x"}), &["unknown field", "query (optional)"][..]),
        (
            "recall",
            json!({"query": "x", "since": "soon"}),
            &["since `soon` is no date", "2026-11-23"],
        ),
        ("recall", json!({"query": "x", "limit": 0}), &["at least 1"]),
        ("recall", json!({"query": "x", "kind": "recipe"}), &["preference"]),
        ("read", json!({"id": "m404"}), &["there is no note `m404`", "with recall"]),
    ] {
        let said = server.err(tool, arguments);
        assert!(needles.iter().all(|needle| said.contains(needle)), "{said}");
    }
}

#[test]
fn a_start_that_cannot_work_is_one_sentence() {
    let room = Room::new();
    room.write("file", "");
    let inside = room.notes.join("state").display().to_string();
    let notes = room.notes.display().to_string();
    let file = room.notes.join("file").display().to_string();
    for (arguments, needle) in [
        (vec!["--notes", &file], "cannot be used"),
        (vec!["--notes", &notes, "--state", &inside], "inside of each other"),
        (vec![], "Name their folder with --notes"),
    ] {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_claw-mcp-memory"))
            .args(&arguments)
            .env_remove("CLAW_MEMORY")
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(needle) && said.lines().count() == 1, "{arguments:?}: {said}");
    }
}
