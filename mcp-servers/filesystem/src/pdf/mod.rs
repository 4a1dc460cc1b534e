//! The text of a PDF, page by page. Owns what the two processes say to each other: a stranger's
//! file is read by a process of its own, which has little memory, little time and nothing to open.
//! Must not know tools.

mod lines;
mod page;
mod process;
mod reader;
mod state;

use serde::{Deserialize, Serialize};

pub use process::{Pages, Stopped, read};
pub use reader::main;

/// What the reading process says, a line of JSON each, in this order: how many pages there are and
/// then each page, or why there is none.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ReaderMessage {
    Pages(u64),
    Page(Page),
    /// It opens with a password alone, or is encrypted in a way that is not known.
    Encrypted,
    /// It is no PDF, or too damaged to find a page in it.
    Invalid,
    /// All pages were told.
    End,
}

/// The text of one page, in the order in which the page draws it.
#[derive(Serialize, Deserialize)]
pub struct Page {
    /// Counted from 1.
    pub number: u64,
    pub text: String,
    /// Characters that the file draws and gives no letter for.
    pub unknown: u64,
    /// The text is longer than a reply, and its end is missing.
    pub cut: bool,
}
