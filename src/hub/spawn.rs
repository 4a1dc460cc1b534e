//! Starts a server's process and ends its whole group. The only place outside of the tool servers where a process is
//! spawned. Must not know MCP.
//!
//! The parent's death is not signalled to the child (Linux' PDEATHSIG needs unsafe code between fork and exec). When claw
//! is killed, the pipe on the server's stdin closes, which is how the protocol tells a server to end.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessGroup};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::manifest::{StdioLaunch, parse_env_file};
use super::settings::{HubSettings, INHERITED_VARIABLES};
use super::stderr::{StderrTail, drain};

/// After SIGKILL the kernel needs a moment; a process in uninterruptible sleep is not waited for.
const REAP_TIMEOUT: Duration = Duration::from_millis(500);

/// A running server: its pipes and the handle by which it is ended.
pub(super) struct Spawned {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    pub(super) child: ChildHandle,
}

/// Ends the process group when it is dropped. A task keeps the process itself.
#[derive(Debug)]
pub(super) struct ChildHandle {
    pub(super) pid: u32,
    pub(super) stderr_tail: StderrTail,
    end: CancellationToken,
    dead: CancellationToken,
    exit: Arc<OnceLock<String>>,
}

impl ChildHandle {
    /// Asks for the end: a grace for the server (its stdin is closed by the caller), SIGTERM, SIGKILL, to the group.
    pub(super) fn request_end(&self) {
        self.end.cancel();
    }

    /// Fires once the process has ended and its group was killed.
    pub(super) fn dead(&self) -> &CancellationToken {
        &self.dead
    }

    /// How it ended, for example `it exited with status 1`, with its last words on stderr.
    pub(super) fn epitaph(&self) -> String {
        let how = self.exit.get().map_or("it closed its output", String::as_str);
        match self.stderr_tail.last_lines(3) {
            last_words if last_words.is_empty() => how.to_owned(),
            last_words => format!("{how}; it said: {last_words}"),
        }
    }
}

impl Drop for ChildHandle {
    fn drop(&mut self) {
        self.end.cancel();
    }
}

/// Counts the processes whose end is still awaited, so that a shutdown can wait for all of them, also for those that
/// were given up in the middle of their start.
#[derive(Clone, Debug)]
pub(super) struct Keepers(Arc<watch::Sender<usize>>);

impl Keepers {
    pub(super) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }

    /// Returns when no process is left. The caller bounds the wait.
    pub(super) async fn all_done(&self) {
        // The sender lives in `self`, so this cannot fail.
        let _ = self.0.subscribe().wait_for(|count| *count == 0).await;
    }

    fn enter(&self) -> KeeperGuard {
        self.0.send_modify(|count| *count += 1);
        KeeperGuard(self.clone())
    }
}

struct KeeperGuard(Keepers);

impl Drop for KeeperGuard {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}

/// The process with its group. Dropping it, also with the runtime, kills what is left of the group.
struct Group(Box<dyn ChildWrapper>);

impl Drop for Group {
    fn drop(&mut self) {
        // The group may be gone already; there is nobody to tell.
        let _ = self.0.start_kill();
    }
}

/// Starts the server in its own process group with a cleared environment.
///
/// # Errors
/// An unreadable env file or a program that cannot be started, in words for its owner.
pub(super) fn spawn(
    server: &str,
    launch: &StdioLaunch,
    settings: &HubSettings,
    keepers: &Keepers,
) -> Result<Spawned, String> {
    let env = child_env(launch, settings)?;
    let cwd = launch.cwd.as_deref().unwrap_or(&settings.working_dir);
    let mut group = start(launch, &env, cwd).map_err(|error| describe_spawn_error(launch, cwd, &error))?;
    let (Some(stdin), Some(stdout), Some(stderr)) =
        (group.0.stdin().take(), group.0.stdout().take(), group.0.stderr().take())
    else {
        return Err("its standard streams could not be opened".to_owned());
    };
    let pid = group.0.id().ok_or("it ended at once")?;
    let tail = StderrTail::default();
    tokio::spawn(drain(server.to_owned(), stderr, tail.clone(), settings.log.clone(), settings.stderr_bytes_max));
    let child = ChildHandle {
        pid,
        stderr_tail: tail,
        end: CancellationToken::new(),
        dead: CancellationToken::new(),
        exit: Arc::new(OnceLock::new()),
    };
    let (guard, grace) = (keepers.enter(), settings.shutdown_grace);
    tokio::spawn(keep(guard, group, child.end.clone(), child.dead.clone(), child.exit.clone(), grace));
    Ok(Spawned { stdin, stdout, child })
}

#[expect(clippy::disallowed_methods, reason = "this is the one place where the hub starts a server")]
fn start(launch: &StdioLaunch, env: &BTreeMap<String, String>, cwd: &Path) -> io::Result<Group> {
    let program = launch.own.as_ref().map_or_else(|| launch.command.as_ref(), |own| own.exe.as_os_str());
    let extra_args = launch.own.as_ref().map(|own| own.extra_args.as_slice()).unwrap_or_default();
    let mut command = CommandWrap::with_new(program, |command| {
        command.args(&launch.args).args(extra_args).env_clear().envs(env).current_dir(cwd);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    });
    command.wrap(ProcessGroup::leader()).wrap(KillOnDrop).spawn().map(Group)
}

/// The short list, the env file, the entry's own variables; later ones win.
pub(super) fn child_env(launch: &StdioLaunch, settings: &HubSettings) -> Result<BTreeMap<String, String>, String> {
    let mut env = BTreeMap::new();
    for name in INHERITED_VARIABLES {
        if let Some(value) = settings.base_env.get(name) {
            env.insert(name.to_owned(), value.clone());
        }
    }
    if let Some(path) = &launch.env_file {
        let read = std::fs::read_to_string(path).map_err(|error| error.to_string());
        let variables = read.and_then(|text| parse_env_file(&text));
        env.extend(variables.map_err(|error| format!("its env file {}: {error}", path.display()))?);
    }
    env.extend(launch.env.clone());
    Ok(env)
}

fn describe_spawn_error(launch: &StdioLaunch, cwd: &Path, error: &io::Error) -> String {
    if !cwd.is_dir() {
        return format!("its working directory {} does not exist", cwd.display());
    }
    match error.kind() {
        io::ErrorKind::NotFound => format!("the command `{}` was not found", launch.command),
        io::ErrorKind::PermissionDenied => format!("the command `{}` may not be executed", launch.command),
        _ => format!("`{}`: {error}", launch.command),
    }
}

/// Waits for the process, or ends it when asked; whatever is left of the group dies with it.
async fn keep(
    guard: KeeperGuard,
    mut group: Group,
    end: CancellationToken,
    dead: CancellationToken,
    exit: Arc<OnceLock<String>>,
    grace: Duration,
) {
    let status = tokio::select! {
        status = group.0.wait() => status.ok(),
        () = end.cancelled() => end_group(&mut group, grace).await,
    };
    // Set once; nobody else writes it.
    let _ = exit.set(describe_exit(status));
    drop(group);
    dead.cancel();
    drop(guard);
}

async fn end_group(group: &mut Group, grace: Duration) -> Option<ExitStatus> {
    if let Ok(status) = timeout(grace, group.0.wait()).await {
        return status.ok();
    }
    // A group that is gone already is what we want.
    let _ = group.0.signal(rustix::process::Signal::TERM.as_raw());
    if let Ok(status) = timeout(grace, group.0.wait()).await {
        return status.ok();
    }
    let _ = group.0.start_kill();
    timeout(REAP_TIMEOUT, group.0.wait()).await.ok()?.ok()
}

fn describe_exit(status: Option<ExitStatus>) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match status {
        Some(status) => match (status.code(), status.signal()) {
            (Some(code), _) => format!("it exited with status {code}"),
            (None, Some(signal)) => format!("it was ended by signal {signal}"),
            (None, None) => "it ended".to_owned(),
        },
        None => "it ended".to_owned(),
    }
}
