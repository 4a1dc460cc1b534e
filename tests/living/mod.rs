//! Living with claw: setting it up at a terminal as a new user would, as a service, what the doctor
//! asks, updates, and an old home under a new claw; the whole program, in homes of its own. `pty`
//! is the terminal.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]
#![expect(clippy::disallowed_methods, reason = "a test of the whole program starts it")]

mod doctor;
mod init;
mod init_again;
mod init_refused;
mod mode;
mod rig;
mod service;
mod trials;
mod updates;
mod upgrade;
