//! The Telegram door: `api` speaks with the Bot API, `render` makes what a person in a chat reads
//! and taps, `run` connects both with the rest of claw. Must not know: model, hub, SQL.

pub mod api;
pub mod render;
pub mod run;

pub use api::Sent;
pub use render::{CAPTION_UNITS_MAX, ENTITIES_MAX, MESSAGE_UNITS_MAX, Part, utf16_len};

use claw_core::{
    chat_commands, config, domain, door_context, heartbeats, jobs, killpoint, mail, router,
    workspace,
};
use claw_doors as doors;

// Whose an error is: a row for each type that can leave this crate.
crate::domain::asked!(api::fault::ApiFault, api::files::FetchError, run::member::NotTaken);
