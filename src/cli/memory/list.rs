//! `claw memory list`: the notes, the proposals or the trash, or what holds some words.

use std::process::ExitCode;

use claw_mcp_memory::Notes;
use serde_json::{Value, json};

use super::{said, tool};
use crate::cli::{fail, out};

#[derive(Default)]
pub struct Wanted {
    /// Nothing, or words to look for.
    pub words: String,
    pub kind: Option<String>,
    pub tag: Option<String>,
    pub proposals: bool,
    pub trash: bool,
}

/// Notes of one page, and hits of one search.
const PAGE: u64 = 100;
const HITS: u64 = 50;

pub async fn run(notes: &Notes, wanted: Wanted, as_json: bool) -> anyhow::Result<ExitCode> {
    let mut shown = 0;
    let mut print = |note: &Value| {
        shown += 1;
        out::line(&if as_json { note.to_string() } else { line(note) })
    };
    if !wanted.words.trim().is_empty() {
        let arguments = json!({
            "query": wanted.words, "kind": wanted.kind, "tag": wanted.tag, "limit": HITS,
        });
        let found = tool(notes, "recall", arguments).await?.structured;
        found["hits"].as_array().into_iter().flatten().try_for_each(&mut print)?;
    } else {
        let what = match (wanted.proposals, wanted.trash) {
            (true, _) => "proposals",
            (_, true) => "trash",
            _ => "notes",
        };
        let mut after = Value::Null;
        loop {
            let arguments = json!({
                "what": what, "kind": wanted.kind, "tag": wanted.tag, "after": after, "limit": PAGE,
            });
            let page = tool(notes, "list", arguments).await?.structured;
            page["notes"].as_array().into_iter().flatten().try_for_each(&mut print)?;
            for passed in page["passed_over"].as_array().into_iter().flatten() {
                let (path, why) = (said(passed, "path"), said(passed, "why"));
                out::err_line(&out::clean(&format!("{path} is no note: {why}")));
            }
            after = page["next"].clone();
            if after.is_null() {
                break;
            }
        }
    }
    if shown == 0 && !as_json {
        out::err_line(match () {
            () if !wanted.words.trim().is_empty() => "No note holds one of these words.",
            () if wanted.proposals => "Nothing waits for your yes.",
            () if wanted.trash => "The trash is empty.",
            () => "Nothing is remembered yet. `claw memory add TEXT` remembers something.",
        });
    }
    Ok(ExitCode::from(fail::DONE))
}

fn line(note: &Value) -> String {
    let gone = if note.get("superseded_by").is_some() { " (no longer so)" } else { "" };
    let text = said(note, "text").split_whitespace().collect::<Vec<_>>().join(" ");
    let text = if text.is_empty() { text } else { format!(": {text}") };
    out::clean(&format!(
        "{:<12} {:<10} {}  {}{text}{gone}",
        said(note, "id"),
        said(note, "kind"),
        said(note, "date"),
        said(note, "subject"),
    ))
}
