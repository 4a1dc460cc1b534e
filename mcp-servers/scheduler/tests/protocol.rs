//! Both protocol eras over a real child process: what a host sees before it calls anything, and how
//! calls fail.
#![expect(clippy::disallowed_methods, reason = "a test starts real processes and real clients")]
#![expect(clippy::unwrap_used, reason = "a test helper that fails should panic")]

mod support;

use claw_test_kit::mcp::{Told, assert_described, assert_keeps_to_schemas, tools};
use serde_json::json;
use support::Room;

const READERS: [&str; 4] = ["list", "history", "due", "now"];

#[test]
fn a_legacy_client_is_served() {
    let room = Room::new();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut server = support::spawn(&room.database, &[]);
        let reply = server.initialize(version);
        assert_eq!(reply["result"]["protocolVersion"], version);
        assert_eq!(reply["result"]["serverInfo"]["name"], "claw-mcp-scheduler");
        assert_eq!(reply["result"]["capabilities"]["resources"]["subscribe"], true);
        assert_eq!(tools(&mut server).len(), 10);
        assert!(server.close().success());
    }
}

#[test]
fn a_modern_client_is_served_without_a_handshake() {
    let room = Room::new();
    let mut server = support::spawn(&room.database, &[]);
    server.be_modern();
    let found = server.request("server/discover", json!({}))["result"].clone();
    assert!(found["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")));
    let list = server.request("tools/list", json!({}))["result"].clone();
    assert!(list["ttlMs"].as_u64().unwrap() > 0 && list["cacheScope"] == "public", "{list}");
    let resources = server.request("resources/list", json!({}))["result"].clone();
    assert_eq!(resources["resources"][0]["uri"], "schedule://due", "{resources}");
    assert!(resources["ttlMs"].is_u64() && resources["cacheScope"].is_string(), "{resources}");
    let read = server.request("resources/read", json!({"uri": "schedule://due"}))["result"].clone();
    assert!(read["ttlMs"] == 0 && read["cacheScope"] == "private", "{read}");
    let text: serde_json::Value =
        serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!((&text["cursor"], &text["due"]), (&json!(0), &json!([])));
    let unknown = server.request("resources/read", json!({"uri": "schedule://other"}));
    assert!(unknown["error"]["message"].as_str().unwrap().contains("schedule://due"), "{unknown}");
    server.ok("now", json!({}));
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
    let mut server = room.start();
    let full = json!({"text": "look", "cron": "* * * * *", "zone": "Asia/Tokyo", "chat": "c", "topic": "t",
        "session": "s", "agent": "a", "if_missed": "latest", "not_later_than_minutes": 600, "overlap": "queue",
        "jitter_s": 5, "until": "2100-01-01"});
    assert_keeps_to_schemas(
        &mut server,
        vec![
            ("schedule", json!({"say": "tea", "in_minutes": 20})),
            ("schedule", json!({"say": "tea", "at_local": "09:00", "weekday": "monday"})),
            ("schedule", full),
            ("change", json!({"id": "j3", "revision": 1, "to": {"say": "other", "jitter_s": 0}})),
        ],
    );
    room.minutes_pass(3);
    let (due, _) = server.ok("due", json!({}));
    let firing = due["due"][0]["firing"].clone();
    assert_keeps_to_schemas(
        &mut server,
        vec![
            ("due", json!({"after": 0, "limit": 5})),
            ("take", json!({"firing": firing})),
            ("take", json!({"firing": firing})),
            ("pause", json!({"id": "j3"})),
            ("list", json!({"chat": "c", "limit": 1})),
            ("list", json!({"after": "j1", "limit": 1})),
            ("resume", json!({"id": "j3"})),
            ("cancel", json!({"id": "j3"})),
            ("history", json!({"id": "j3", "limit": 3})),
            ("now", json!({"zone": "Asia/Tokyo"})),
        ],
    );
}

#[test]
fn every_answer_repeats_what_comes_next() {
    let room = Room::new();
    let mut server = room.start();
    let (job, text) = server.ok("schedule", json!({"say": "tea", "cron": "0 9 * * 1-5"}));
    assert_eq!(job["next"].as_array().unwrap().len(), 3, "{job}");
    let first = &job["next"][0];
    assert_eq!(first["zone"], "Europe/Berlin");
    assert!(text.contains(first["weekday"].as_str().unwrap()), "{text}");
    assert!(text.contains(" 09:00 (Europe/Berlin); "), "{text}");
    for tool in ["list", "due", "history", "now"] {
        let (output, text) = server.ok(tool, json!({}));
        let next = output["next"].as_array().unwrap();
        assert_eq!(next.len(), 3, "{tool}: {output}");
        assert_eq!(next[0]["utc"], first["utc"]);
        assert!(text.contains("Next: [j1] "), "{tool}: {text}");
    }
}

#[test]
fn wrong_calls_get_an_error_that_says_what_works() {
    let room = Room::new();
    let mut server = room.start();
    server.ok("schedule", json!({"say": "x", "every": "1h"}));
    let reply = server.request("tools/call", json!({"name": "nothing", "arguments": {}}));
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
    for (tool, arguments, needles) in [
        ("schedule", json!({"when": "x"}), &["unknown field", "cron (optional)"][..]),
        ("schedule", json!({"say": "x", "at_local": "09:00", "date": "2020-01-01"}), &["is past"]),
        ("list", json!({"limit": 0}), &["at least 1"]),
        ("list", json!({"id": "j404"}), &["there is no job `j404`", "`history`"]),
        ("cancel", json!({"id": "404"}), &["there is no job `404`"]),
        ("take", json!({"firing": "j1.1-5"}), &["there is no firing `j1.1-5`", "`due` lists"]),
        ("change", json!({"id": "j1", "revision": 7, "to": {}}), &["at revision 1, not 7"]),
        ("change", json!({"id": "j1", "revision": 1, "to": {"every": "1s"}}), &["shortest"]),
        ("now", json!({"zone": "Mars"}), &["there is no zone `Mars`"]),
    ] {
        let said = server.err(tool, arguments);
        assert!(needles.iter().all(|needle| said.contains(needle)), "{said}");
    }
    let (list, _) = server.ok("list", json!({}));
    assert_eq!((&list["total"], &list["jobs"][0]["revision"]), (&json!(1), &json!(1)));
}

#[test]
fn a_start_that_cannot_work_is_one_sentence() {
    let room = Room::new();
    std::fs::write(room.temp.path().join("text"), "no database at all, but long enough to see it")
        .unwrap();
    let text = room.temp.path().join("text").display().to_string();
    let database = room.database.display().to_string();
    for (arguments, needle) in [
        (vec!["--database", &text], "cannot be used"),
        (vec!["--database", "/dev/null/all.db"], "cannot be used"),
        (vec!["--database", &database, "--zone", "Mars"], "there is no zone `Mars`"),
        (vec![], "Name their file with --database"),
    ] {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_claw-mcp-scheduler"))
            .args(&arguments)
            .env_remove("CLAW_SCHEDULE")
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(needle) && said.lines().count() == 1, "{arguments:?}: {said}");
    }
}
