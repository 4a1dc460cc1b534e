//! What a person in a Telegram chat reads and taps: texts with entities, questions, buttons. Must
//! not know how anything is sent, or when.

pub mod access_request;
mod clean;
mod entities;
pub mod markdown;
pub mod owner_question;
pub mod question;
mod rich;
pub mod running;
mod split;

use claw_bot_api as api;
use claw_bot_api::{Part, utf16_len};
use claw_core::domain;
use claw_doors as doors;

pub use split::{CAPTION_UNITS_MAX, ENTITIES_MAX, MESSAGE_UNITS_MAX};

/// What Telegram refuses or changes; shared with the Bot API that the tests fake.
#[cfg(test)]
#[path = "../../../../tests/botapi/entities.rs"]
mod botapi_entities;

#[cfg(test)]
mod tests;
