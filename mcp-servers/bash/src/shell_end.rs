//! That the shell of a command ends, and how: in which folder and with which exported variables,
//! for a host whose next command is to go on there. Owns how that is found out. Must not know
//! what a host makes of it.
//!
//! The shell says by a trap that it ends, and waits; then the kernel says where it stands. So no
//! program that a command starts can say a folder in its place. The variables are the shell's own
//! words, because the kernel does not know them, and another program can say others
//! ([`shell_variables`]). A command that takes the trap away, or puts another program in the place
//! of its shell (`exec`), has no end of a shell that could be told.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::{Errno, FdFlags};
use rustix::net::SendFlags;
use serde::{Deserialize, Serialize};

use crate::shell_folder::{self, EndedIn, folder_of, link};
use crate::shell_variables::{self, InitialVariables, VariablesLeft};

/// The file in the folder of what commands are told that bash reads first (`BASH_ENV`).
const FILE: &str = "begin.bash";
/// The line's number in the shell: none that a script would take for itself.
const DESCRIPTOR: i32 = 1000;
/// How long the shell waits for the look, in seconds. It takes microseconds.
const LOOK_TIME_MAX_S: u32 = 5;
/// The longest that the shell may say, in bytes: four for each byte that a call can give, and as
/// much again for what every command has.
const SAID_BYTES_MAX: usize = 8 * claw_kit::variables::ALL_BYTES_MAX;
const CHUNK_BYTES: usize = 4096;

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

/// No word of it is seen with `set -x`, and none fails with `set -e`. It needs no other program.
/// What was answered to somebody else is read first, so that the shell waits for its own answer.
fn begin() -> String {
    let (line, wait) = (DESCRIPTOR, LOOK_TIME_MAX_S);
    format!(
        "# Written by claw at each start: the shell tells how it ends.\nunset BASH_ENV\ntrap '{{ \
         builtin read -t 0 -u {line} && builtin read -r -N 65536 -t 0.01 -u {line}; \
         builtin declare -px >&{line} && builtin printf \"\\\\0\" >&{line} && \
         builtin read -r -N 1 -t {wait} -u {line}; }} 2>/dev/null || :' EXIT\n"
    )
}

/// How a command has left its shell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellEnd {
    /// In which folder, if that is known and not where it began.
    pub folder: Option<EndedIn>,
    /// With which variables, if that is known and not those with which it began.
    pub variables: Option<VariablesLeft>,
}

impl ShellEnd {
    /// It did not begin: its `cwd` cannot be used.
    pub fn not_there() -> Self {
        Self { folder: Some(EndedIn::NotThere), variables: None }
    }
}

/// Where a shell stood when something was said, and what that was.
struct Seen {
    folder: PathBuf,
    said: Vec<u8>,
}

/// A shell that is about to be started, or runs.
pub struct WatchedShell {
    /// Inherited by the shell, and closed here when it has started.
    theirs: Option<OwnedFd>,
    started: Sender<OwnedFd>,
    seen: Arc<Mutex<Option<Seen>>>,
    /// The variables with which it has begun.
    given: InitialVariables,
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
        let seen = Arc::<Mutex<Option<Seen>>>::default();
        let found = seen.clone();
        thread::Builder::new().spawn(move || watch(ours, &process, &shell, &found)).ok()?;
        rustix::io::fcntl_setfd(&theirs, FdFlags::empty()).ok()?;
        Some(Self { theirs: Some(theirs), started, seen, given: InitialVariables::new() })
    }

    /// The shell is this process, which nobody has waited for yet, and has begun with these
    /// variables.
    pub fn started(&mut self, pid: i32, given: InitialVariables) {
        self.theirs = None;
        self.given = given;
        // The folder of this very process, whoever has its number later.
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::PATH;
        if let Ok(process) = rustix::fs::openat(CWD, format!("/proc/{pid}"), flags, Mode::empty()) {
            // A thread that has ended has no more to tell.
            let _ = self.started.send(process);
        }
    }

    /// How it has ended, as far as that is known. Both folders are real; `by_call` are the
    /// variables that the call has given.
    pub fn ended(
        &self,
        (began, workspace): (&Path, &Path),
        by_call: &BTreeMap<String, String>,
    ) -> ShellEnd {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(seen) = seen.as_ref() else { return ShellEnd::default() };
        ShellEnd {
            folder: shell_folder::named(&seen.folder, began, workspace),
            variables: shell_variables::compare(&seen.said, &self.given, by_call),
        }
    }
}

/// Looks each time that somebody has ended a word on the line.
fn watch(
    mut line: UnixStream,
    process: &Receiver<OwnedFd>,
    shell: &Path,
    seen: &Mutex<Option<Seen>>,
) {
    let Ok(process) = process.recv() else { return };
    let (mut chunk, mut said) = (vec![0; CHUNK_BYTES], Vec::new());
    while let Ok(read @ 1..) = line.read(&mut chunk) {
        for byte in &chunk[..read] {
            if *byte != 0 {
                // What is too long cannot be read to its end, and so means nothing.
                if said.len() < SAID_BYTES_MAX {
                    said.push(*byte);
                }
                continue;
            }
            let said = std::mem::take(&mut said);
            // Another program in its place stands where it likes.
            let found = link(&process, "exe")
                .filter(|program| program == shell)
                .and_then(|_| folder_of(&process))
                .map(|folder| Seen { folder, said });
            *seen.lock().unwrap_or_else(PoisonError::into_inner) = found;
            // Where there is no room for it, nobody reads what was answered before.
            match rustix::net::send(&line, b"\n", SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(_) | Err(Errno::AGAIN) => {}
                Err(_) => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_bash_would_expand_is_not_used() {
        let told = tempfile::tempdir().unwrap();
        assert_eq!(write(told.path()).unwrap().is_some(), cfg!(target_os = "linux"));
        let odd = told.path().join("$(touch x)");
        fs::create_dir(&odd).unwrap();
        assert_eq!(write(&odd).unwrap(), None);
    }
}
