//! claw: a personal agent that asks before it acts. Its doors and its command line, over the rooms
//! of `crates/core`; who may know whom is in `docs/architecture.md` and held by `tests/arrows.rs`.

/// The rooms behind the doors, by their short names.
pub use claw_core::{
    app, calls, catalog, chat_commands, clients, config, domain, door_context, gate, heartbeats,
    hub, jobs, logging, mail, model, policy, redact, router, session, snapshot, store, turn, undo,
    workspace,
};

/// How texts look in a terminal.
pub use claw_terminal as terminal;

/// The doors: what they share, and each of them.
pub mod doors;

/// One file a command.
pub mod cli;

use claw_core::durable;
