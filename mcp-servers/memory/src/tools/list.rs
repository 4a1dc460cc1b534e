//! `list`: which notes there are, and what is wrong with the folder.

use std::fmt::Write as _;

use rusqlite::params;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::About as Shown;
use super::{About, Effect, Reply, ToolDef, begins, limit, on_notes};
use crate::copies;
use crate::error::{Result, ToolError};
use crate::folder::Folder;
use crate::index::{Entry, entry_at};
use crate::memory::Memory;
use crate::note::Kind;
use crate::recall::successor;
use crate::trash;
use crate::writer::read;

const LIMIT_DEFAULT: u64 = 100;

pub fn tool() -> ToolDef {
    About {
        name: "list",
        title: "List notes",
        description: "Lists the notes by the path of their files, superseded ones and conflict copies included, and names what in \
                      the folder could not be used; or the proposals that wait for a yes; or what the trash can give back, newest first. To find something use recall.",
        effect: Effect::ReadOnly,
    }
    .tool(on_notes(run))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Notes, only those with a fault and conflict copies, proposals that wait for a yes, or what
    /// lies in the trash. Default: notes.
    #[serde(default)]
    what: What,
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

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum What {
    #[default]
    Notes,
    Faulty,
    Proposals,
    Trash,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    notes: Vec<Listed>,
    /// How many there are in all, whatever the filters are.
    total: u64,
    /// Proposals in the trash that wait no more, which nothing brings back.
    #[serde(skip_serializing_if = "super::is_zero")]
    closed_proposals: u64,
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
    /// Its first line, or the beginning of that.
    #[serde(skip_serializing_if = "String::is_empty")]
    begins: String,
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

impl Listed {
    fn new(memory: &Memory, entry: &Entry, superseded_by: Option<String>, is_copy: bool) -> Self {
        let about = Shown::new(&memory.whose, entry, superseded_by, false);
        Self { about, begins: begins(&entry.note.body), is_conflict_copy: is_copy }
    }
}

fn run(memory: &mut Memory, input: Input) -> Result<Reply<Output>> {
    let limit = limit(input.limit, LIMIT_DEFAULT, memory.limits.list_notes_max)?;
    match input.what {
        What::Notes | What::Faulty => {}
        What::Proposals => return beside(&memory.proposals, memory, &input, limit, false),
        What::Trash => return beside(&memory.trash, memory, &input, limit, true),
    }
    let db = &memory.index.db;
    let tag = input.tag.map(|tag| tag.trim_start_matches('#').to_owned());
    let paths: Vec<String> = db
        .prepare_cached(&format!(
            "SELECT path FROM notes n WHERE path > ?1 AND (?2 IS NULL OR kind = ?2)
                AND (?3 IS NULL OR row IN (SELECT row FROM tags WHERE tag = ?3))
                AND (NOT ?5 OR fault IS NOT NULL OR {})
             ORDER BY path LIMIT ?4",
            copies::SHADOWED
        ))?
        .query_map(
            params![
                input.after.unwrap_or_default(),
                input.kind.map(Kind::as_str),
                tag,
                limit as i64 + 1,
                input.what == What::Faulty,
            ],
            |row| row.get(0),
        )?
        .collect::<rusqlite::Result<_>>()?;
    let next = paths.get(limit).and_then(|_| paths.get(limit - 1)).cloned();
    let mut notes = Vec::new();
    for path in paths.iter().take(limit) {
        let Some(entry) = entry_at(db, path)? else { continue };
        let superseded_by = successor(db, &entry)?.map(|successor| successor.id);
        let is_conflict_copy = copies::is_shadowed(db, &entry)?;
        notes.push(Listed::new(memory, &entry, superseded_by, is_conflict_copy));
    }
    let total: u32 = db.query_row("SELECT count(*) FROM notes", [], |row| row.get(0))?;
    let passed_over: Vec<PassedOver> = memory
        .passed_over
        .iter()
        .map(|one| PassedOver { path: one.path.clone(), why: one.why.to_owned() })
        .collect();
    let output = Output { notes, total: u64::from(total), closed_proposals: 0, next, passed_over };
    Ok(Reply { text: text_of(&output), structured: output })
}

/// Proposals and trash, which no index knows: the newest paths of the trash come first, without the
/// proposals in it that wait no more.
fn beside(
    folder: &Folder,
    memory: &Memory,
    input: &Input,
    limit: usize,
    newest_first: bool,
) -> Result<Reply<Output>> {
    let mut paths = Vec::new();
    let walked = folder.walk(
        |_| (),
        |path, _| -> std::io::Result<()> {
            paths.push(path.to_owned());
            Ok(())
        },
    );
    walked.map_err(|error| ToolError::io("read", folder.path.display().to_string(), &error))?;
    paths.sort();
    if newest_first {
        paths.reverse();
    }
    let in_all = paths.len();
    if newest_first {
        paths.retain(|path| !trash::is_closed_proposal(path));
    }
    let (total, closed) = (paths.len() as u64, (in_all - paths.len()) as u64);
    let after = input.after.as_deref().unwrap_or_default();
    let behind = |path: &String| {
        after.is_empty() || if newest_first { path.as_str() < after } else { path.as_str() > after }
    };
    let tag = input.tag.as_ref().map(|tag| tag.trim_start_matches('#').to_owned());
    let (mut notes, mut next) = (Vec::new(), None);
    for path in paths.iter().filter(|path| behind(path)) {
        let Some((entry, _)) = read(folder, path, memory.limits.note_bytes_max)? else { continue };
        let fits = input.kind.is_none_or(|kind| kind == entry.note.kind)
            && tag.as_ref().is_none_or(|tag| entry.note.tags.contains(tag));
        if !fits {
            continue;
        }
        if notes.len() == limit {
            next = notes.last().map(|last: &Listed| last.about.path.clone());
            break;
        }
        let superseded_by = entry.note.superseded_by.clone();
        notes.push(Listed::new(memory, &entry, superseded_by, false));
    }
    let output = Output { notes, total, closed_proposals: closed, next, passed_over: Vec::new() };
    Ok(Reply { text: text_of(&output), structured: output })
}

fn text_of(output: &Output) -> String {
    let mut text = format!("{} of {}:\n", output.notes.len(), output.total);
    for note in &output.notes {
        let copy = if note.is_conflict_copy {
            ", a conflict copy that is not searched: merge it by hand"
        } else {
            ""
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}, `{}`{copy}", note.about.line(), note.about.path);
        if !note.begins.is_empty() {
            let _ = writeln!(text, "  {}", note.begins);
        }
    }
    if let Some(next) = &output.next {
        let _ = writeln!(text, "[there are more: call again with after `{next}`]");
    }
    if output.closed_proposals > 0 {
        text.push_str(&match output.closed_proposals {
            1 => "[1 proposal that waits no more lies there as well; nothing brings it back]\n"
                .to_owned(),
            many => format!(
                "[{many} proposals that wait no more lie there as well; nothing brings them back]\n"
            ),
        });
    }
    for one in &output.passed_over {
        let _ = writeln!(text, "[`{}` is no note: {}]", one.path, one.why);
    }
    text
}
