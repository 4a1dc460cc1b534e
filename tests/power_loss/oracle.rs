//! The findings over claw's start on what a power loss has left: it starts, it has its tools, and
//! what was seen is so. Must not know how the state came about.

use std::fs;

use serde_json::Value;

use crate::disk::Files;
use crate::play::{COPIES, Fact};
use crate::record::Seat;

/// What is wrong.
#[derive(Default)]
pub struct Findings {
    /// Promises that were looked at.
    pub promises: usize,
    /// Acknowledged, and not there.
    pub lost: Vec<String>,
    pub other: Vec<String>,
}

pub fn judge(
    seat: &Seat,
    files: &Files,
    seen: &[&str],
    facts: &[Fact],
) -> anyhow::Result<Findings> {
    let mut findings = Findings::default();
    let stopped = doctor(seat, &mut findings)?;
    if let Some(stop) = facts.iter().find(|fact| fact.word == "is ON" && promised(fact, seen)) {
        promise(seat, stop, &mut findings)?;
    }
    if stopped {
        seat.claw(&["panic", "off"])?;
    }
    // Whatever was under way goes on, and the session takes in something new.
    let (code, said) = seat.claw(&["ask", "list"])?;
    if !matches!(code, Some(0 | 3)) {
        findings.other.push(format!("claw ask ended with {code:?}: {said}"));
    }
    let (code, said) = seat.claw(&["sessions", "replay"])?;
    if code != Some(0) {
        findings.other.push(format!("claw sessions replay ended with {code:?}: {said}"));
    }
    for fact in facts.iter().filter(|fact| fact.word != "is ON" && promised(fact, seen)) {
        promise(seat, fact, &mut findings)?;
    }
    for (by, name) in COPIES {
        if was_seen(seen, by, " holds ") {
            copy(seat, files, name, &mut findings)?;
        }
    }
    Ok(findings)
}

fn promised(fact: &Fact, seen: &[&str]) -> bool {
    was_seen(seen, fact.by, fact.word)
        && !fact.until.is_some_and(|until| was_seen(seen, until, "begins"))
}

/// Whether this command, or the effect, had this word.
fn was_seen(seen: &[&str], by: &str, word: &str) -> bool {
    seen.iter().any(|seen| {
        seen.strip_prefix(by)
            .is_some_and(|said| said.starts_with([':', ' ']) && said.contains(word))
    })
}

fn promise(seat: &Seat, fact: &Fact, findings: &mut Findings) -> anyhow::Result<()> {
    findings.promises += 1;
    let db = rusqlite::Connection::open(seat.user().join(".claw/claw.db"))?;
    let holds = db.query_row(&fact.promise, [], |row| row.get::<_, bool>(0));
    if !matches!(holds, Ok(true)) {
        findings.lost.push(format!(
            "command {} said `{}`, but {holds:?}: {}",
            fact.by, fact.word, fact.promise
        ));
    }
    Ok(())
}

/// Everything is well, with all tools; the stop switch alone may be on. True if it is.
fn doctor(seat: &Seat, findings: &mut Findings) -> anyhow::Result<bool> {
    let (_, said) = seat.claw(&["doctor", "--json"])?;
    let rows: Vec<Value> =
        said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    for row in
        rows.iter().filter(|row| row["ok"] == false && row["id"] != "panic" && row["id"] != "box")
    {
        findings.other.push(format!("doctor: {}: {}", row["id"], row["text"]));
    }
    for server in ["server:bash", "server:filesystem"] {
        if !rows.iter().any(|row| row["id"] == server && row["ok"] == true) {
            findings.other.push(format!("doctor: {server} is missing: {said}"));
        }
    }
    Ok(rows.iter().any(|row| row["id"] == "panic"))
}

/// A backup that was told is whole.
fn copy(seat: &Seat, files: &Files, name: &str, findings: &mut Findings) -> anyhow::Result<()> {
    findings.promises += 1;
    let kept = seat.path(name);
    let there = files.get(&format!("/{name}")).and_then(Option::as_deref);
    fs::write(&kept, there.unwrap_or_default())?;
    // Where no home is.
    fs::remove_dir_all(seat.user().join(".claw"))?;
    let (code, said) = seat.claw(&["restore", kept.to_str().unwrap_or_default()])?;
    if code != Some(0) {
        findings.lost.push(format!("{name}, a backup that was told, cannot be restored: {said}"));
    }
    Ok(())
}
