//! Files through the whole program: `claw gateway` as a process, a strict stand-in for the Bot API,
//! and others for a model that can see and for a server that listens.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

#[path = "../botapi/mod.rs"]
mod botapi;
mod coming;
mod going;
#[path = "../program/mod.rs"]
mod program;
mod rig;
mod told;
#[path = "../wires/mod.rs"]
mod wires;
