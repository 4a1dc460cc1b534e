//! The doors: chat wires, what they show, and what runs them. Must not know: model, hub, SQL.

pub mod acp;
pub mod asking;
mod beat;
pub mod brief;
pub mod call_list;
pub mod chat_door;
pub mod chat_lock;
pub mod chat_queue;
pub mod clock;
pub mod commands;
pub mod console;
pub mod delivered;
pub mod delivery;
pub mod door;
mod drafts;
pub mod follow;
pub mod gateway;
pub mod handed_over;
pub mod input_answers;
pub mod instance_outbox;
pub mod keyed_answer;
pub mod list_answers;
pub mod live;
pub mod markdown;
pub mod mcp;
pub mod parts;
pub mod patience;
pub mod pieces;
pub mod questions;
pub mod sessions;
pub mod shared;
pub mod staged_questions;
pub mod telegram;
pub mod typed;
pub mod written;

pub use chat_door::ChatDoor;
pub use door::Door;

// Whose an error of a door is: a row for each type that can leave its folder.
crate::domain::asked!(
    console::editor::EditorError,
    door::DoorFault,
    mcp::socket::Refused,
    telegram::api::fault::ApiFault,
    telegram::api::files::FetchError,
    telegram::run::member::NotTaken,
);
