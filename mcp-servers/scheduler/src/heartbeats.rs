//! The host's file of heartbeats, which its agent may propose to change. Owns that nothing is
//! written over what somebody else has changed meanwhile. Must not know how an entry is
//! written: the host says it.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use claw_kit::durable;
use serde_json::{Map, Value};

use crate::error::{Result, ToolError};

const OWNER_ONLY: u32 = 0o600;

/// What a function of the host gives, or one sentence.
type GrammarResult<T> = std::result::Result<T, String>;

/// How the host writes its file. Each function gets the text of the file and the name of an entry;
/// an error is one sentence.
#[derive(Clone, Copy, Debug)]
pub struct HeartbeatGrammar {
    /// The entry as it stands there.
    pub entry: fn(&str, &str) -> GrammarResult<Option<String>>,
    /// The entry with these fields in the place of its own.
    pub drafted: fn(&str, &str, &Map<String, Value>) -> GrammarResult<String>,
    /// The file with this entry in the place of the one of its name, or without it. All of it has
    /// to be in order.
    pub with: fn(&str, &str, Option<&str>) -> GrammarResult<String>,
}

/// What a proposal is about: one entry, as it is and as it would be. `None`: there is none.
pub struct EntryChange {
    pub was: Option<String>,
    pub entry: Option<String>,
}

pub struct Heartbeats {
    path: PathBuf,
    grammar: HeartbeatGrammar,
    /// One change at a time; the folder is held against other processes.
    writing: Mutex<()>,
}

impl Heartbeats {
    pub fn new(path: PathBuf, grammar: HeartbeatGrammar) -> Self {
        Self { path, grammar, writing: Mutex::new(()) }
    }

    /// What a change would make of an entry; without fields it goes. Writes nothing.
    ///
    /// # Errors
    /// The file cannot be read, or would be broken by it; or nothing would be another thing.
    pub fn draft(&self, name: &str, fields: Option<&Map<String, Value>>) -> Result<EntryChange> {
        let file = self.read()?;
        let was = (self.grammar.entry)(&file, name).map_err(refused)?;
        let drafted = fields.map(|fields| (self.grammar.drafted)(&file, name, fields));
        let entry = drafted.transpose().map_err(refused)?;
        (self.grammar.with)(&file, name, entry.as_deref()).map_err(refused)?;
        if was == entry {
            return Err(ToolError::refused(format!(
                "the heartbeat `{name}` says that already; there is nothing to ask."
            )));
        }
        Ok(EntryChange { was, entry })
    }

    /// Writes what was shown, if the entry is still what it was then. It is on the disk when this
    /// returns.
    ///
    /// # Errors
    /// The entry was changed meanwhile; the file cannot be read or written, or would be broken.
    /// Nothing was written then.
    pub fn put(&self, name: &str, shown: &EntryChange) -> Result<()> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let held = File::open(folder).map_err(|error| self.failed(&error))?;
        durable::hold(&held).map_err(|error| self.failed(&error))?;
        let file = self.read()?;
        let is = (self.grammar.entry)(&file, name).map_err(refused)?;
        if is == shown.entry {
            return Ok(());
        }
        if is != shown.was {
            return Err(ToolError::refused(format!(
                "the heartbeat `{name}` was changed since this was shown. Nothing was written; \
                 propose it again."
            )));
        }
        let whole = (self.grammar.with)(&file, name, shown.entry.as_deref()).map_err(refused)?;
        durable::replace(&self.path, &whole, OWNER_ONLY).map_err(|error| self.failed(&error))
    }

    fn read(&self) -> Result<String> {
        match fs::read_to_string(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
            read => read.map_err(|error| self.failed(&error)),
        }
    }

    fn failed(&self, error: &std::io::Error) -> ToolError {
        let path = self.path.display();
        ToolError::refused(format!("{path}: {error}. Nothing was written; call again later."))
    }
}

/// The host's sentences may end without a full stop.
fn refused(why: String) -> ToolError {
    ToolError::refused(format!("{}. Nothing was written.", why.trim_end_matches('.')))
}
