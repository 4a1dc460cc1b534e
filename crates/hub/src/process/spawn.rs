//! Starts a server: its environment, its folder, its pipes, with a supervisor for a stranger. Here
//! and below is the only place outside of the tool servers where a process is spawned. Must not
//! know MCP.

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::unix::OwnedReadHalf;
use tokio::sync::oneshot;

use super::child::{ChildHandle, Fate};
use super::stderr::{StderrTail, drain};
use super::{direct, supervised};
use crate::in_flight::InFlight;
use crate::manifest::{StdioLaunch, parse_env_file};
use crate::names::safe_name;
use crate::settings::{BASIC_VARIABLES, HubSettings};
use claw_domain::inherit;

/// A running server: its pipes and the handle by which it is ended.
pub(crate) struct Spawned {
    pub(crate) stdin: Box<dyn AsyncWrite + Send + Unpin>,
    pub(crate) stdout: Box<dyn AsyncRead + Send + Unpin>,
    /// Comes to its end when a stranger's server has closed its stdin; nothing else comes here.
    pub(crate) hangup: Option<OwnedReadHalf>,
    pub(crate) process: ChildHandle,
}

/// Starts the server with a cleared environment. Dropping the future ends what it had started.
///
/// # Errors
/// An unreadable env file or a program that cannot be started, in words for its owner.
pub(crate) async fn spawn(
    server: &str,
    launch: &StdioLaunch,
    settings: &HubSettings,
    reapers: &InFlight,
) -> Result<Spawned, String> {
    let env = child_env(launch, settings)?;
    let cwd = &working_dir(server, launch, settings)?;
    // What is written as a path is one beside `mcp.json`, wherever the server runs.
    let beside = |command: &String| settings.working_dir.join(command).display().to_string();
    let is_relative =
        launch.own.is_none() && launch.command.contains('/') && !launch.command.starts_with('/');
    let launch = &StdioLaunch {
        command: if is_relative { beside(&launch.command) } else { launch.command.clone() },
        ..launch.clone()
    };
    let wrong = |error: io::Error| describe_spawn_error(launch, cwd, &error);
    let drained = |stderr, tail: &StderrTail| {
        let (tail, log) = (tail.clone(), settings.log.clone());
        claw_kit::task::spawn(drain(
            server.to_owned(),
            stderr,
            tail,
            log,
            settings.stderr_bytes_max,
        ));
    };
    let (tail, fate, grace) = (StderrTail::default(), Fate::default(), settings.shutdown_grace);
    // Our own servers see to their own children and end with their stdin, so they need no second
    // process.
    if let Some(supervisor) = settings.supervisor.as_ref().filter(|_| launch.own.is_none()) {
        let started =
            supervised::start(supervisor, server, launch, &env, cwd, grace).map_err(wrong)?;
        drained(Box::new(started.stderr) as Box<dyn AsyncRead + Send + Unpin>, &tail);
        let mut process = ChildHandle { pid: 0, stderr_tail: tail, fate: fate.clone() };
        let (tell, told) = oneshot::channel();
        claw_kit::task::spawn(supervised::reap(reapers.enter(), started.line, fate, tell));
        let told = told.await.unwrap_or_else(|_| Err(io::Error::other("its start was given up")));
        process.pid = told.map_err(wrong)?;
        return Ok(Spawned {
            stdin: Box::new(started.stdin),
            stdout: Box::new(started.stdout),
            hangup: Some(started.hangup),
            process,
        });
    }
    let mut group = direct::start(launch, &env, cwd).map_err(wrong)?;
    let (Some(stdin), Some(stdout), Some(stderr)) =
        (group.0.stdin().take(), group.0.stdout().take(), group.0.stderr().take())
    else {
        return Err("its standard streams could not be opened".to_owned());
    };
    let pid = group.0.id().ok_or("it ended at once")?;
    drained(Box::new(stderr), &tail);
    let process = ChildHandle { pid, stderr_tail: tail, fate: fate.clone() };
    claw_kit::task::spawn(direct::reap(reapers.enter(), group, fate, grace));
    Ok(Spawned { stdin: Box::new(stdin), stdout: Box::new(stdout), hangup: None, process })
}

/// Where it runs: see [`HubSettings::server_dirs`]. A relative `cwd` is one beside `mcp.json`.
fn working_dir(
    server: &str,
    launch: &StdioLaunch,
    settings: &HubSettings,
) -> Result<PathBuf, String> {
    if let Some(cwd) = &launch.cwd {
        return Ok(settings.working_dir.join(cwd));
    }
    if launch.own.is_some() {
        return Ok(settings.working_dir.clone());
    }
    let folder = settings.server_dirs.join(safe_name(server));
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    made.map_err(|error| format!("its folder {} cannot be made: {error}", folder.display()))?;
    Ok(folder)
}

/// What helps where a server has failed that was told of a file by a name that is not one where it
/// runs.
pub(crate) fn misplaced(launch: &StdioLaunch, settings: &HubSettings) -> Option<String> {
    if launch.cwd.is_some() || launch.own.is_some() {
        return None;
    }
    let is_beside =
        |arg: &&String| !arg.starts_with('/') && settings.working_dir.join(arg).is_file();
    let arg = launch.args.iter().find(is_beside)?;
    Some(format!(
        "its argument `{arg}` is a file beside mcp.json, and it runs in a folder of its own: \
         write the whole path, or \"cwd\": \".\" into its entry"
    ))
}

/// The short lists, the env file, the entry's own variables; later ones win. Claw's own servers
/// fetch nothing, and what they run gets no more than it did: a proxy's address may hold a
/// password.
pub(crate) fn child_env(
    launch: &StdioLaunch,
    settings: &HubSettings,
) -> Result<BTreeMap<String, String>, String> {
    let listed = match &launch.inherit {
        _ if launch.own.is_some() => Vec::new(),
        Some(written) => inherit::resolve(written, &settings.inherit),
        None => settings.inherit.clone(),
    };
    let is_passed_on = |name: &str| {
        BASIC_VARIABLES.contains(&name) || listed.iter().any(|entry| inherit::means(entry, name))
    };
    let passed_on = settings.base_env.iter().filter(|(name, _)| is_passed_on(name));
    let mut env: BTreeMap<String, String> =
        passed_on.map(|(name, value)| (name.clone(), value.clone())).collect();
    env.extend(launch.own.iter().flat_map(|own| own.extra_env.clone()));
    if let Some(path) = &launch.env_file {
        let read = std::fs::read_to_string(path).map_err(|error| error.to_string());
        let variables = read.and_then(|text| parse_env_file(&text));
        let variables =
            variables.map_err(|error| format!("its env file {}: {error}", path.display()))?;
        (settings.secrets)(crate::secrets::in_variables(&variables))?;
        env.extend(variables);
    }
    env.extend(launch.env.clone());
    if launch.own.is_none() {
        env.extend(settings.marks.clone());
    }
    Ok(env)
}

fn describe_spawn_error(launch: &StdioLaunch, cwd: &Path, error: &io::Error) -> String {
    if !cwd.is_dir() {
        return format!("its working directory {} does not exist", cwd.display());
    }
    match error.kind() {
        io::ErrorKind::NotFound => format!("the command `{}` was not found", launch.command),
        io::ErrorKind::PermissionDenied => {
            format!("the command `{}` may not be executed", launch.command)
        }
        _ => format!("`{}`: {error}", launch.command),
    }
}
