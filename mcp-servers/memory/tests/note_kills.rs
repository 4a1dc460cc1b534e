//! A server that is killed at each of its points: what it had said to have done is done, every text
//! that was ever written is in the notes or in the trash, and the next start brings the index to
//! the files. Needs the feature `kill-points`.
#![cfg(feature = "kill-points")]
#![expect(clippy::unwrap_used, reason = "a test may fail")]
#![expect(clippy::disallowed_methods, reason = "it starts real processes, to be killed")]

mod support;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use support::Room;

const POINTS: [&str; 8] = [
    "durable-written",
    "durable-swapped",
    "durable-moved",
    "memory-written",
    "memory-indexed",
    "memory-proposed",
    "memory-promoted",
    "memory-superseding",
];

/// Does one of each, and notes what was said to be done. Ends when the server is killed.
fn day(room: &Room, kill_at: &str) -> (bool, Vec<(&'static str, Value)>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_claw-mcp-memory"))
        .arg("--notes")
        .arg(&room.notes)
        .env("CLAW_KILL_AT", kill_at)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut ask = |id: u64, method: &str, parameters: Value| -> Option<Value> {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters});
        writeln!(stdin, "{message}").ok()?;
        let line = lines.next()?.ok()?;
        Some(serde_json::from_str::<Value>(&line).unwrap()["result"].clone())
    };
    let mut done = Vec::new();
    let mut work = || -> Option<()> {
        ask(
            0,
            "initialize",
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}),
        )?;
        let mut call = |id: u64, tool: &'static str, arguments: Value| {
            let result = ask(id, "tools/call", json!({"name": tool, "arguments": arguments}))?;
            assert_eq!(result["isError"], false, "{tool}: {result}");
            let output = result["structuredContent"].clone();
            done.push((tool, output.clone()));
            Some(output)
        };
        let proposal = call(1, "propose", json!({"subject": "Boiler", "text": "TEXT-ONE"}))?;
        let note = call(2, "promote", tap(&proposal))?;
        let note = call(
            3,
            "update",
            json!({"id": note["id"], "version": note["version"], "text": "TEXT-TWO"}),
        )?;
        call(
            4,
            "supersede",
            json!({"id": note["id"], "version": note["version"], "text": "TEXT-THREE"}),
        )?;
        call(5, "forget", json!({"id": "byhand.md"}))?;
        call(6, "restore", json!({"id": "byhand.md"}))?;
        // A tap that adds to a note, and one that puts another in its place.
        let more = json!({"subject": "Boiler", "text": "TEXT-THREE, and more"});
        let proposal = call(7, "propose", more)?;
        let note = call(8, "promote", tap(&proposal))?;
        let four = json!({"subject": "Boiler", "text": "TEXT-FOUR", "replaces": note["id"]});
        let proposal = call(9, "propose", four)?;
        call(10, "promote", tap(&proposal))?;
        Some(())
    };
    let survived = work().is_some();
    drop(stdin);
    child.wait().unwrap();
    (!survived, done)
}

/// What a yes to a proposal calls.
fn tap(proposal: &Value) -> Value {
    json!({"id": proposal["id"], "version": proposal["version"]})
}

/// Files of notes that hold a text.
fn holding(room: &Room, text: &str) -> usize {
    let files = std::fs::read_dir(&room.notes).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| std::fs::read_to_string(path).is_ok_and(|all| all.contains(text))).count()
}

fn texts(folder: &Path, found: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts(&path, found);
        } else if path.to_str().unwrap().contains(".md") {
            found.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn a_server_that_is_killed_anywhere_has_lost_nothing() {
    let mut kills = 0;
    for point in POINTS {
        for count in 1.. {
            let at = format!("{point}:{count}");
            let room = Room::new();
            room.write("byhand.md", "TEXT-BY-HAND\n");
            let (was_killed, done) = day(&room, &at);
            let mut server = room.start();
            let mut all = String::new();
            texts(room.temp.path(), &mut all);
            assert!(all.contains("TEXT-BY-HAND"), "{at}");
            for (tool, text) in
                [("propose", "TEXT-ONE"), ("update", "TEXT-TWO"), ("supersede", "TEXT-THREE")]
            {
                let was_said = done.iter().any(|(done, _)| *done == tool);
                assert!(!was_said || all.contains(text), "{at}: {text} is lost");
            }
            for (tool, output) in &done {
                if matches!(*tool, "promote" | "update" | "supersede") {
                    server.ok("read", json!({"id": output["id"]}));
                }
            }
            // The tap that was cut off is made once more: the note is there, once.
            let open = server.ok("list", json!({"what": "proposals"})).0;
            for proposal in open["notes"].as_array().unwrap() {
                server.ok("promote", tap(proposal));
            }
            for text in ["TEXT-ONE", "TEXT-TWO", "TEXT-THREE", "TEXT-FOUR"] {
                assert!(holding(&room, text) <= 1, "{at}: {text} is there twice");
            }
            drop(server);
            let (is_equal, said) = room.check();
            assert!(is_equal, "{at}: {said}");
            let left: Vec<_> = std::fs::read_dir(&room.notes)
                .unwrap()
                .map(|entry| entry.unwrap().file_name())
                .collect();
            assert!(
                left.iter().all(|name| !name.to_str().unwrap().starts_with('.')),
                "{at}: {left:?}"
            );
            if !was_killed {
                break;
            }
            kills += 1;
        }
    }
    assert!(kills > 20, "only {kills} kills");
}
