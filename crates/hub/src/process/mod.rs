//! Servers as processes of this machine: spawned behind a supervisor, watched, ended with all that
//! they started, and the reason of their end. Must not know MCP.

pub(crate) mod child;
mod direct;
mod handover;
mod relay;
pub(crate) mod spawn;
mod stderr;
mod strays;
mod supervised;
pub mod supervisor;
