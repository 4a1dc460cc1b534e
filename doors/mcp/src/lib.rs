//! The door for MCP clients that call claw: what they are offered, over what, and the front that a
//! client starts. Must not know how a call is judged, or what a turn does.

mod answer;
mod attachments;
mod caller;
mod catalog;
pub mod door;
mod elicit;
pub mod front;
mod gated;
mod gateway;
mod handle;
mod handler;
pub mod http;
mod icons;
mod progress;
mod prompts;
mod rate;
mod resources;
pub mod serving;
pub mod socket;
mod tasks;
mod tools;
mod wait;
mod watched;

use claw_core::{clients, config, domain, door_context, mail, router, workspace};
use claw_doors as doors;

// Whose an error is: a row for each type that can leave this crate.
crate::domain::asked!(socket::Refused);

/// Named in the list of doors.
pub static DOOR: doors::entry::DoorEntry = doors::entry::DoorEntry {
    section: None,
    gateway: Some(gateway::GATEWAY),
    blame_of,
    asked: ASKED,
};
