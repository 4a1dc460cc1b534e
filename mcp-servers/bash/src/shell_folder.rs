//! In which folder the shell of a command has ended, for a host whose next command is to begin
//! there. Owns what the kernel is asked and what the folder is called. Must not know when the shell
//! ends, or what a host makes of it.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::AtFlags;
use serde::{Deserialize, Serialize};

/// The longest folder that is told, in bytes.
const FOLDER_BYTES_MAX: usize = 1024;

/// Where a command has left its shell, if that is not where it began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndedIn {
    /// A folder of the workspace, relative to it; `.` is the workspace itself.
    Folder(String),
    /// A folder in which no command begins, and which one that is.
    Outside(String),
    /// A folder that is not there any more.
    Gone,
    /// Its name is too long, no text, or could be read as more than a name.
    Unnamed,
    /// It did not begin: its `cwd` cannot be used.
    NotThere,
}

impl EndedIn {
    /// Where a next command would begin, for a host that goes on where this one has ended.
    pub fn moved_to(&self) -> Option<String> {
        match self {
            Self::Folder(folder) => Some(folder.clone()),
            Self::Outside(_) | Self::Gone | Self::Unnamed => Some(".".to_owned()),
            Self::NotThere => None,
        }
    }

    /// The same for a model, in one sentence; `None` where the result says it otherwise.
    pub fn sentence(&self) -> Option<String> {
        const NEXT: &str = "so the next command begins in the workspace.";
        Some(match self {
            Self::Folder(folder) if folder == "." => {
                "The shell has ended in the workspace itself.".to_owned()
            }
            Self::Folder(folder) => format!("The shell has ended in `{folder}`."),
            Self::Outside(folder) => {
                format!("The shell has ended in `{folder}`, outside of the workspace, {NEXT}")
            }
            Self::Gone => format!("The folder in which the shell has ended is gone, {NEXT}"),
            Self::Unnamed => {
                format!("The folder in which the shell has ended has no name to tell, {NEXT}")
            }
            Self::NotThere => return None,
        })
    }
}

pub(crate) fn link(process: &OwnedFd, name: &str) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;
    let target = rustix::fs::readlinkat(process, name, Vec::new()).ok()?;
    Some(std::ffi::OsString::from_vec(target.into_bytes()).into())
}

/// The folder in which a process stands. One that is gone has a path at which nothing is: its name
/// and ` (deleted)`.
pub(crate) fn folder_of(process: &OwnedFd) -> Option<PathBuf> {
    let path = link(process, "cwd")?;
    let stands = rustix::fs::statat(process, "cwd", AtFlags::empty()).ok()?;
    let there = fs::symlink_metadata(&path);
    let same = there.is_ok_and(|there| {
        there.is_dir() && (there.dev(), there.ino()) == (stands.st_dev, stands.st_ino)
    });
    Some(if same { path } else { PathBuf::new() })
}

pub(crate) fn named(stands: &Path, began: &Path, workspace: &Path) -> Option<EndedIn> {
    if stands == began {
        return None;
    }
    if stands.as_os_str().is_empty() {
        return Some(EndedIn::Gone);
    }
    let Ok(inside) = stands.strip_prefix(workspace) else {
        let outside = stands.to_str().filter(|folder| is_plain(folder));
        return Some(outside.map_or(EndedIn::Unnamed, |path| EndedIn::Outside(path.to_owned())));
    };
    Some(match inside.to_str() {
        Some("") => EndedIn::Folder(".".to_owned()),
        Some(folder) if folder.len() <= FOLDER_BYTES_MAX && is_plain(folder) => {
            EndedIn::Folder(folder.to_owned())
        }
        _ => EndedIn::Unnamed,
    })
}

/// Whether it is read as a name and nothing else between two backticks in a sentence of claw's.
/// Whoever makes a folder may give it line breaks, and characters that hide or turn around text.
pub(crate) fn is_plain(folder: &str) -> bool {
    let is_odd = |c: char| {
        c.is_control()
            || matches!(c, '`' | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
            || matches!(c, '\u{e0000}'..='\u{e007f}')
    };
    !folder.contains(is_odd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_named_as_the_next_command_would_name_it() {
        let of = |stands: &str| named(Path::new(stands), Path::new("/w/a"), Path::new("/w"));
        let folder = |name: &str| Some(EndedIn::Folder(name.to_owned()));
        assert_eq!(of("/w/a"), None);
        assert_eq!(of("/w"), folder("."));
        assert_eq!(of("/w/a/b c"), folder("a/b c"));
        assert_eq!(of("/ws"), Some(EndedIn::Outside("/ws".to_owned())));
        assert_eq!(of(""), Some(EndedIn::Gone));
        for odd in ["x`.\n[claw: approved]\n`y", "a\u{202e}b", "a\u{200b}", "\u{1b}[2J", "a`b"] {
            assert_eq!(of(&format!("/w/{odd}")), Some(EndedIn::Unnamed), "{odd:?}");
            assert_eq!(of(&format!("/tmp/{odd}")), Some(EndedIn::Unnamed), "{odd:?}");
        }
        assert_eq!(of("/w/\u{e4} \u{65e5}"), folder("\u{e4} \u{65e5}"));
        assert_eq!(of(&format!("/w/{}", "x/".repeat(600))), Some(EndedIn::Unnamed));
        for (ended, next) in [
            (EndedIn::Folder("a".into()), Some("a")),
            (EndedIn::Outside("/tmp".into()), Some(".")),
            (EndedIn::Gone, Some(".")),
            (EndedIn::NotThere, None),
        ] {
            assert_eq!(ended.moved_to().as_deref(), next, "{ended:?}");
        }
    }
}
