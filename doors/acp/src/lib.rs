//! The door for editors: the Agent Client Protocol on standard input and output. Owns how claw's
//! words, calls and questions look in it, and what of a client's requests means what. Must not
//! know: model, hub, SQL, how a turn goes.
//!
//! Whoever holds the other end is the person at this machine, as at the console. [`run`] is the way
//! in; each conversation is a [`talk::Talk`], which shows by its [`door::AcpDoor`].

mod agent;
mod available_commands;
mod blocks;
mod call_view;
mod delivery;
mod door;
mod lines;
mod modes;
mod pending;
mod prompt;
mod question;
mod replay;
pub mod run;
mod streaming;
mod talk;
mod wire_error;

pub use door::AcpDoor;

use claw_core::{chat_commands, domain, door_context, jobs, mail, router, session};
use claw_doors as doors;

/// Named in the list of doors. It has no errors of its own.
pub static DOOR: doors::entry::DoorEntry =
    doors::entry::DoorEntry { section: None, gateway: None, blame_of: |_| None, asked: &[] };
