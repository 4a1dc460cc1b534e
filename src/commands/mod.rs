//! The commands that open a door of their own, one file each. All others are in `crates/cli`, which
//! knows no door. Must not know what a door shows, or how a room works.

mod acp;
mod chat;
mod serve;

use claw_cli::DoorCommands;

/// Handed to the command line.
pub const DOORS: DoorCommands = DoorCommands {
    entries: crate::doors::ALL,
    acp: |app| Box::pin(acp::run(app)),
    chat: |app, session, mode| Box::pin(chat::run(app, session, mode)),
    serve: |overrides, wanted| Box::pin(serve::run(overrides, wanted)),
};
