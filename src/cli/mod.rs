//! The command line: one file a command. Owns arguments and what a list looks like; must not know how rooms are built.

pub mod args;
pub mod table;
