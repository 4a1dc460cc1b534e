//! The `[box]` section of `claw.toml`: what of the owner's machine is opened to commands beside the
//! workspace. Must not know which folders may be opened, or how a command is told.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::home::with_tilde;
use crate::domain::Opening;

/// `[box]` as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct BoxSection {
    /// Folders that commands read at every level.
    open_read: Vec<String>,
    /// Folders that commands also change, from the level `write` on.
    open_write: Vec<String>,
    /// What is open to commands that ask for it by name.
    pub(super) open: Vec<Opening>,
}

/// A folder that the owner has opened to commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenFolder {
    /// As it is meant; nobody has looked whether it is there.
    pub path: PathBuf,
    pub to_write: bool,
}

impl OpenFolder {
    /// The key of `claw.toml` that names it.
    pub fn key(&self) -> &'static str {
        if self.to_write { "box.open_write" } else { "box.open_read" }
    }

    /// What it costs that the folder is open, in a sentence without its full stop.
    pub fn cost(&self) -> &'static str {
        if self.to_write {
            "every command reads it, without a question at level read, and may change it from \
             level write on; no undo covers it"
        } else {
            "every command reads it, without a question at level read"
        }
    }
}

impl BoxSection {
    /// `~/` is the home of the user that claw runs as.
    pub(super) fn folders(&self, user_home: Option<&Path>) -> Vec<OpenFolder> {
        let folders = |written: &[String], to_write| -> Vec<OpenFolder> {
            let folder = |text: &String| OpenFolder { path: with_tilde(text, user_home), to_write };
            written.iter().map(folder).collect()
        };
        [folders(&self.open_read, false), folders(&self.open_write, true)].concat()
    }
}
