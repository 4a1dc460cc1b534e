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

/// What has become of a folder that [`is_there`] does not find, behind "the folder …".
pub fn what_became_of(folder: &Path) -> &'static str {
    match folder.symlink_metadata() {
        Err(_) => "is not there any more",
        Ok(found) if found.is_symlink() => "has been replaced by a link",
        Ok(found) if found.is_dir() => "lies behind a link now",
        Ok(_) => "has been replaced by a file",
    }
}

impl Workspace {
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { dir: Dir::open_ambient_dir(path, ambient_authority())?, path: path.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn of_a_folder_that_is_not_there_it_is_said_what_stands_in_its_place() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let (outer, folder) = (root.join("outer"), root.join("outer/inner"));
        fs::create_dir_all(&folder).unwrap();
        assert!(is_there(&folder));
        let became = || (is_there(&folder), what_became_of(&folder));
        fs::remove_dir(&folder).unwrap();
        assert_eq!(became(), (false, "is not there any more"));
        symlink(&root, &folder).unwrap();
        assert_eq!(became(), (false, "has been replaced by a link"));
        fs::remove_file(&folder).unwrap();
        fs::write(&folder, "").unwrap();
        assert_eq!(became(), (false, "has been replaced by a file"));
        fs::remove_dir_all(&outer).unwrap();
        fs::create_dir_all(root.join("other/inner")).unwrap();
        symlink(root.join("other"), &outer).unwrap();
        assert_eq!(became(), (false, "lies behind a link now"));
    }
}
