//! In which folder the shell of a command has ended, for a host whose next command is to begin
//! there. Owns how that is found out and what it is called. Must not know what a host makes of it.
//!
//! The shell says by a trap that it ends, and waits; then the kernel says where it stands. So no
//! program that a command starts can say it in its place: nothing that is written on the line
//! counts, only that something is. A command that takes the trap away, or puts another program in
//! the place of its shell (`exec`), has no end of a shell that could be told.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::FdFlags;
use serde::{Deserialize, Serialize};

/// The file in the folder of what commands are told that bash reads first (`BASH_ENV`).
const FILE: &str = "begin.bash";
/// The line's number in the shell: none that a script would take for itself.
const DESCRIPTOR: i32 = 1000;
/// How long the shell waits for the look, in seconds. It takes microseconds.
const LOOK_TIME_MAX_S: u32 = 5;
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
    /// Its name is too long, or no text.
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

/// Writes what bash reads before a command, and gives its path; `None` where bash would not take
/// that path for what it is.
pub fn write(told: &Path) -> io::Result<Option<PathBuf>> {
    let path = told.join(FILE);
    // Bash expands it.
    let is_plain = path.to_str().is_some_and(|path| !path.contains(['$', '`', '\\', '"']));
    if !is_plain || cfg!(not(target_os = "linux")) {
        return Ok(None);
    }
    let new = told.join(format!(".{FILE}.{}", std::process::id()));
    fs::write(&new, begin())?;
    fs::rename(&new, &path)?;
    Ok(Some(path))
}

/// No word of it is seen with `set -x`, and none fails with `set -e`.
fn begin() -> String {
    let (line, wait) = (DESCRIPTOR, LOOK_TIME_MAX_S);
    format!(
        "# Written by claw at each start: the shell tells that it ends.\nunset BASH_ENV\ntrap '{{ \
         builtin printf . >&{line} && builtin read -r -N 1 -t {wait} -u {line}; }} 2>/dev/null || \
         :' EXIT\n"
    )
}

/// A shell that is about to be started, or runs.
pub struct WatchedShell {
    /// Inherited by the shell, and closed here when it has started.
    theirs: Option<OwnedFd>,
    started: Sender<OwnedFd>,
    stands: Arc<Mutex<Option<PathBuf>>>,
}

impl WatchedShell {
    /// Must be called before the shell is started, and outside of the inner box: afterwards it may
    /// have taken all processes that there are. `None` where it cannot be watched.
    pub fn prepare(shell: &Path) -> Option<Self> {
        let shell = shell.canonicalize().ok()?;
        let (ours, theirs) = UnixStream::pair().ok()?;
        let theirs = rustix::io::fcntl_dupfd_cloexec(&theirs, DESCRIPTOR).ok()?;
        if theirs.as_raw_fd() != DESCRIPTOR {
            return None;
        }
        let (started, process) = channel();
        let stands = Arc::<Mutex<Option<PathBuf>>>::default();
        let found = stands.clone();
        thread::Builder::new().spawn(move || watch(ours, &process, &shell, &found)).ok()?;
        rustix::io::fcntl_setfd(&theirs, FdFlags::empty()).ok()?;
        Some(Self { theirs: Some(theirs), started, stands })
    }

    /// The shell is this process, which nobody has waited for yet.
    pub fn started(&mut self, pid: i32) {
        self.theirs = None;
        // The folder of this very process, whoever has its number later.
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::PATH;
        if let Ok(process) = rustix::fs::openat(CWD, format!("/proc/{pid}"), flags, Mode::empty()) {
            // A thread that has ended has no more to tell.
            let _ = self.started.send(process);
        }
    }

    /// Where it has ended, if that is known and not where it began. Both folders are real.
    pub fn ended_in(&self, began: &Path, workspace: &Path) -> Option<EndedIn> {
        let stands = self.stands.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        named(&stands, began, workspace)
    }
}

/// Looks each time that something is written on the line.
fn watch(
    mut line: UnixStream,
    process: &Receiver<OwnedFd>,
    shell: &Path,
    stands: &Mutex<Option<PathBuf>>,
) {
    let Ok(process) = process.recv() else { return };
    let mut byte = [0];
    while matches!(line.read(&mut byte), Ok(1..)) {
        // Another program in its place stands where it likes.
        let found = link(&process, "exe")
            .filter(|program| program == shell)
            .and_then(|_| folder_of(&process));
        *stands.lock().unwrap_or_else(PoisonError::into_inner) = found;
        if line.write_all(b"\n").is_err() {
            return;
        }
    }
}

fn link(process: &OwnedFd, name: &str) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;
    let target = rustix::fs::readlinkat(process, name, Vec::new()).ok()?;
    Some(std::ffi::OsString::from_vec(target.into_bytes()).into())
}

/// The folder in which a process stands. One that is gone has a path at which nothing is: its name
/// and ` (deleted)`.
fn folder_of(process: &OwnedFd) -> Option<PathBuf> {
    let path = link(process, "cwd")?;
    let stands = rustix::fs::statat(process, "cwd", AtFlags::empty()).ok()?;
    let there = fs::symlink_metadata(&path);
    let same = there.is_ok_and(|there| {
        there.is_dir() && (there.dev(), there.ino()) == (stands.st_dev, stands.st_ino)
    });
    Some(if same { path } else { PathBuf::new() })
}

fn named(stands: &Path, began: &Path, workspace: &Path) -> Option<EndedIn> {
    if stands == began {
        return None;
    }
    if stands.as_os_str().is_empty() {
        return Some(EndedIn::Gone);
    }
    let Ok(inside) = stands.strip_prefix(workspace) else {
        return Some(EndedIn::Outside(stands.display().to_string()));
    };
    Some(match inside.to_str() {
        Some("") => EndedIn::Folder(".".to_owned()),
        Some(folder) if folder.len() <= FOLDER_BYTES_MAX => EndedIn::Folder(folder.to_owned()),
        _ => EndedIn::Unnamed,
    })
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

    #[test]
    fn a_path_that_bash_would_expand_is_not_used() {
        let told = tempfile::tempdir().unwrap();
        assert_eq!(write(told.path()).unwrap().is_some(), cfg!(target_os = "linux"));
        let odd = told.path().join("$(touch x)");
        fs::create_dir(&odd).unwrap();
        assert_eq!(write(&odd).unwrap(), None);
    }
}
