//! The tools without a protocol, for a program that is its owner's own hands (`claw memory`). Works
//! while servers run on the same notes. Must not know what a tool does.

use std::path::Path;

pub use claw_server_kit::library_result::LibraryResult;
use claw_server_kit::tools::Tools;
use serde_json::Value;

use crate::args::Args;
use crate::memory::Memory;
use crate::nodes::{self, Node};
use crate::report::{Depth, Report};
use crate::tools::{self, SharedMemory};

/// The notes of one folder.
pub struct Notes {
    shared: SharedMemory,
    tools: Tools<SharedMemory>,
    folder: std::path::PathBuf,
}

impl Notes {
    /// # Errors
    /// One sentence: the folder cannot be used, or no index can be made.
    pub fn open(args: &Args) -> Result<Self, String> {
        let memory = Memory::open(args).map_err(|error| error.to_string())?;
        let folder = memory.notes.path.clone();
        let shared = SharedMemory::new(memory).read_by_owner();
        Ok(Self { shared, tools: Tools::new(tools::all()), folder })
    }

    /// Where the notes lie.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Does what the tool of that name does.
    ///
    /// # Errors
    /// What the tool refuses, in its words.
    pub async fn run(&self, tool: &str, arguments: Value) -> Result<LibraryResult, String> {
        self.tools.run(tool, self.shared.clone(), arguments).await
    }

    /// The links of the notes of a name, or without one of all notes.
    ///
    /// # Errors
    /// Nothing has that name, or the files or the index cannot be read.
    pub fn graph(&self, name: Option<&str>) -> Result<Vec<Node>, String> {
        let nodes = self.shared.with(|memory| match name {
            Some(name) => nodes::named(&memory.index.db, name),
            None => nodes::all(&memory.index.db),
        });
        nodes.map_err(|error| error.to_string())
    }

    /// Compares index and files and makes vectors that are missing, as `--check` does.
    ///
    /// # Errors
    /// The files or the index cannot be read.
    pub fn check(&self) -> Result<Report, String> {
        self.report(Depth::Filled)
    }

    /// The same without making any; an embeddings endpoint is sent one word, to see
    /// that it answers.
    ///
    /// # Errors
    /// The files or the index cannot be read.
    pub fn look(&self) -> Result<Report, String> {
        self.report(Depth::Seen)
    }

    fn report(&self, depth: Depth) -> Result<Report, String> {
        self.shared.with(|memory| memory.report(depth)).map_err(|error| error.to_string())
    }
}
