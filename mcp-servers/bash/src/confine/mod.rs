//! The box: what every command of this server can reach, held by the operating system. Owns the
//! list of paths and the words that say which level is in force. Must not know jobs or MCP.
//!
//! Two layers. The first closes around the server itself before it has a thread (`apply`);
//! everything that it starts inherits it. The second closes around each job (`isolate_this_thread`,
//! called by the job's supervisor) and makes the server and the supervisor strangers to it: no
//! signal, no ptrace, nothing of their `/proc` that is guarded by ptrace (`environ`, `mem`, `fd`,
//! `root`, `cwd`). It is narrower the less a command needs (`level`): at `read` it opens the
//! workspace, a TMPDIR of its own and what the system's programs need, and writes that TMPDIR
//! alone; at `read` and `write` there is no network but a loopback of the command's own.
//!
//! **What remains open**, and is said to whoever asks: the metadata of paths outside (`stat`,
//! `inotify`), at `network` TCP and UDP (services on loopback included), hard links that somebody
//! outside put into the workspace, and, where the server runs as root, what root may read below
//! `/etc`. Without the namespaces (`namespace.rs`) also `chmod`, `chown`, `utime` and `setxattr` on
//! what the user owns, the process list with its command lines, and the user's System V memory and
//! queues.

#[cfg(target_os = "linux")]
mod capabilities;
mod enforcement;
#[cfg(target_os = "linux")]
mod landlock;
mod paths;
#[cfg(target_os = "linux")]
mod seccomp;

#[cfg(target_os = "linux")]
pub use enforcement::{Enforcement, Held};
pub use paths::{Boundary, ESSENTIAL_PATHS, Inner, PROGRAMS};

use crate::error::StartError;
#[cfg(target_os = "linux")]
use crate::network::Access;

/// Whether this process has one thread alone: a box closes around threads, and the first to be
/// there would stay outside.
#[cfg(target_os = "linux")]
pub fn check_threads() -> Result<(), StartError> {
    let threads = std::fs::read_dir("/proc/self/task").map_or(1, |tasks| tasks.count());
    if threads > 1 { Err(StartError::Threads(threads)) } else { Ok(()) }
}

/// There is no box on this system.
#[cfg(not(target_os = "linux"))]
pub fn check_threads() -> Result<(), StartError> {
    Ok(())
}

/// The namespaces that the server stands in, and those that its commands can have.
#[derive(Clone, Copy, Default)]
pub struct GivenNamespaces {
    /// The server has processes, System V memory and mounts of its own.
    pub namespaces: bool,
    /// Each command can have these.
    pub mounts: bool,
    /// Each command can have a network.
    pub networks: bool,
    /// All that commands may not change is mounted read-only.
    pub sealed: bool,
}

/// Closes the box around this thread and all that it starts, permanently. Of the process only the
/// launcher stays outside (`launcher.rs`).
#[cfg(target_os = "linux")]
pub fn apply(boundary: &Boundary, given: GivenNamespaces) -> Result<Enforcement, StartError> {
    let level = close(boundary).map_err(StartError::Box)?;
    let own_networks = given.networks && level.seccomp;
    let GivenNamespaces { namespaces, mounts: own_mounts, sealed, .. } = given;
    Ok(Enforcement { namespaces, own_networks, own_mounts, sealed, ..level })
}

/// Closes the same box around a supervisor that stands in namespaces of its command's own.
#[cfg(target_os = "linux")]
pub fn apply_to_supervisor(boundary: &Boundary) -> Result<(), String> {
    close(boundary).map(|_| ())
}

#[cfg(target_os = "linux")]
fn close(boundary: &Boundary) -> Result<Enforcement, String> {
    // The capabilities of root first: the two others keep an exec from bringing them back
    // (no_new_privs).
    capabilities::drop_dangerous().map_err(|error| error.to_string())?;
    let landlock_abi = landlock::restrict(boundary).map_err(|error| error.to_string())?;
    let seccomp = seccomp::apply()?;
    Ok(Enforcement { landlock_abi, seccomp, ..Enforcement::NONE })
}

/// There is no box on this system; the caller says so.
#[cfg(not(target_os = "linux"))]
pub fn apply(_boundary: &Boundary, _given: GivenNamespaces) -> Result<Enforcement, StartError> {
    Ok(Enforcement::NONE)
}

/// What this system offers, found out by doing it to a thread that then ends. The caller is not
/// confined. Namespaces cannot be tried in a thread, so of these the system's settings are told.
pub fn probe() -> Enforcement {
    #[cfg(target_os = "linux")]
    {
        let attempt = std::thread::spawn(|| close(&Boundary::default()));
        let level = attempt.join().ok().and_then(Result::ok).unwrap_or(Enforcement::NONE);
        let namespaces = crate::namespace::withheld().is_none();
        Enforcement {
            namespaces,
            own_networks: namespaces && level.seccomp,
            own_mounts: namespaces,
            sealed: namespaces && crate::namespace::can_be_sealed(),
            ..level
        }
    }
    #[cfg(not(target_os = "linux"))]
    Enforcement::NONE
}

/// Marks a process that was started to try the box.
#[cfg(target_os = "linux")]
const TRYING: &str = "CLAW_TRIES_THE_BOX";

/// What this system offers, found out by a process that really closes the box, namespaces included:
/// this program, started with `words`, by which it is the bash server. Where that cannot be
/// started, nothing is held.
#[cfg(target_os = "linux")]
#[expect(
    clippy::disallowed_methods,
    reason = "the bash server is one of the two that start processes"
)]
pub fn try_box(words: &[&str]) -> Enforcement {
    use std::process::{Command, Stdio};
    // A program that does not know these words would begin anew, and try again without end.
    if std::env::var_os(TRYING).is_some() {
        return Enforcement::NONE;
    }
    let tried = Command::new("/proc/self/exe")
        .args(words)
        .arg("--try-box")
        .env_clear()
        .env(TRYING, "1")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let said = tried.ok().and_then(|tried| serde_json::from_slice(&tried.stdout).ok());
    said.unwrap_or(Enforcement::NONE)
}

/// What keeps namespaces from this user, who was refused them, and what the administrator can do.
/// `None` where no system has them.
pub fn advice_about_namespaces() -> Option<&'static str> {
    #[cfg(target_os = "linux")]
    {
        use crate::namespace::{Withheld, withheld};
        Some(withheld().unwrap_or(Withheld::Refused).advice())
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// There is no box on this system.
#[cfg(not(target_os = "linux"))]
pub fn try_box(_words: &[&str]) -> Enforcement {
    Enforcement::NONE
}

/// The inner layer: what this thread starts from now on can neither signal nor look into the
/// processes around it, and writes where `inner` says; the server itself may also write the outputs
/// that it keeps. A command that may only read opens what `inner` names, and changes no mode, time
/// or attribute; one without any network makes no socket. Does nothing where there is no Landlock.
#[cfg_attr(
    not(target_os = "linux"),
    expect(unused_variables, reason = "there is no box to tell it to")
)]
pub fn isolate_this_thread(inner: &Inner) -> Result<(), String> {
    #[cfg(target_os = "linux")]
    {
        landlock::isolate(inner).map_err(|error| error.to_string())?;
        if inner.changes_nothing {
            seccomp::refuse_to_change()?;
        }
        if inner.access == Access::Refused {
            seccomp::refuse_sockets()?;
        }
    }
    Ok(())
}
