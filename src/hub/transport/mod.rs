//! How messages travel between claw and a server.

pub(in crate::hub) mod lines;
pub(in crate::hub) mod outbox;
