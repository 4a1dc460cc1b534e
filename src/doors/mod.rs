//! The doors: chat wires, what they show, and what runs them. Must not know: model, hub, SQL.

pub mod clock;
pub mod commands;
pub mod console;
pub mod context;
mod door;
pub mod follow;
pub mod gateway;
pub mod markdown;
pub mod staged_questions;
pub mod telegram;
pub mod typed;

pub use door::Door;
