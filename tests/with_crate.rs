//! The tests of the whole program that also need the crate `claw`: its painter for the console and
//! its parser, which reads the pages of the manual. They stand apart from `main.rs`, which is not
//! compiled anew when a door has changed.
//!
//! It has the same name for `cargo test` as that one, `whole`: `cargo test --workspace --test whole`
//! runs both, and cargo builds the program for this one.

mod botapi;
mod console_look;
mod console_stream;
mod daily_digest;
mod manual;
mod memory_words;
mod narrow;
mod pages;
mod program;
mod pty;
mod questions;
mod schedule_words;
mod telegram_model;
mod telegram_rig;
mod together;
mod variables_named;
mod wires;
mod written_commands;
