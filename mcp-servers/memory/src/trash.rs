//! The trash: files that were forgotten, and what notes were before they were changed. Owns how its
//! paths are read; must not know who asks.

use std::io;

use crate::error::{Result, ToolError};
use crate::index::Entry;
use crate::memory::Memory;
use crate::writer::read;

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
    let file = format!("-promoted/{id}.md");
    let Some(path) = all(memory)?.into_iter().find(|path| path.ends_with(&file)) else {
        return Ok(None);
    };
    let kept = read(&memory.trash, &path, memory.limits.note_bytes_max)?;
    Ok(kept.map(|(entry, _)| entry))
}

/// One file, by its path in the trash or the id of its note. What was promoted is not meant by an
/// id: it is a note.
///
/// # Errors
/// There is none.
pub fn find_one(memory: &Memory, id: &str) -> Result<Entry> {
    let paths = all(memory)?;
    let open = |path: &str| read(&memory.trash, path, memory.limits.note_bytes_max);
    if paths.iter().any(|path| path == id)
        && let Some((entry, _)) = open(id)?
    {
        return Ok(entry);
    }
    for path in &paths {
        let Some((folder, was_at)) = path.split_once('/') else { continue };
        if ["-promoted", "-left-over", "-expired", "-skipped"]
            .iter()
            .any(|why| folder.ends_with(why))
        {
            continue;
        }
        if let Some((entry, _)) = open(path)?
            && (entry.note.id.as_deref() == Some(id) || was_at == id)
        {
            return Ok(entry);
        }
    }
    Err(ToolError::NoNote { id: id.to_owned(), where_it_is: " in the trash" })
}
