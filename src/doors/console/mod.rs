//! The console door: what a person at a terminal types and sees. Owns the look of text, questions
//! and running calls, the line editor and the loop that joins them, and what connects it with a
//! session. Must not know: model, hub, SQL.
//!
//! [`chat::run`] is the way in to the screen: it turns typed lines into [`chat::ConsoleEvent`]s and
//! shows every [`chat::ConsoleShow`]. [`run`] joins it with claw.

pub(super) mod answer_words;
mod call_list_view;
pub mod chat;
pub mod clean;
mod delivery;
mod diff;
mod door;
pub mod editor;
pub mod fit;
mod markdown;
pub mod paint;
mod progress;
pub mod question;
mod question_view;
pub mod run;
mod running;
pub mod screen;
mod staged_answers;
mod staged_list;
mod state;
pub mod stream;
pub(super) mod streamed;
pub mod style;
mod table;
pub mod wrap;

pub use door::ConsoleDoor;

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
