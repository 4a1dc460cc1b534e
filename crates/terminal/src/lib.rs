//! How claw's texts and questions look in a terminal: for the console and for the command line.
//! Must not know what is done with a line that was typed, or where a text came from.

pub mod bar;
mod call_list_view;
pub mod diff;
pub mod fit;
mod markdown;
pub mod question;
pub mod question_view;
pub mod size;
pub mod stream;
pub mod style;
mod table;
pub mod thinking;
pub mod wrap;

use claw_core::domain;
use claw_doors as doors;

use std::io;

use crate::domain::{Blame, Blamed};

/// Standard output has not taken what was to be printed. Whoever prints hands it on, so that a
/// command that could not say what it found does not end as if it had.
#[derive(Debug, thiserror::Error)]
#[error("standard output cannot be written ({0}); what was to be shown is kept")]
pub struct Unwritten(#[from] pub io::Error);

impl Blamed for Unwritten {
    fn blame(&self) -> Blame {
        Blame::Broken
    }
}

impl Unwritten {
    /// Nobody reads any more (`claw audit | head -1`), which is no fault.
    pub fn is_closed(&self) -> bool {
        self.0.kind() == io::ErrorKind::BrokenPipe
    }
}
