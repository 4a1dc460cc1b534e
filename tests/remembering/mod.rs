//! A house whose agent has notes and our memory server. Must not know what is tested.
#![allow(dead_code, reason = "each test binary uses its own part of this module")]
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::program::House;

/// A `claw.toml` by which a message waits for its notes, however slow the machine is.
pub const PATIENT: &str = "[memory]\nrecall_time_ms = 60000\n";

/// What stands before what was recalled.
pub const MARK: &str = "[from your memory";

pub fn notes_of(house: &House) -> PathBuf {
    house.user_home().join("notes")
}

/// Writes `NAME.md`, with front matter and a body.
pub fn note(house: &House, name: &str, front: &str, body: &str) {
    let folder = notes_of(house);
    fs::create_dir_all(&folder).unwrap();
    let text = format!("---\nid: {name}\nsubject: {name}\n{front}---\n{body}\n");
    fs::write(folder.join(format!("{name}.md")), text).unwrap();
}

/// Gives the house the memory server alone, and patience.
pub fn remembers(house: &House) {
    fs::create_dir_all(notes_of(house)).unwrap();
    let notes = notes_of(house).display().to_string();
    servers(
        house,
        json!({"memory": {"command": "claw", "args": ["server", "memory", "--notes", notes]}}),
    );
    house.write("claw.toml", PATIENT);
}

pub fn servers(house: &House, servers: Value) {
    house.write("mcp.json", &json!({"mcpServers": servers}).to_string());
}
