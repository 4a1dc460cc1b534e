//! What a check says of notes that agents share: who does, and what an agent's own folder still
//! holds. Must not know what a note is.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use claw_kit::counted::counted;
use claw_mcp_memory::Notes;

use crate::app::App;

/// Nothing where the agent keeps its notes to itself.
pub fn lines(app: &App, notes: &Notes) -> Vec<String> {
    let settings = app.settings();
    if !settings.memory.shared {
        return Vec::new();
    }
    let by = settings.memory.shared_by.join(", ");
    let mut lines = vec![format!(
        "These notes are shared by the agents {by}; each says whose it is (`[memory] shared`)."
    )];
    let own = app.config.home.memory();
    let is_elsewhere = own.canonicalize().is_ok_and(|own| own != notes.folder());
    let left = if is_elsewhere { files_below(&own) } else { 0 };
    if left > 0 {
        let files = counted(left, "file");
        let (are, them) = if left == 1 { ("is", "it") } else { ("are", "them") };
        lines.push(format!(
            "{files} in {} {are} this agent's own from before, and nobody looks there now: move \
             {them} into {} to have {them} found.",
            own.display(),
            notes.folder().display()
        ));
    }
    lines
}

/// Markdown files of a folder and those below it. No link is followed.
fn files_below(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let counted = entries.map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => files_below(&entry.path()),
        Ok(kind) if kind.is_file() => {
            usize::from(entry.path().extension() == Some(OsStr::new("md")))
        }
        _ => 0,
    });
    counted.sum()
}
