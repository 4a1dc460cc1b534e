//! `claw memory show`: one note as a whole.

use std::process::ExitCode;

use claw_mcp_memory::Notes;
use serde_json::{Value, json};

use super::{names_one, of_agent, said, tool};
use crate::{fail, out};

pub async fn run(notes: &Notes, id: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    names_one(notes, id)?;
    let note = tool(notes, "read", json!({ "id": id })).await?.structured;
    out::line(&if as_json { note.to_string() } else { shown(notes, &note) })?;
    Ok(ExitCode::from(fail::DONE))
}

fn shown(notes: &Notes, note: &Value) -> String {
    let mut lines = vec![
        format!("{}  [{}]", said(note, "subject"), said(note, "id")),
        format!(
            "{}, {} ({}){}",
            said(note, "kind"),
            said(note, "date"),
            said(note, "age"),
            of_agent(note)
        ),
        notes.folder().join(said(note, "path")).display().to_string(),
    ];
    let source = note.get("source").cloned().unwrap_or_default();
    if !said(&source, "who").is_empty() {
        let place = match said(&source, "session") {
            "" => String::new(),
            session => format!(", in session {session}"),
        };
        lines.push(format!("from {}{place}", said(&source, "who")));
    }
    for (key, what) in [("superseded_by", "NO LONGER SO, see"), ("fault", "to be mended by hand:")]
    {
        if !said(note, key).is_empty() {
            lines.push(format!("{what} {}", said(note, key)));
        }
    }
    lines.push(String::new());
    lines.push(said(note, "text").to_owned());
    out::clean(&lines.join("\n"))
}
