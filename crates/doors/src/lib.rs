//! The doors: chat wires, what they show, and what runs them. Must not know: model, hub, SQL.

pub mod answer_words;
pub mod asking;
mod beat;
pub mod brief;
pub mod call_list;
pub mod chat_door;
pub mod chat_lock;
pub mod chat_queue;
pub mod clean;
pub mod clock;
pub mod commands;
pub mod delivered;
pub mod delivery;
pub mod door;
mod drafts;
pub mod entry;
pub mod follow;
pub mod gateway;
pub mod handed_over;
pub mod input_answers;
pub mod instance_outbox;
pub mod keyed_answer;
pub mod list_answers;
pub mod live;
pub mod markdown;
pub mod news;
pub mod parts;
pub mod patience;
pub mod pieces;
pub mod questions;
pub mod reached;
pub mod sessions;
pub mod shared;
pub mod staged_questions;
pub mod typed;
pub mod written;

pub use chat_door::ChatDoor;
pub use door::Door;

// The rooms that a door may name, by their short names.
use claw_core::{chat_commands, config, domain, door_context, mail, router, session, workspace};

// Whose an error is: a row for each type that can leave this crate.
crate::domain::asked!(door::DoorFault);
