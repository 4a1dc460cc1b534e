//! What is remembered by a tap, by an order and out of a summary, as effects that can be counted: a
//! note holds one word that no other one has. Owns these words, and what must hold of the proposals
//! themselves. Must not know what was killed.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::findings::Findings;
use super::look::{CallRow, Look};

/// How the word of a note begins. It is one word, so that no message recalls it.
const KEEPS: &str = "keeps";
const OF_ORDER: &str = "keepsorder";
const OF_FACT: &str = "keepsfact";
/// What claw writes that wants facts beside a summary.
pub const ASKS_FOR_FACTS: &str = "`Durable facts:`";

/// The memory server of a house, where as much may be proposed as a rig likes.
pub fn args(notes: &Path) -> Value {
    let max = "1000000";
    json!([
        "server",
        "memory",
        "--notes",
        notes,
        "--proposals-per-turn-max",
        max,
        "--proposals-per-day-max",
        max,
    ])
}

/// What the proposal `note-1a` has remembered: `keepsnote1a`.
pub fn kept(id: &str) -> String {
    format!("{KEEPS}{}", id.replace('-', ""))
}

pub fn is_kept(id: &str) -> bool {
    id.starts_with(KEEPS)
}

/// The words behind `/remember`.
pub fn order(name: &str) -> String {
    format!("{OF_ORDER}{name}")
}

/// What a summary says behind its words. A fact holds a word of its task, which the owner has said.
pub fn fact(task: &str) -> String {
    let name = task.to_lowercase();
    format!("\n\nDurable facts:\n- {name}: {OF_FACT}{name} {name}")
}

/// No tool use of a model proposes it.
pub fn is_without_a_use(id: &str) -> bool {
    id.starts_with(OF_ORDER) || id.starts_with(OF_FACT)
}

/// Whether somebody has ordered it by a command.
pub fn is_order(call: &str) -> bool {
    call.ends_with(":order")
}

/// What claw tells the memory by itself: a no, and what a summary has brought.
pub fn is_claws_own(row: &CallRow) -> bool {
    is_order(&row.id) && ["skip", "propose"].contains(&row.tool.as_str())
}

pub fn first_word(text: String) -> String {
    text.split_whitespace().next().map(str::to_owned).unwrap_or_default()
}

/// How often each word stands in a note.
pub fn count(notes: &Path, counts: &mut BTreeMap<String, usize>) {
    for entry in std::fs::read_dir(notes).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
        for line in text.lines().filter(|line| is_kept(line)) {
            *counts.entry(first_word(line.to_owned())).or_default() += 1;
        }
    }
}

/// What got a no, or no answer in time, does not wait in the memory any more, unless its owner was
/// told that the memory could not be told.
pub fn judge(look: &Look, notes: &Path, findings: &mut Findings) -> rusqlite::Result<()> {
    let untold = look.count(
        "SELECT count(*) FROM outbox WHERE instr(body, 'The memory could not be told') > 0",
    )?;
    let closed: Vec<String> = look.all(
        "SELECT json_extract(c.arguments, '$.id') FROM approvals AS a JOIN calls AS c ON c.id = a.call
         WHERE c.server = 'memory' AND c.tool = 'promote' AND a.state IN ('denied', 'expired')",
        |row| row.get(0),
    )?;
    let state = notes.with_file_name("notes-state").join("proposals");
    let open = closed.iter().filter(|id| state.join(format!("{id}.md")).exists()).count();
    if open as i64 > untold {
        findings.lost.push(format!(
            "the no to {open} proposals: the memory has them still, and {untold} were told of"
        ));
    }
    Ok(())
}
