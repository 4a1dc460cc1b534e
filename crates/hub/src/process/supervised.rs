//! A stranger's server behind its supervisor, as claw sees it: hands over sockets and orders, hears
//! that it runs and how it ended. Must not know MCP, or what kills what (that is the supervisor's).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::net::sockopt::set_socket_send_buffer_size;
use rustix::process::{Pid, Signal, kill_process_group};
use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::{Child, Command};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::child::Fate;
use super::handover::{Pipes, Report, Spec, Started, send_pipes};
use super::strays::{self, WaitedChild};
use crate::in_flight::InFlightGuard;
use crate::manifest::StdioLaunch;

/// For the last round of killing, and for the supervisor's own end.
const END_PATIENCE: Duration = Duration::from_millis(500);

/// What claw has said and the supervisor has not taken yet, in bytes of the kernel. Small, so that
/// claw sees soon that a server does not read.
const STDIN_BUFFER_BYTES: usize = 32 * 1024;

/// A supervisor with its orders, and claw's ends of what the server says and hears (`relay.rs`).
pub(super) struct Supervised {
    pub(super) stdin: OwnedWriteHalf,
    /// Comes to its end when the server has closed its stdin.
    pub(super) hangup: OwnedReadHalf,
    pub(super) stdout: UnixStream,
    pub(super) stderr: UnixStream,
    pub(super) line: Line,
}

/// The process, and what is said with it.
pub(super) struct Line {
    supervisor: Child,
    kept: WaitedChild,
    reader: BufReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    spec: Vec<u8>,
    grace: Duration,
}

/// Starts the supervisor; the server follows when [`reap`] runs.
///
/// # Errors
/// No descriptors or no process left, or a folder that is not there.
#[expect(
    clippy::disallowed_methods,
    reason = "the hub starts strangers' servers here, behind a supervisor"
)]
pub(super) fn start(
    supervisor: &[OsString],
    server: &str,
    launch: &StdioLaunch,
    env: &BTreeMap<String, String>,
    cwd: &Path,
    grace: Duration,
) -> io::Result<Supervised> {
    let (program, args) =
        supervisor.split_first().ok_or_else(|| io::Error::other("there is no supervisor"))?;
    let (ours, theirs) = StdUnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let (stdin, stdin_there) = StdUnixStream::pair()?;
    let (stdout, stdout_there) = StdUnixStream::pair()?;
    let (stderr, stderr_there) = StdUnixStream::pair()?;
    for here in [&stdin, &stdout, &stderr] {
        here.set_nonblocking(true)?;
    }
    set_socket_send_buffer_size(&stdin, STDIN_BUFFER_BYTES)?;
    let sockets: Pipes = [stdin_there.into(), stdout_there.into(), stderr_there.into()];
    send_pipes(&ours, &sockets)?;
    let [_, _, stderr_there] = sockets;
    let mut command = Command::new(program);
    command.args(args).arg(server).env_clear().envs(env).current_dir(cwd);
    command
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .stderr(Stdio::from(stderr_there));
    let (child, kept) = strays::start(|| command.spawn(), Child::id)?;
    // Our copies of its ends of socket and stderr would keep them open forever.
    drop(command);
    let grace_ms = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
    let spec = Spec { program: launch.command.clone(), args: launch.args.clone(), grace_ms };
    let mut spec = serde_json::to_vec(&spec)?;
    spec.push(b'\n');
    let (reader, writer) = UnixStream::from_std(ours)?.into_split();
    let (hangup, stdin) = UnixStream::from_std(stdin)?.into_split();
    Ok(Supervised {
        stdin,
        hangup,
        stdout: UnixStream::from_std(stdout)?,
        stderr: UnixStream::from_std(stderr)?,
        line: Line { supervisor: child, kept, reader: BufReader::new(reader), writer, spec, grace },
    })
}

/// Gives the orders, tells in `started` what came of them, waits for the end of the server or asks
/// for it, and returns when nothing of it is left. Dropping it, also with the runtime, closes the
/// line, which ends the server as well.
pub(super) async fn reap(
    guard: InFlightGuard,
    line: Line,
    fate: Fate,
    started: oneshot::Sender<io::Result<u32>>,
) {
    let Line { mut supervisor, kept, mut reader, mut writer, spec, grace } = line;
    let server = tokio::select! {
        biased;
        () = fate.end.cancelled() => None,
        answer = order(&mut writer, &mut reader, &spec) => match answer {
            Ok(pid) => {
                // Nobody waits for it any more if the start was given up; then `end` fires as well.
                let _ = started.send(Ok(pid));
                Some(pid)
            }
            Err(error) => {
                let _ = started.send(Err(error));
                None
            }
        }
    };
    let report = match server {
        None => None,
        Some(_) => tokio::select! {
            biased;
            report = hear::<Report>(&mut reader) => report,
            () = fate.end.cancelled() => None,
        },
    };
    // The end of the line is the order to end.
    drop(writer);
    let report = match report {
        None => timeout(grace * 2 + END_PATIENCE, hear::<Report>(&mut reader)).await.ok().flatten(),
        report => report,
    };
    let gone = timeout(END_PATIENCE, supervisor.wait()).await;
    if !matches!(gone, Ok(Ok(status)) if status.success()) {
        // Somebody has killed, stopped or broken the supervisor itself. The kernel ends the server
        // with it, and what the server has left comes to us.
        let _ = supervisor.start_kill();
        let _ = timeout(END_PATIENCE, supervisor.wait()).await;
        let group = server.and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
        let _ = group.map(|group| kill_process_group(group, Signal::KILL));
        drop(kept);
        strays::end().await;
    }
    fate.set_exit(report.map_or_else(|| "it ended".to_owned(), Report::in_words));
    drop(guard);
}

async fn order(
    writer: &mut OwnedWriteHalf,
    reader: &mut BufReader<OwnedReadHalf>,
    spec: &[u8],
) -> io::Result<u32> {
    writer.write_all(spec).await?;
    match hear::<Started>(reader).await {
        Some(Started::Yes { pid }) => u32::try_from(pid).map_err(io::Error::other),
        Some(Started::No { errno: Some(errno), .. }) => Err(io::Error::from_raw_os_error(errno)),
        Some(Started::No { errno: None, text }) => Err(io::Error::other(text)),
        None => Err(io::Error::other("its supervisor ended at once")),
    }
}

/// The next of its kind, whatever else comes before it; `None` at the end of the line.
async fn hear<T: DeserializeOwned>(reader: &mut BufReader<OwnedReadHalf>) -> Option<T> {
    loop {
        let mut text = String::new();
        reader.read_line(&mut text).await.ok().filter(|bytes| *bytes > 0)?;
        // Who was told to end in the middle of a start hears `Started` first.
        if let Ok(what) = serde_json::from_str(&text) {
            return Some(what);
        }
    }
}
