//! What a person at the command line reads where a model would read the name of a tool: the command
//! that helps, and the notes that have the name which was given for an id. Must not know which tool
//! has refused.

use crate::error::{IN_THE_TRASH, Result, ToolError};
use crate::index::Entry;
use crate::index::words::folded;
use crate::memory::Memory;
use crate::note::one_line;
use crate::writer::read;
use crate::{find, proposal, trash};

/// Of the text of a note that is offered instead, in characters.
const TEXT_CHARS_MAX: usize = 40;
/// Notes that are offered instead.
const OFFERED_MAX: usize = 4;

/// The same error for the owner.
pub fn in_their_words(memory: &Memory, error: ToolError) -> ToolError {
    match error {
        // An error while it is worded is less than the one that is worded.
        ToolError::NoNote { id, where_it_is } => {
            let is_trash = where_it_is == IN_THE_TRASH;
            let worded = if is_trash { not_in_trash(memory, &id) } else { no_note(memory, &id) };
            worded.map_or(ToolError::NoNote { id, where_it_is }, ToolError::Refused)
        }
        ToolError::Busy { waited_s } => ToolError::Refused(format!(
            "another process has been changing these notes for {waited_s} seconds, so nothing was \
             changed; try again later"
        )),
        error => error,
    }
}

fn no_note(memory: &Memory, id: &str) -> Result<String> {
    let db = &memory.index.db;
    let ids = find::all_named(db, id)?;
    let named = ids.iter().map(|id| find::note(db, id)).collect::<Result<Vec<_>>>()?;
    if !named.is_empty() {
        return Ok(instead(id, &named));
    }
    if proposal::find_one(memory, id)?.is_some() {
        return Ok(format!(
            "`{id}` is a proposal and no note yet; `claw approvals` has its question"
        ));
    }
    Ok(match trash::find_one(memory, id) {
        Ok(_) => format!("`{id}` lies in the trash; `claw memory restore {id}` brings it back"),
        Err(_) => format!("no note has the id `{id}`; `claw memory list` shows the ids"),
    })
}

fn not_in_trash(memory: &Memory, id: &str) -> Result<String> {
    let name = folded(id);
    let mut named: Vec<Entry> = Vec::new();
    for path in trash::all(memory)?.iter().filter(|path| !trash::is_closed_proposal(path)) {
        let Some((entry, _)) = read(&memory.trash, path, memory.limits.note_bytes_max)? else {
            continue;
        };
        let is_new = named.iter().all(|other| other.note.id != entry.note.id);
        if folded(&entry.note.subject) == name && is_new {
            named.push(entry);
        }
    }
    Ok(match named.is_empty() {
        true => format!(
            "nothing in the trash has the id `{id}`; `claw memory list --trash` shows what is there"
        ),
        false => instead(id, &named),
    })
}

/// A name was given, and these notes have it.
fn instead(name: &str, notes: &[Entry]) -> String {
    let offered: Vec<String> = notes.iter().take(OFFERED_MAX).map(offered).collect();
    let more = match notes.len().saturating_sub(OFFERED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("`{name}` is a name; give the id of the note: {}{more}", offered.join(", "))
}

/// `m7k2 (Lives in Graz.)`
fn offered(entry: &Entry) -> String {
    let text = one_line(&entry.note.body);
    let cut = text.char_indices().nth(TEXT_CHARS_MAX).map(|(cut, _)| cut);
    let text = cut.map_or(text.clone(), |cut| format!("{}…", text.get(..cut).unwrap_or_default()));
    let id = entry.note.id.as_deref().unwrap_or(&entry.id);
    format!("{id} ({text})")
}
