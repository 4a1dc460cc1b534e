//! The console door: what a person at a terminal types and sees. Owns the look of text, questions
//! and running calls, the line editor and the loop that joins them, and what connects it with a
//! session. Must not know: model, hub, SQL.
//!
//! [`chat::run`] is the way in to the screen: it turns typed lines into [`chat::ConsoleEvent`]s and
//! shows every [`chat::ConsoleShow`]. [`run`] joins it with claw.

pub mod chat;
mod delivery;
mod door;
pub mod editor;
pub mod paint;
pub mod run;
mod running;
pub mod screen;
pub mod settings;
mod staged_answers;
mod staged_list;
mod state;
mod streamed;

pub use claw_terminal::Unwritten;
pub use door::ConsoleDoor;

use claw_core::{chat_commands, config, domain, door_context, jobs, mail, router};
use claw_doors as doors;
use claw_terminal as terminal;

// Whose an error is: a row for each type that can leave this crate.
crate::domain::asked!(editor::EditorError);

/// Named in the list of doors.
pub static DOOR: doors::entry::DoorEntry = doors::entry::DoorEntry {
    section: Some(&settings::SECTION),
    gateway: None,
    blame_of,
    asked: ASKED,
};
