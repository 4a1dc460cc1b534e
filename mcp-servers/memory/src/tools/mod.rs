//! The tools, one file each, and the one list of them. Owns what all tools share: definition,
//! arguments, reply. Must not know the protocol's messages.

mod forget;
mod link;
mod list;
mod promote;
mod propose;
mod read;
mod recall;
mod remember;
mod restore;
mod shown;
mod skip;
mod supersede;
mod update;

use std::sync::{Arc, Mutex, PoisonError};

use claw_server_kit::tools::{About, Effect};
use rmcp::model::{ContentBlock, JsonObject};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::caller::Caller;
use crate::error::{Result, ToolError};
use crate::index::Entry;
use crate::memory::Memory;
use crate::note::{one_line, time};
use crate::owner;
use crate::vectors::Vectors;

type ToolDef = claw_server_kit::tools::ToolDef<SharedMemory>;

/// All tools in the order in which they are listed, which never changes between connections.
pub fn all() -> Vec<ToolDef> {
    vec![
        recall::tool(),
        read::tool(),
        list::tool(),
        propose::tool(),
        promote::tool(),
        skip::tool(),
        remember::tool(),
        update::tool(),
        supersede::tool(),
        forget::tool(),
        restore::tool(),
        link::tool(),
    ]
}

/// The notes as all calls share them.
#[derive(Clone)]
pub struct SharedMemory {
    memory: Arc<Mutex<Memory>>,
    /// Of the same notes, for whoever waits for an endpoint without the lock.
    pub vectors: Option<Arc<Vectors>>,
    /// From whose words the call came, if the host has said so.
    caller: Option<Caller>,
    /// Whether the owner reads what is refused, at the command line, instead of a model.
    is_read_by_owner: bool,
}

impl SharedMemory {
    pub fn new(memory: Memory) -> Self {
        let vectors = memory.vectors.clone();
        Self {
            memory: Arc::new(Mutex::new(memory)),
            vectors,
            caller: None,
            is_read_by_owner: false,
        }
    }

    /// The same for the command line: what is refused is said to the owner.
    pub fn read_by_owner(self) -> Self {
        Self { is_read_by_owner: true, ..self }
    }

    /// The same notes for a call that came from these words.
    pub fn asked_by(&self, caller: Option<Caller>) -> Self {
        Self { caller, ..self.clone() }
    }

    /// Works on the notes as they are now.
    ///
    /// # Errors
    /// The files or the index cannot be read, or what `work` gives.
    pub fn with<T>(&self, work: impl FnOnce(&mut Memory) -> Result<T>) -> Result<T> {
        // A panic of another call leaves nothing half done in here: files and index are brought
        // together again by the next look.
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        memory.caller.clone_from(&self.caller);
        memory.fresh()?;
        let done = work(&mut memory);
        match self.is_read_by_owner {
            true => done.map_err(|error| owner::in_their_words(&memory, error)),
            false => done,
        }
    }

    /// See [`Memory::look_again`].
    pub fn look_again(&self) {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever asks next hears of it.
        let _ = memory.look_again();
        drop(memory);
        self.wake_vectors();
    }

    /// See [`Vectors::wake`].
    pub fn wake_vectors(&self) {
        if let Some(vectors) = &self.vectors {
            vectors.wake();
        }
    }
}

/// What a tool gives back: text for a model, and the same for a program.
pub struct Reply<O> {
    pub text: String,
    pub structured: O,
}

/// The same for a client, with what a host is told in `_meta`.
type Answer<O> = Result<claw_server_kit::tools::Reply<O>>;

/// Where something is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum KeptIn {
    #[default]
    Note,
    Always,
}

/// What a tool does, as the list of tools holds it.
fn on_notes<I, O>(
    run: fn(&mut Memory, I) -> Result<Reply<O>>,
) -> impl Fn(&SharedMemory, I) -> Answer<O> {
    move |shared, input| {
        shared.with(|memory| run(memory, input)).map(|reply| reply.with_meta(JsonObject::new()))
    }
}

impl<O> Reply<O> {
    fn with_meta(self, meta: JsonObject) -> claw_server_kit::tools::Reply<O> {
        let content = vec![ContentBlock::text(self.text)];
        claw_server_kit::tools::Reply { content, structured: self.structured, meta }
    }
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What its owner reads of a note that was written.
fn remembered(entry: &Entry) -> String {
    format!("Remembered: {}\n{}", in_file(entry), entry.note.body)
}

/// Of a note's first line, in characters: so that two notes of one subject are told apart.
const BEGINS_CHARS_MAX: usize = 120;

/// The first line of a note, or the beginning of that.
fn begins(body: &str) -> String {
    let first = body.lines().map(one_line).find(|line| !line.is_empty());
    let mut begins = first.unwrap_or_default();
    if let Some((cut, _)) = begins.char_indices().nth(BEGINS_CHARS_MAX) {
        begins.truncate(cut);
        begins.push('…');
    }
    begins
}

/// Subject, file and id.
fn in_file(entry: &Entry) -> String {
    format!("{}, in {} [{}]", entry.note.subject, entry.path, entry.id)
}

/// A limit of a request, held below the one of the server.
///
/// # Errors
/// Zero, which asks for nothing.
fn limit(asked: Option<u64>, default: u64, max: u64) -> Result<usize> {
    let count = asked.unwrap_or(default).min(max);
    if count == 0 {
        return Err(ToolError::BadArguments("limit must be at least 1.".into()));
    }
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

/// The time in an argument.
///
/// # Errors
/// It is none.
fn time_of(name: &str, text: Option<&str>) -> Result<Option<i64>> {
    let Some(text) = text else { return Ok(None) };
    time::parse(text).map(Some).ok_or_else(|| {
        ToolError::BadArguments(format!(
            "{name} `{text}` is no date. Write it as 2026-11-23 or 2026-11-23T10:00:00Z."
        ))
    })
}
