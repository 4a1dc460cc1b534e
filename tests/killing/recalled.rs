//! A note that fits every message, and what must hold of what was recalled. Must not know what was
//! killed.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::findings::Findings;
use super::look::Look;

/// What the ids of claw's own looks into the memory end with.
const OURS: &str = ":recall";

pub fn notes(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("tasks.md"), "Each task is done with care.\n")
}

/// Whether claw has made the call by itself.
pub fn is_recall(call: &str) -> bool {
    call.ends_with(OURS)
}

/// What was recalled stands before its message, under its own number, and no note twice in a
/// window that no summary has cut. A look whose number the log has passed belongs to what was
/// recalled, or to the message.
pub fn judge(
    look: &Look,
    session: &str,
    events: &[(i64, Value)],
    findings: &mut Findings,
) -> rusqlite::Result<()> {
    let mut stands: BTreeSet<String> = BTreeSet::new();
    for (index, (seq, event)) in events.iter().enumerate() {
        match event["type"].as_str() {
            Some("summary" | "window.dropped" | "session.cleared" | "exchange.dropped") => {
                stands.clear();
            }
            Some("turn.recalled") => {
                for note in event["notes"].as_array().into_iter().flatten() {
                    if !stands.insert(format!("{} {}", note["id"], note["version"])) {
                        let id = &note["id"];
                        findings
                            .doubled
                            .push(format!("the note {id} stands twice before event {seq}"));
                    }
                }
                if event["call"] != format!("{session}:{seq}{OURS}") {
                    findings.other.push(format!("event {seq} was recalled by {}", event["call"]));
                }
                let next = events.get(index + 1).map(|(_, next)| &next["type"]);
                if next.is_none_or(|next| next != "user.message") {
                    findings.other.push(format!("what event {seq} recalled is for no message"));
                }
            }
            _ => {}
        }
    }
    for row in look.calls()?.iter().filter(|row| is_recall(&row.id)) {
        let Some(rest) = row.id.strip_prefix(&format!("{session}:")) else { continue };
        let seq: i64 = rest.trim_end_matches(OURS).parse().unwrap_or_default();
        let at = events.iter().find(|(number, _)| *number == seq);
        let kind = at.map_or("", |(_, event)| event["type"].as_str().unwrap_or_default());
        // A kill behind the look, and the message may be told another mode or branch first.
        if !["turn.recalled", "turn.context", "turn.project", "user.message"].contains(&kind) {
            findings.other.push(format!("{} was for event {seq}, which is `{kind}`", row.id));
        }
    }
    Ok(())
}
