//! The tests of the whole program that also need the painter for a terminal, or the parser, which
//! reads the pages of the manual. They stand apart from `main.rs`, which is compiled anew for
//! neither. They are a test of the crate `claw-cli`, which knows no door.
//!
//! It has the same name for `cargo test` as that one, `whole`: `cargo test --workspace --test
//! whole` runs both.

mod botapi;
mod console_look;
mod console_stream;
mod daily_digest;
mod manual;
mod memory_words;
mod narrow;
mod outputs;
mod pages;
mod printing_commands;
mod program;
mod pty;
mod questions;
mod read_words;
mod schedule_words;
mod telegram_model;
mod telegram_rig;
mod together;
mod variables_named;
mod wires;
mod written_commands;
