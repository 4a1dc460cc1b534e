//! The filesystem server killed between two files of one patch, through the whole program: what was
//! put is on the disk, claw calls the outcome unknown and does not repeat it, and an undo brings
//! back every file as it was.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::collections::BTreeMap;
use std::fs;

use crate::program::{House, SERVER_WAIT, outcomes};
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};
use serde_json::json;

/// What is tried here needs no questions.
const ALLOW: &str = "[[rule]]\nserver = \"*\"\ndecision = \"allow\"\nwhy = \"a test\"\n";
const PATCH: &str = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old a\n+new a\n\
    --- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-old b\n+new b\n\
    --- /dev/null\n+++ b/n/c.txt\n@@ -0,0 +1 @@\n+new c\n";

/// Every file of the workspace, also those that have a passing name.
fn files(house: &House) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![house.workspace()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(house.workspace()).unwrap().display().to_string();
            found.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
    found
}

#[test]
fn a_patch_that_a_kill_has_cut_is_unknown_and_an_undo_brings_back_every_file() {
    for count in 1..=3 {
        let patch = Call::new("a", "filesystem__apply_patch", &json!({"patch": PATCH}).to_string());
        let answers = [Answer::Turn(Turn::calls(&[patch])), Answer::text("I look again.")];
        let model = Threaded::start(Wire::OpenAi, answers);
        let house = House::at("openai-compatible", &model.base_url);
        house.write("claw.toml", SERVER_WAIT);
        house.write("policy.toml", ALLOW);
        let point = format!("patch.put:{count}");
        let server = json!({"command": "claw", "args": ["server", "filesystem"],
            "env": {"CLAW_KILL_AT": point}});
        house.write("mcp.json", &json!({"mcpServers": {"filesystem": server}}).to_string());
        house.write("workspace/a.txt", "old a\n");
        house.write("workspace/b.txt", "old b\n");
        let before = files(&house);

        house.claw(&["ask", "patch them"]).expect(0);
        let put = ["a.txt", "b.txt", "n/c.txt"];
        for (at, (path, letter)) in put.into_iter().zip(["a", "b", "c"]).enumerate() {
            let new = format!("new {letter}\n");
            assert_eq!(house.in_workspace(path) == new, at < count, "{point}: {path}");
        }
        let outcomes = outcomes(&house.events("main"));
        assert_eq!(outcomes.len(), 1, "it is not repeated: {outcomes:?}");
        assert_eq!(outcomes[0]["kind"], "unknown", "{point}: {outcomes:?}");

        house.claw(&["undo", "--yes"]).expect(0);
        assert_eq!(files(&house), before, "{point}");
        assert_eq!(model.faults(), Vec::<String>::new());
        house.is_whole();
    }
}
