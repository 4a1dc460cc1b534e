//! Both protocol eras over a real child process: what a host sees before it calls anything, and how
//! calls fail.
#![expect(clippy::disallowed_methods, reason = "a test starts real processes and real clients")]
#![expect(clippy::unwrap_used, reason = "a test helper that fails should panic")]

mod support;

use claw_test_kit::mcp::{Told, assert_described, assert_keeps_to_schemas, tools};
use serde_json::{Value, json};
use support::Room;

const NAMES: [&str; 10] = [
    "read_file",
    "read_files",
    "write_file",
    "edit_file",
    "apply_patch",
    "list_dir",
    "find",
    "search",
    "move",
    "delete",
];

fn names(tools: &Value) -> Vec<&str> {
    tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn a_legacy_client_is_served() {
    let room = Room::new();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut server = support::spawn(&room.root, &[]);
        let reply = server.initialize(version);
        assert_eq!(reply["result"]["protocolVersion"], version);
        assert_eq!(reply["result"]["serverInfo"]["name"], "claw-mcp-filesystem");
        assert_eq!(reply["result"]["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
        assert!(reply["result"]["capabilities"]["tools"].is_object());
        assert_eq!(names(&server.request("tools/list", json!({}))["result"]["tools"]), NAMES);
        assert!(server.close().success());
    }
}

#[test]
fn a_modern_client_is_served_without_a_handshake() {
    let room = Room::new();
    room.write("a.txt", "hello\n");
    let mut server = support::spawn(&room.root, &[]);
    server.be_modern();
    let found = server.request("server/discover", json!({}))["result"].clone();
    assert!(
        found["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")),
        "{found}"
    );
    assert!(found["ttlMs"].is_u64() && found["cacheScope"].is_string(), "{found}");
    assert_eq!(
        found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "claw-mcp-filesystem",
        "{found}"
    );
    let list = server.request("tools/list", json!({}))["result"].clone();
    assert_eq!(names(&list["tools"]), NAMES);
    assert!(list["ttlMs"].as_u64().unwrap() > 0 && list["cacheScope"] == "public", "{list}");
    assert_eq!(list["resultType"], "complete");
    let (output, _) = server.ok("read_file", json!({"path": "a.txt"}));
    assert_eq!(output["content"], "hello\n");
    assert!(server.close().success());
}

#[test]
fn every_tool_is_described_and_honest() {
    let room = Room::new();
    let mut server = room.start(&[]);
    let readers = ["read_file", "read_files", "list_dir", "find", "search"];
    assert_described(&mut server, &Told { readers: &readers, ..Told::default() });
    for tool in tools(&mut server) {
        let name = tool["name"].as_str().unwrap();
        let reads = readers.contains(&name);
        assert_eq!(tool["annotations"]["destructiveHint"], json!(!reads), "{name}");
        assert_eq!(
            tool["annotations"]["idempotentHint"],
            json!(reads || name == "write_file"),
            "{name}"
        );
    }
}

#[test]
fn results_keep_to_their_output_schema() {
    let room = Room::new();
    room.write("a/b.txt", "one\ntwo\n");
    room.link("a/b.txt", "link");
    let mut server = room.start(&[]);
    let calls = vec![
        ("read_file", json!({"path": "a/b.txt", "end_line": 1})),
        ("read_files", json!({"paths": ["a/b.txt", "gone"]})),
        ("write_file", json!({"path": "n/c.txt", "content": "x"})),
        ("edit_file", json!({"path": "a/b.txt", "edits": [{"old_text": "two", "new_text": "2"}]})),
        (
            "apply_patch",
            json!({"patch": "--- a/a/b.txt\n+++ b/a/b.txt\n@@ -1 +1 @@\n-one\n+one more\n"}),
        ),
        ("list_dir", json!({"depth": 3})),
        ("find", json!({"pattern": "*.txt"})),
        ("search", json!({"pattern": "one", "context_lines": 1})),
        ("move", json!({"source": "n/c.txt", "destination": "d.txt"})),
        ("delete", json!({"path": "d.txt"})),
    ];
    assert_keeps_to_schemas(&mut server, calls);
}

#[test]
fn wrong_calls_get_the_right_kind_of_error() {
    let room = Room::new();
    let mut server = room.start(&[]);
    let reply = server.request("tools/call", json!({"name": "nope", "arguments": {}}));
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
    let message = server.err("read_file", json!({}));
    assert!(
        message.contains("missing field `path`") && message.contains("start_line (optional)"),
        "{message}"
    );
    let message = server.err("read_file", json!({"path": "a", "startLine": 3}));
    assert!(message.contains("unknown field `startLine`"), "{message}");
    let message = server.err("read_file", json!({"path": 3}));
    assert!(message.contains("expected a string"), "{message}");
}

#[test]
fn a_workspace_that_is_not_there_is_said_on_stderr_with_code_2() {
    let room = Room::new();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_claw-mcp-filesystem"))
        .args(["--workspace", room.root.join("missing").to_str().unwrap()])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("CLAW_WORKSPACE"));
}

#[test]
fn the_workspace_comes_from_the_environment_or_the_working_directory() {
    let room = Room::new();
    room.write("here.txt", "x");
    for variable in [Some(&room.root), None] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_claw-mcp-filesystem"));
        command.env_remove("CLAW_WORKSPACE").current_dir(&room.root);
        if let Some(root) = variable {
            command.env("CLAW_WORKSPACE", root).current_dir("/");
        }
        let mut child = command
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "list_dir", "arguments": {}}});
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
            "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        std::io::Write::write_all(&mut stdin, format!("{hello}\n{ready}\n{call}\n").as_bytes())
            .unwrap();
        drop(stdin);
        // Standard input is closed before the answer: what was asked is still answered.
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        assert!(String::from_utf8_lossy(&output.stdout).contains("here.txt"));
    }
}

#[test]
fn without_a_workspace_the_root_a_home_and_claws_home_are_refused() {
    let room = Room::new();
    let (home, claw, other) =
        (room.root.join("home"), room.root.join("claw"), room.root.join("other"));
    for folder in [home.join(".claw/workspace"), claw.clone(), other.clone()] {
        std::fs::create_dir_all(folder).unwrap();
    }
    let start = |folder: &std::path::Path, claw_home: Option<&std::path::Path>, args: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_claw-mcp-filesystem"));
        command
            .env_clear()
            .env("HOME", &home)
            .current_dir(folder)
            .args(args)
            .stdin(std::process::Stdio::null());
        let output = command.envs(claw_home.map(|claw| ("CLAW_HOME", claw))).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let cases = [
        (std::path::Path::new("/"), None, "everything"),
        (&home, None, "the user's home"),
        (&room.root, None, "the user's home"),
        (&home.join(".claw"), None, "claw's own files"),
        (&claw, Some(claw.as_path()), "claw's own files"),
    ];
    for (folder, claw_home, inside) in cases {
        let (code, said) = start(folder, claw_home, &[]);
        assert!(
            code == Some(2) && said.contains(inside) && said.contains("--workspace"),
            "{folder:?}: {code:?} {said}"
        );
    }
    for folder in [&other, &home.join(".claw/workspace")] {
        assert_eq!(start(folder, None, &[]), (Some(0), String::new()), "{folder:?}");
    }
    assert_eq!(start(&home, None, &["--workspace", "."]).0, Some(0), "somebody has chosen it");
}

#[test]
fn a_cancelled_search_stops_and_others_are_not_held_up() {
    let room = Room::new();
    // Slow by its amount on any machine, and yet small on disk: one file of 4 MB under a thousand
    // names.
    room.write("big/0", format!("{}\n", "ab".repeat(400)).repeat(5_000));
    for index in 1..1000 {
        std::fs::hard_link(room.root.join("big/0"), room.root.join(format!("big/{index}")))
            .unwrap();
    }
    room.write("small.txt", "quick\n");
    let mut server = room.start(&[]);
    let slow = server
        .begin_call("search", json!({"pattern": "(a.*b.*){12}(c|d)[0-9]{30}x", "path": "big"}));
    let (output, _) = server.ok("read_file", json!({"path": "small.txt"}));
    assert_eq!(output["content"], "quick\n");
    assert!(!server.has_reply(slow), "the search was too quick to show anything");
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": slow}}));
    let started = std::time::Instant::now();
    // The server ends at once only if the search has stopped: it waits for work in progress.
    assert!(server.close().success());
    assert!(started.elapsed() < std::time::Duration::from_secs(4), "{:?}", started.elapsed());
}
