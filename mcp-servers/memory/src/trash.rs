//! The trash: files that were forgotten, and what notes were before they were changed. Owns how its
//! paths are read; must not know who asks.

use std::io;

use crate::error::{IN_THE_TRASH, Result, ToolError};
use crate::index::Entry;
use crate::memory::Memory;
use crate::writer::read;

/// How the folder of a proposal ends that waits no more. It was no note, or is one now, so there is
/// nothing to bring back.
const CLOSED: [&str; 4] = ["-promoted", "-skipped", "-expired", "-refused"];

/// Whether a path in the trash is that of a proposal that waits no more.
pub fn is_closed_proposal(path: &str) -> bool {
    let folder = path.split_once('/').map_or("", |(folder, _)| folder);
    CLOSED.iter().any(|why| folder.ends_with(why))
}

/// Everything in it, the newest first: a path begins with the time.
///
/// # Errors
/// It cannot be read.
pub fn all(memory: &Memory) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    let walked = memory.trash.walk(
        |_| (),
        |path, _| -> io::Result<()> {
            paths.push(path.to_owned());
            Ok(())
        },
    );
    walked.map_err(|error| ToolError::io("read", "the trash", &error))?;
    paths.sort();
    paths.reverse();
    Ok(paths)
}

/// A proposal that has become a note, as it was then.
///
/// # Errors
/// It cannot be read.
pub fn promoted(memory: &Memory, id: &str) -> Result<Option<Entry>> {
    Ok(promoted_file(memory, id)?.map(|(entry, _)| entry))
}

/// The same, with its text.
///
/// # Errors
/// It cannot be read.
pub fn promoted_file(memory: &Memory, id: &str) -> Result<Option<(Entry, String)>> {
    let file = format!("-promoted/{id}.md");
    let Some(path) = all(memory)?.into_iter().find(|path| path.ends_with(&file)) else {
        return Ok(None);
    };
    read(&memory.trash, &path, memory.limits.note_bytes_max)
}

/// One file that can come back, by its path in the trash or the id of its note.
///
/// # Errors
/// There is none.
pub fn find_one(memory: &Memory, id: &str) -> Result<Entry> {
    let mut paths = all(memory)?;
    paths.retain(|path| !is_closed_proposal(path));
    let open = |path: &str| read(&memory.trash, path, memory.limits.note_bytes_max);
    if paths.iter().any(|path| path == id)
        && let Some((entry, _)) = open(id)?
    {
        return Ok(entry);
    }
    for path in &paths {
        let Some((folder, was_at)) = path.split_once('/') else { continue };
        // What a killed process has left may be half a note: only its path names it.
        if folder.ends_with("-left-over") {
            continue;
        }
        if let Some((entry, _)) = open(path)?
            && (entry.note.id.as_deref() == Some(id) || was_at == id)
        {
            return Ok(entry);
        }
    }
    Err(ToolError::NoNote { id: id.to_owned(), where_it_is: IN_THE_TRASH })
}
