//! The actions of `claw memory`. Owns names and helps; must not know what they do.

use std::path::PathBuf;

use clap::Subcommand;
use clap::builder::PossibleValuesParser;

use crate::memory::kind_names;

#[derive(Debug, Subcommand)]
pub enum MemoryAction {
    /// All notes, or those that hold these words, best first
    List {
        words: Vec<String>,
        /// Only notes of this kind
        #[arg(long, value_name = "KIND", value_parser = kinds())]
        kind: Option<String>,
        /// Only notes with this tag
        #[arg(long, value_name = "TAG")]
        tag: Option<String>,
        /// What waits for a yes, instead of the notes
        #[arg(long, conflicts_with_all = ["words", "trash"])]
        proposals: bool,
        /// What was forgotten or replaced, instead of the notes
        #[arg(long, conflicts_with = "words")]
        trash: bool,
    },
    /// One note as a whole
    Show { id: String },
    /// Remember this at once, without a model
    Add {
        /// What is to be remembered; what stands before a colon is what it is about. `-` reads
        /// standard input
        #[arg(required = true)]
        text: Vec<String>,
        /// As one line of MEMORY.md, which the model has before it in every message
        #[arg(long, conflicts_with_all = ["subject", "kind", "tags"])]
        always: bool,
        /// What it is about [default: what stands before a colon, else the first words]
        #[arg(long, value_name = "WORDS")]
        subject: Option<String>,
        /// Of which kind it is [default: fact]
        #[arg(long, value_name = "KIND", value_parser = kinds())]
        kind: Option<String>,
        /// File it under this word; more than once for several
        #[arg(long = "tag", value_name = "TAG")]
        tags: Vec<String>,
    },
    /// Open a note in $VISUAL or $EDITOR
    Edit { id: String },
    /// Put a note into the trash
    Forget { id: String },
    /// Bring a note back from the trash, or what it was before its last change
    Restore { id: String },
    /// Compare the index with the files
    Check,
    /// The links of one note, by its id, name or path; or all links as a list
    Graph { name: Option<String> },
    /// Make notes of a file in the style of AGENTS.md or MEMORY.md; shows them and asks first
    Import {
        file: PathBuf,
        /// Do it without asking
        #[arg(long)]
        yes: bool,
    },
}

fn kinds() -> PossibleValuesParser {
    PossibleValuesParser::new(kind_names())
}
