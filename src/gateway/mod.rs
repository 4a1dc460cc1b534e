//! The doors: chat wires and what they show. Must not know: model, gate, hub, SQL.

pub mod clock;
pub mod commands;
pub mod console;
pub mod staged;
pub mod telegram;
pub mod typed;
