//! The Telegram door, over `crates/bot-api` and the crate `render`, which makes what a person in a
//! chat reads and taps: `run` connects both with the rest of claw. Must not know: model, hub, SQL.

pub mod run;

pub use claw_telegram_render::{CAPTION_UNITS_MAX, ENTITIES_MAX, MESSAGE_UNITS_MAX};

use claw_bot_api as api;
use claw_bot_api::{Part, Sent};
use claw_core::{
    chat_commands, domain, door_context, heartbeats, jobs, killpoint, mail, router, workspace,
};
use claw_doors as doors;

// Whose an error is: a row for each type that can leave this crate.
crate::domain::asked!(run::member::NotTaken);

/// Named in the list of doors.
pub static DOOR: doors::entry::DoorEntry = doors::entry::DoorEntry {
    blame_of,
    asked: ASKED,
    ..doors::entry::DoorEntry::of_bots(&api::settings::SECTION, run::member::RUN)
};
