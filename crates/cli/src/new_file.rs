//! A file of the user's that is written whole or not at all, for its owner alone, and never over
//! another one. Must not know what is in it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::fail::UserError;
use crate::durable::{self, Part, Unnamed};

/// A file in the folder of the one that it is to become. Dropped before [`Self::publish`], it
/// leaves nothing; killed before, nothing where the file system has files without a name.
pub struct NewFile {
    draft: Draft,
    path: PathBuf,
}

enum Draft {
    Unnamed(Unnamed),
    /// Under a passing name.
    Part(Part),
}

impl NewFile {
    /// # Errors
    /// A user's mistake if `path` is there already; otherwise what keeps the file from being made.
    pub fn create(path: &Path) -> anyhow::Result<Self> {
        if path.symlink_metadata().is_ok() {
            return Err(taken(path));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            return Err(UserError::because(format!(
                "there is no folder {}; make it first, or name another one",
                folder.display()
            )));
        }
        remove_drafts_of(path);
        let draft = match Unnamed::beside(path) {
            Some(unnamed) => Draft::Unnamed(unnamed),
            None => Draft::Part(
                Part::beside(path)
                    .with_context(|| format!("cannot write beside {}", path.display()))?,
            ),
        };
        Ok(Self { draft, path: path.to_owned() })
    }

    pub fn file(&mut self) -> &mut File {
        match &mut self.draft {
            Draft::Unnamed(unnamed) => &mut unnamed.file,
            Draft::Part(part) => &mut part.file,
        }
    }

    /// Brings it to the disk and gives it its name, unless somebody has taken that meanwhile.
    pub fn publish(self) -> anyhow::Result<()> {
        let published = match self.draft {
            Draft::Unnamed(unnamed) => unnamed.publish(&self.path),
            Draft::Part(part) => part.publish(&self.path),
        };
        match published {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(taken(&self.path)),
            done => done.with_context(|| format!("{} cannot be written", self.path.display())),
        }
    }
}

/// Drafts of the same file that a kill has left: copies of secrets at a place that nobody looks at.
fn remove_drafts_of(path: &Path) {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return };
    let beginning = format!(".{}.", name.to_string_lossy());
    let ours = |name: &str| {
        durable::is_part(name)
            && name
                .strip_prefix(&beginning)
                .is_some_and(|rest| !rest.trim_end_matches(".part").contains('.'))
    };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    for draft in durable::abandoned(folder, ours) {
        if let Err(error) = fs::remove_file(&draft) {
            tracing::warn!(file = %draft.display(), %error, "an unfinished file of an earlier run cannot be removed");
        }
    }
}

fn taken(path: &Path) -> anyhow::Error {
    UserError::because(format!(
        "{} is there already, and nothing is overwritten; choose another name",
        path.display()
    ))
}
