//! `list`: which notes there are, and what is wrong with the folder.

use std::fmt::Write as _;

use rusqlite::params;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::About as Shown;
use super::{About, Effect, Reply, ToolDef, limit};
use crate::error::Result;
use crate::index::entry_at;
use crate::memory::Memory;
use crate::note::Kind;
use crate::recall::{is_shadowed, successor};

const LIMIT_DEFAULT: u64 = 100;

pub fn tool() -> ToolDef {
    About {
        name: "list",
        title: "List notes",
        description: "Lists the notes by the path of their files, superseded ones and conflict copies included, and names what in \
                      the folder could not be used. To find something use recall.",
        effect: Effect::ReadOnly,
    }
    .tool(run)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Only notes of this kind.
    #[serde(default)]
    kind: Option<Kind>,
    /// Only notes with this tag.
    #[serde(default)]
    tag: Option<String>,
    /// Only notes behind this path: the `next` of the page before.
    #[serde(default)]
    after: Option<String>,
    /// At most this many notes. Default: 100.
    #[serde(default)]
    #[schemars(range(min = 1))]
    limit: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    notes: Vec<Listed>,
    /// How many notes there are in all, whatever was asked for.
    total: u64,
    /// There are more: call again with this as `after`.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    /// Files and folders that are no notes for a reason that somebody may want to know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    passed_over: Vec<PassedOver>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Listed {
    #[serde(flatten)]
    about: Shown,
    /// Another file of the same id stands for the note; this one is not searched.
    #[serde(skip_serializing_if = "super::is_false")]
    is_conflict_copy: bool,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct PassedOver {
    path: String,
    why: String,
}

fn run(memory: &mut Memory, input: Input) -> Result<Reply<Output>> {
    let limit = limit(input.limit, LIMIT_DEFAULT, memory.limits.list_notes_max)?;
    let db = &memory.index.db;
    let tag = input.tag.map(|tag| tag.trim_start_matches('#').to_owned());
    let paths: Vec<String> = db
        .prepare_cached(
            "SELECT path FROM notes WHERE path > ?1 AND (?2 IS NULL OR kind = ?2)
                AND (?3 IS NULL OR row IN (SELECT row FROM tags WHERE tag = ?3)) ORDER BY path LIMIT ?4",
        )?
        .query_map(
            params![input.after.unwrap_or_default(), input.kind.map(Kind::as_str), tag, limit as i64 + 1],
            |row| row.get(0),
        )?
        .collect::<rusqlite::Result<_>>()?;
    let next = paths.get(limit).and_then(|_| paths.get(limit - 1)).cloned();
    let mut notes = Vec::new();
    for path in paths.iter().take(limit) {
        let Some(entry) = entry_at(db, path)? else { continue };
        let superseded_by = successor(db, &entry)?.map(|successor| successor.id);
        let is_conflict_copy = is_shadowed(db, &entry)?;
        notes.push(Listed { about: Shown::new(&entry, superseded_by, false), is_conflict_copy });
    }
    let total: u32 = db.query_row("SELECT count(*) FROM notes", [], |row| row.get(0))?;
    let passed_over: Vec<PassedOver> = memory
        .passed_over
        .iter()
        .map(|one| PassedOver { path: one.path.clone(), why: one.why.to_owned() })
        .collect();
    let output = Output { notes, total: u64::from(total), next, passed_over };
    Ok(Reply { text: text_of(&output), structured: output })
}

fn text_of(output: &Output) -> String {
    let mut text = format!("{} of {} notes:\n", output.notes.len(), output.total);
    for note in &output.notes {
        let copy = if note.is_conflict_copy {
            ", a conflict copy that is not searched: merge it by hand"
        } else {
            ""
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}, `{}`{copy}", note.about.line(), note.about.path);
    }
    if let Some(next) = &output.next {
        let _ = writeln!(text, "[there are more: call again with after `{next}`]");
    }
    for one in &output.passed_over {
        let _ = writeln!(text, "[`{}` is no note: {}]", one.path, one.why);
    }
    text
}
