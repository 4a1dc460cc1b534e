//! The commands that open doors, one file each. All others are in `crates/cli`, which knows no
//! door. Must not know what a door shows, or how a room works.

mod acp;
mod chat;
mod gateway;
mod serve;

use claw_cli::DoorCommands;

/// Handed to the command line.
pub const DOORS: DoorCommands = DoorCommands {
    acp: |app| Box::pin(acp::run(app)),
    chat: |app, session, mode| Box::pin(chat::run(app, session, mode)),
    gateway: |overrides| Box::pin(gateway::run(overrides)),
    serve: |overrides, wanted| Box::pin(serve::run(overrides, wanted)),
};
