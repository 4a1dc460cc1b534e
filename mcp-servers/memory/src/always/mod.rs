//! The file that every prompt of a host holds (`--always FILE`; in claw `MEMORY.md`): small,
//! bounded, and changed by one line at a time. Owns that no change of somebody else's is
//! overwritten. Must not know notes, or who says yes.

pub mod lines;
pub mod proposed;

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use claw_kit::{durable, killpoint};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Result, ToolError};
use crate::index::entry::digest;
use crate::memory::Memory;
use lines::Change;

/// Our own changes, in the folder of the state.
const CHANGES: &str = "always.jsonl";
/// So many of them are kept.
const CHANGES_MAX: usize = 256;
const MODE: u32 = 0o600;
/// The most that is read of the file, whatever the limit is.
const READ_BYTES_MAX: u64 = 1024 * 1024;

/// How full the file is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct Fullness {
    /// The name of the file.
    pub file: String,
    pub bytes: u64,
    /// The most that it may have.
    pub bytes_max: u64,
}

impl Fullness {
    /// `MEMORY.md (312 of 4096 bytes)`
    pub fn words(&self) -> String {
        format!("{} ({} of {} bytes)", self.file, self.bytes, self.bytes_max)
    }
}

/// The file as it was read.
#[derive(Clone, Debug, Default)]
pub struct Now {
    pub text: String,
    /// Its permissions, if it is there.
    mode: Option<u32>,
}

/// One change of ours: from what to what. A proposal that was shown before it still stands.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Made {
    /// Of the proposal; empty for an order.
    id: String,
    before: String,
    after: String,
}

impl Memory {
    /// # Errors
    /// This server was given none.
    pub fn always_path(&self) -> Result<&Path> {
        self.always.as_deref().ok_or_else(|| {
            ToolError::Refused(format!(
                "this server has no file that every prompt holds ({} names it). Nothing was kept; \
                 propose a note instead.",
                self.limits.named("--always FILE")
            ))
        })
    }

    /// Of this file with this text: agents that share a folder have files of their own.
    pub fn always_digest(&self, text: &str) -> String {
        let path = self.always.as_deref().unwrap_or_else(|| Path::new(""));
        digest(format!("{}\0{text}", path.display()).as_bytes())
    }

    pub fn fullness(&self, text: &str) -> Fullness {
        let name = self.always.as_deref().and_then(Path::file_name);
        let file = name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let (bytes, bytes_max) = (text.len() as u64, self.limits.always_bytes_max);
        Fullness { file, bytes, bytes_max }
    }

    /// The file; one that is not there yet is empty.
    ///
    /// # Errors
    /// It cannot be read, or is no text.
    pub fn read_always(&self) -> Result<Now> {
        read(self.always_path()?)
    }

    /// What the file would be.
    ///
    /// # Errors
    /// There is no such line, or there is no room: one sentence that says what to do.
    pub fn always_changed(&self, now: &Now, change: &Change) -> Result<String> {
        let new = lines::changed(&now.text, change)?;
        let full = self.fullness(&new);
        // Whoever makes it smaller is on the right way.
        if full.bytes > full.bytes_max && new.len() >= now.text.len() {
            return Err(ToolError::Full(format!(
                "{file} is full: it has {has} bytes, would have {bytes}, and may have {max} \
                 ({option}), because every prompt holds it. Nothing was changed. Replace or take \
                 out a line of it, or remember this as a note.",
                option = self.limits.named("--always-bytes-max"),
                file = full.file,
                has = now.text.len(),
                bytes = full.bytes,
                max = full.bytes_max,
            )));
        }
        Ok(new)
    }

    /// Puts `new` in place of what was read. For whoever holds the lock.
    ///
    /// # Errors
    /// The file is not what was read any more, or cannot be written. It is as it was then.
    pub fn put_always(&self, id: &str, now: &Now, new: &str) -> Result<()> {
        let path = self.always_path()?;
        // First the note of it: a kill in between leaves one of a change that was not made.
        let mut made = self.always_made();
        let (before, after) = (self.always_digest(&now.text), self.always_digest(new));
        made.push(Made { id: id.to_owned(), before, after });
        let first = made.len().saturating_sub(CHANGES_MAX);
        let lines: Vec<String> =
            made.iter().skip(first).filter_map(|one| serde_json::to_string(one).ok()).collect();
        let text = format!("{}\n", lines.join("\n"));
        durable::replace(&self.state.join(CHANGES), &text, MODE)
            .map_err(|error| ToolError::io("write", CHANGES, &error))?;
        killpoint::here("memory-always");
        swap(path, now, new)
    }

    /// A line that is not understood is passed over: at worst something has to be proposed again.
    fn always_made(&self) -> Vec<Made> {
        let text = std::fs::read_to_string(self.state.join(CHANGES)).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Whether nothing but changes of ours lies between what was shown and what is there.
    fn is_ours_since(&self, shown: &str, now: &str) -> bool {
        let made = self.always_made();
        let mut reached = BTreeSet::from([shown]);
        // Each change is later than those before it.
        for one in &made {
            if reached.contains(one.before.as_str()) {
                reached.insert(one.after.as_str());
            }
        }
        reached.contains(now)
    }

    /// Whether the change of this proposal has been made.
    fn was_made(&self, id: &str, now: &str) -> bool {
        let mut made = self.always_made().into_iter().filter(|one| one.id == id);
        made.any(|one| one.before != now && self.is_ours_since(&one.after, now))
    }
}

fn read(path: &Path) -> Result<Now> {
    let name = || path.display().to_string();
    let refused = |why: &str| {
        Err(ToolError::Refused(format!("`{}` {why}. Nothing was changed.", path.display())))
    };
    let flags = (rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW).bits() as i32;
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Now::default()),
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            return refused("is a symbolic link, which is not followed; put a regular file there");
        }
        Err(error) => return Err(ToolError::io("read", name(), &error)),
    };
    let meta = file.metadata().map_err(|error| ToolError::io("read", name(), &error))?;
    if !meta.is_file() {
        return refused("is no regular file");
    }
    let mut bytes = Vec::new();
    file.take(READ_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| ToolError::io("read", name(), &error))?;
    if bytes.len() as u64 > READ_BYTES_MAX {
        return refused("has more than 1 MiB; shorten it by hand first");
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Now { text, mode: Some(meta.permissions().mode() & 0o7777) }),
        Err(_) => refused("is not UTF-8 text; mend it by hand first"),
    }
}

/// What somebody writes at the same moment is not lost: the old file is read again after the swap.
fn swap(path: &Path, now: &Now, new: &str) -> Result<()> {
    let failed = |error: io::Error| ToolError::io("write", path.display().to_string(), &error);
    let folder = path.parent().map_or_else(|| PathBuf::from("."), Path::to_owned);
    durable::create_dirs(&folder, 0o700).map_err(failed)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let handle = std::fs::File::open(&folder).map_err(failed)?;
    let Some(mode) = now.mode else {
        return match durable::at::write_new(&handle, &name, new.as_bytes(), MODE) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(changed_meanwhile()),
            written => written.map_err(failed),
        };
    };
    let old = match durable::at::swap(&handle, &name, new.as_bytes(), mode) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(changed_meanwhile()),
        old => folder.join(old.map_err(failed)?),
    };
    let was = read(&old);
    if was.is_ok_and(|was| was.text == now.text) {
        return std::fs::remove_file(&old).map_err(failed);
    }
    std::fs::rename(&old, path).map_err(failed)?;
    Err(changed_meanwhile())
}

fn changed_meanwhile() -> ToolError {
    ToolError::Refused(
        "the file was changed at the same moment, so nothing was written. Try again.".into(),
    )
}
