//! The folder that the tools work in, as the doors use it: what people send is put into it, and
//! what a reply hands over is taken from it. Owns that no path leaves it, by a handle instead of a
//! string. Must not know doors, or who asks.

mod git_branch;
mod git_operation;
mod given;
mod look;
mod name;
mod project;
mod put;
mod repository;

use std::io;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;

pub use git_branch::{Checkout, Repository};
pub use git_operation::Operation;
pub use given::{FileToSend, NotGiven};
pub use look::{FILES_COUNTED_MAX, Last, PathContents};
pub use name::safe_name;
pub use put::{FileDraft, Put};
pub use repository::repository_of;

/// The workspace, open.
pub struct Workspace {
    dir: Dir,
    /// Its real path, which absolute paths below it begin with.
    path: PathBuf,
}

/// Whether a folder that was chosen by its real path is there still. A link in its place is not it,
/// and may lead anywhere.
pub fn is_there(folder: &Path) -> bool {
    folder.is_dir() && folder.canonicalize().is_ok_and(|real| real == folder)
}

impl Workspace {
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { dir: Dir::open_ambient_dir(path, ambient_authority())?, path: path.to_owned() })
    }
}
