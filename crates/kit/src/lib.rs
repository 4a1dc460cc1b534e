//! What several crates of ours share and no library offers: files that survive a power loss, and
//! the points at which the kill rigs end the process. Must not know any room.

/// How a file is written so that a power loss leaves it whole or not there.
pub mod durable;

/// Named points of the kill rigs; nothing in a release.
pub mod killpoint;
