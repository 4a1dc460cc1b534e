//! The one way down into a directory. Owns `O_NOFOLLOW` and the refusal of guarded directories;
//! must not know paths as a user writes them.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::Arc;

use cap_fs_ext::DirExt as _;
use cap_std::fs::Dir;

use crate::error::{Result, ToolError};
use crate::guard::{Act, Guard, Shield};

/// Why a directory could not be entered.
#[derive(Debug)]
pub enum Enter {
    Guarded(Shield),
    /// It is a link or a file (by now).
    NotADirectory,
    Io(io::Error),
}

impl Enter {
    pub fn into_tool_error(self, shown: &str) -> ToolError {
        match self {
            Self::Guarded(shield) => shield.refuses(shown),
            Self::NotADirectory => ToolError::ChangedMeanwhile { path: shown.to_owned() },
            Self::Io(error) => ToolError::io("open the directory", shown, &error),
        }
    }
}

/// Opens the directory `name` in `parent`, never through a link, and refuses a guarded one. `real`
/// is its path from the root. Every descent of this crate, walks included, takes this way.
pub fn enter(parent: &Dir, name: &OsStr, real: &Path, guard: &Guard) -> Result<Arc<Dir>, Enter> {
    if let Some(shield) = guard.forbids_path(real, Act::Touch) {
        return Err(Enter::Guarded(shield));
    }
    let dir = parent.open_dir_nofollow(name).map_err(|error| {
        let not_a_directory = rustix::io::Errno::from_io_error(&error).is_some_and(|errno| {
            errno == rustix::io::Errno::LOOP || errno == rustix::io::Errno::NOTDIR
        });
        if not_a_directory { Enter::NotADirectory } else { Enter::Io(error) }
    })?;
    if guard.has_identities() {
        let metadata = dir.dir_metadata().map_err(Enter::Io)?;
        if let Some(shield) = guard.forbids_identity(&metadata) {
            return Err(Enter::Guarded(shield));
        }
    }
    Ok(Arc::new(dir))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::open_regular;

    /// The moment of a race, held still: what was a directory or a file when it was looked at is a
    /// link when it is opened.
    #[test]
    fn a_link_is_neither_entered_nor_opened_wherever_it_leads() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(temp.path().join("root/inside")).unwrap();
        std::fs::create_dir(temp.path().join("outside")).unwrap();
        std::fs::write(temp.path().join("outside/canary"), "sings").unwrap();
        let outside = temp.path().join("outside");
        let dir =
            Dir::open_ambient_dir(temp.path().join("root"), cap_std::ambient_authority()).unwrap();
        let targets = [
            outside.clone(),
            "../outside".into(),
            "inside".into(),
            outside.join("canary"),
            "/proc/self/root".into(),
        ];
        for target in targets {
            std::os::unix::fs::symlink(&target, temp.path().join("root/link")).unwrap();
            let entered = enter(&dir, OsStr::new("link"), Path::new("link"), &Guard::default());
            assert!(matches!(entered, Err(Enter::NotADirectory)), "{target:?}: {entered:?}");
            let opened = open_regular(&dir, Path::new("link"), "link", &Guard::default());
            assert!(
                matches!(opened, Err(ToolError::ChangedMeanwhile { .. })),
                "{target:?}: {opened:?}"
            );
            std::fs::remove_file(temp.path().join("root/link")).unwrap();
        }
    }
}
