//! Which exported variables the shell of our own bash server keeps, as the log has it. Must not
//! know how that is found out, or what a next call makes of it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// What a command has made of its shell's exported variables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellVariables {
    /// The server's name in `mcp.json`.
    pub server: String,
    /// Those that are new or have another value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<String, String>,
    /// Those that the next command does not have.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub unset: BTreeSet<String>,
}

/// What a shell keeps behind a part of a conversation that no model sees any more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ShellKeeps {
    /// The principal whose turns it is for; empty for the owner.
    pub whose: String,
    /// The server's name in `mcp.json`.
    pub server: String,
    pub variables: BTreeMap<String, String>,
}

/// What of the shells is forgotten at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShellPart {
    /// In which folders they stand.
    #[default]
    Folder,
    /// Which variables they keep.
    Variables,
}
