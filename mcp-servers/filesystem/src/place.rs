//! Where a path leads: an open directory and one name in it. Must not know how it was found.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;

use cap_std::fs::{Dir, Metadata};

use crate::error::{Result, ToolError};
use crate::kind::Kind;

/// One name in one open directory. Nothing but single names below `parent` is ever given to the
/// system.
#[derive(Debug)]
pub struct Place {
    pub parent: Arc<Dir>,
    /// `None` is the root itself, and `parent` is its handle.
    pub name: Option<OsString>,
    /// Relative to the root, links resolved. Empty for the root.
    pub real: PathBuf,
    /// The entry itself, a link not followed. `None` if it does not exist.
    pub metadata: Option<Metadata>,
    /// Directories to be made between `parent` and `name`.
    pub missing_parents: Vec<OsString>,
    /// The path as the user wrote it, for messages.
    pub shown: String,
}

impl Place {
    /// The kind of what is there, or `None` if nothing is.
    pub fn kind(&self) -> Option<Kind> {
        if self.name.is_none() {
            return Some(Kind::Dir);
        }
        self.metadata.as_ref().map(|metadata| Kind::of(metadata.file_type()))
    }

    /// # Errors
    /// The place is the root, which has no name to be worked on.
    pub fn file_name(&self) -> Result<&OsStr> {
        self.name.as_deref().ok_or_else(|| ToolError::IsDirectory {
            path: self.shown.clone(),
            instead: "It is the workspace itself; name a file in it.",
        })
    }
}
