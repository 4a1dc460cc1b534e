//! The rooms of claw below its doors and its command line: what a door is given, and all behind it.
//! The modules in reading order are the tour of claw; who may know whom is in
//! `docs/architecture.md` and held by `tests/arrows.rs`. Must not know a door, and prints nothing.

/// The nouns that every room speaks.
pub use claw_domain as domain;

/// What is written (file, environment) becomes what is meant.
pub mod config;

/// What a door is given at its start.
pub mod door_context;

/// Inbox and outbox, the only way between doors and what is kept.
pub mod mail;

/// Who is it, may they, which session?
pub mod router;

/// What claw says of itself in a chat, and what a chat command does.
pub mod chat_commands;

/// What is due becomes a message or a turn, once.
pub mod jobs;

/// The agent wakes up by itself, and a check decides before a model is asked.
pub mod heartbeats;

/// MCP clients that call claw: who they are, their calls, what they may take and read.
pub mod clients;

/// One mailbox, one turn at a time, one log.
pub mod session;

/// Log in, next step out; and the one who does it.
pub mod turn;

/// One round-trip to a language model.
pub mod model;

/// Known secrets become a mark in everything that claw keeps or shows.
pub mod redact;

/// The rules about a call, and what they say of it. Pure.
pub use claw_policy as policy;

/// Which tools there are, and whether each is what was accepted.
pub mod catalog;

/// One life of a call: frozen, asked about, decided, begun, ended.
pub mod calls;

/// What the workspace was before each turn, and how a turn's changes are undone.
pub mod undo;

/// A workspace remembered, compared, put back.
pub use claw_snapshot as snapshot;

/// Every tools/call takes these layers.
pub mod gate;

/// The only MCP client, the only spawner of servers.
pub use claw_hub as hub;

/// The only SQL.
pub use claw_store as store;

/// The folder that the tools work in, as the doors put files in and take them out.
pub mod workspace;

/// Builds and connects the rooms.
pub mod app;

/// Logs: to stderr, and a file for each server; never a secret.
pub mod logging;

pub use claw_kit::{durable, killpoint};
