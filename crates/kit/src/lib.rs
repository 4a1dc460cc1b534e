//! What several crates of ours share and no library offers: files that survive a power loss, the
//! points at which the kill rigs end the process, which files others obey, and how a supervisor
//! leaves nothing behind. The tool servers know this crate of ours alone. Must not know any room.

/// What a file has beside its text.
pub mod attributes;

/// A number with its noun, in a sentence.
pub mod counted;

/// How a file is written so that a power loss leaves it whole or not there.
pub mod durable;

/// The folders that hold the user's and claw's own files.
pub mod homes;

/// Named points of the kill rigs; nothing in a release.
pub mod killpoint;

/// How two texts differ, line by line.
pub mod line_diff;

/// How the lines of a text end.
pub mod line_ends;

/// Files that other programs run or obey on sight, by name.
pub mod obeyed;

/// A patch: which files it names, and what becomes of their texts.
pub mod patch;

/// The process table, and how a process is killed with all that it started.
pub mod processes;

/// What a supervisor is made of: it inherits, waits and kills until nothing is left.
pub mod reaper;

/// The names of signals, also as a shell tells of them.
pub mod signals;

/// How a task is started, so that its code is compiled once.
pub mod task;

/// A text of which only the beginning is taken.
pub mod text;

/// Which environment variables a call can give to a command.
pub mod variables;

/// The time zone of this machine, with its name.
pub mod zone;
