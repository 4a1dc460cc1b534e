//! The files for agents that a workspace holds: what was read of them, and how an event of a turn
//! names them. Must not know where they are, or what a model is told.

use serde::{Deserialize, Serialize};

/// Which version of a file a model was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectFile {
    pub name: String,
    /// The first digits of the SHA-256 of what of it was given.
    pub digest: String,
    /// Of the whole file.
    pub bytes: u64,
    /// Its beginning was given, and no more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

/// One of them, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectText {
    pub name: &'static str,
    /// Trimmed, and never empty.
    pub text: String,
    /// Of the whole file.
    pub bytes: u64,
    pub is_cut: bool,
}

/// What there is of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectSeen {
    /// A file that says the same as the one before it is left out.
    pub texts: Vec<ProjectText>,
    /// What is wrong with each that was looked at, as a part of a sentence behind its name.
    pub faults: Vec<(&'static str, Option<String>)>,
}
