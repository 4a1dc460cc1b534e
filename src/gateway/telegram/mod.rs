//! The Telegram door: what a person in a Telegram chat reads and taps. Must not know: model, gate,
//! hub, SQL.

pub mod api;
pub mod attached;
pub mod beat;
pub mod callback;
mod clean;
pub mod draft;
mod entities;
pub mod fault;
pub mod files;
pub mod incoming;
pub mod knock;
pub mod markdown;
pub mod pace;
pub mod pinned;
pub mod place;
pub mod question;
mod rich;
pub mod running;
mod split;
pub mod unusable;
pub mod upload;
mod wire;

pub use rich::{Part, utf16_len};
pub use split::{CAPTION_UNITS_MAX, ENTITIES_MAX, MESSAGE_UNITS_MAX};
pub use wire::Sent;

/// What Telegram refuses or changes; shared with the Bot API that the tests fake.
#[cfg(test)]
#[path = "../../../tests/botapi/entities.rs"]
mod botapi_entities;

#[cfg(test)]
mod tests;
