//! Staged actions through the whole program: a server proposes, the doors show what was staged, and
//! a tap of the owner runs exactly that, once, without the model. The server writes every call that
//! really reached it into a file.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

mod buttons;
mod command_line;
mod console;
mod people;
mod refused;
mod restarts;
mod rig;
mod telegram;
