//! In which folder the shell of our own bash server stands, as the log has it. Must not know how
//! that is found out, or what a next call makes of it.

use serde::{Deserialize, Serialize};

/// Where a command has left its shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellFolder {
    /// The server's name in `mcp.json`.
    pub server: String,
    /// Relative to the workspace; `.` is the workspace itself.
    pub folder: String,
    /// Nothing ran, because this folder could not be used: a shell that stands there has moved, and
    /// no other one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<String>,
}

/// Where a shell stands behind a part of a conversation that no model sees any more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ShellStands {
    /// The principal whose turns it is for; empty for the owner.
    pub whose: String,
    /// The server's name in `mcp.json`.
    pub server: String,
    /// Relative to the workspace.
    pub folder: String,
}
