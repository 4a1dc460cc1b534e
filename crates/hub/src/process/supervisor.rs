//! One small process between claw and a stranger's server (`claw supervise`, this same program). It
//! starts the server on pipes of its own and relays them (`relay.rs`), says how it ended, and
//! leaves nothing of it behind: when the server has ended, when claw says so, and when claw dies,
//! however it dies. Must not know MCP.
//!
//! Why a process of its own, and how it kills, is told in `claw_kit::reaper`; `mcp-servers/bash`
//! does the same for its jobs. If it is killed itself, the kernel ends the server with it, and claw
//! ends what the server has left (`strays.rs`).

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use claw_kit::reaper::{Killed, Reaper, ReaperEvent, become_reaper};
use rustix::process::{Pid, Signal, kill_process_group};

use super::handover::{Birth, Pipes, Report, Spec, Started, receive_pipes, send_pipes};
use super::relay;

/// The word behind `claw` that makes it one.
pub const COMMAND: &str = "supervise";
/// The last word of the process that becomes the server.
const BECOME: &str = "--become-the-server";

/// For the last words of a server that has ended by itself: claw reads them, unless it is very
/// busy.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// The same where claw has asked for the end, and waits for that.
const LAST_WORDS_IF_CUT: Duration = Duration::from_millis(100);

/// Runs until nothing of the server is left. Called before any thread or runtime exists.
pub fn main() -> ExitCode {
    if std::env::args_os().nth_back(0).is_some_and(|last| last == BECOME) {
        return become_the_server();
    }
    match supervise() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            // stderr is the server's log here; typed by hand it is the person's terminal.
            let text = "claw: `supervise` is started by claw itself, beside each server";
            let _ = writeln!(io::stderr(), "{text}, and gets its orders on stdin ({error})");
            ExitCode::from(2)
        }
    }
}

/// Whether nothing of the server is left.
fn supervise() -> io::Result<bool> {
    let mut line = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let Some(sockets) = receive_pipes(&line)? else { return Ok(true) };
    let mut reader = BufReader::new(line.try_clone()?);
    let mut spec = String::new();
    if reader.read_line(&mut spec)? == 0 {
        // Claw changed its mind before it had said anything.
        return Ok(true);
    }
    let spec: Spec = serde_json::from_str(&spec)?;
    become_reaper()?;
    let reaper = Reaper::new(reader);
    let (pipes, relay) = relay::start(sockets)?;
    let server = match start(&spec, pipes) {
        Ok(pid) => pid,
        Err(error) => {
            say(&mut line, &Started::No { errno: error.raw_os_error(), text: error.to_string() })?;
            return Ok(true);
        }
    };
    // If claw is gone already, the end of the line says so again below.
    let _ = say(&mut line, &Started::Yes { pid: server });
    reaper.begin();
    let (Killed { leader, nothing_left }, cut) =
        watch(server, &reaper, Duration::from_millis(spec.grace_ms));
    relay.drain(if cut { LAST_WORDS_IF_CUT } else { LAST_WORDS });
    // Claw looks after what is left, whether or not it reads this.
    let _ = leader.map(|exit| say(&mut line, &Report::from(exit)));
    Ok(nothing_left)
}

fn say(line: &mut UnixStream, what: &impl serde::Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec(what)?;
    text.push(b'\n');
    line.write_all(&text)
}

/// Starts the server in a group of its own, so that what it does to its group does not reach us.
/// Gives its process id. Environment and folder are those that we were given; our copies of its
/// pipes are closed when this returns.
///
/// It begins as this program, which asks the kernel to end it with us and then becomes the server.
/// The request is bound to the thread that starts it: this one, which waits for its end. It is kept
/// over an exec, except of a setuid program.
#[expect(
    clippy::disallowed_methods,
    reason = "the hub starts strangers' servers here, on their supervisor's side"
)]
fn start(spec: &Spec, pipes: Pipes) -> io::Result<i32> {
    let (mut ours, theirs) = UnixStream::pair()?;
    send_pipes(&ours, &pipes)?;
    let [_, stdout, stderr] = pipes;
    let mut command = Command::new(own_program()?);
    command.args(std::env::args_os().skip(1)).arg(BECOME).process_group(0);
    command
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::from(stdout))
        .stderr(Stdio::from(stderr));
    let mut child = command.spawn()?;
    drop(command);
    say(&mut ours, &Birth { spec: spec.clone(), supervisor: std::process::id() })?;
    // The line closes when the server takes over; before that it can only say what kept it from
    // that.
    let mut failure = String::new();
    BufReader::new(ours).read_line(&mut failure)?;
    if failure.is_empty() {
        return i32::try_from(child.id()).map_err(io::Error::other);
    }
    child.wait()?;
    match serde_json::from_str(&failure)? {
        Started::No { errno: Some(errno), .. } => Err(io::Error::from_raw_os_error(errno)),
        Started::No { text, .. } => Err(io::Error::other(text)),
        Started::Yes { .. } => Err(io::Error::other("it said that it had started")),
    }
}

/// The link in /proc still leads to this program after its file was replaced by an update.
fn own_program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() }
}

/// Takes the server's pipes and orders from the line on stdin, and becomes the server. Returns only
/// if that fails.
fn become_the_server() -> ExitCode {
    let Ok(line) = io::stdin().as_fd().try_clone_to_owned() else { return ExitCode::FAILURE };
    let mut line = UnixStream::from(line);
    let error = take_over(&line);
    // A supervisor that is gone does not listen.
    let _ = say(&mut line, &Started::No { errno: error.raw_os_error(), text: error.to_string() });
    ExitCode::FAILURE
}

#[expect(
    clippy::disallowed_methods,
    reason = "the hub starts strangers' servers here, on their supervisor's side"
)]
fn take_over(line: &UnixStream) -> io::Error {
    let prepared = || -> io::Result<Spec> {
        let gone = || io::Error::other("its supervisor is gone");
        let [stdin, stdout, stderr] = receive_pipes(line)?.ok_or_else(gone)?;
        let mut text = String::new();
        BufReader::new(line).read_line(&mut text)?;
        let birth: Birth = serde_json::from_str(&text)?;
        #[cfg(target_os = "linux")]
        {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            // A parent that ended before the request was made is not told of any more.
            if rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get().unsigned_abs())
                != Some(birth.supervisor)
            {
                return Err(gone());
            }
        }
        rustix::stdio::dup2_stdin(&stdin)?;
        rustix::stdio::dup2_stdout(&stdout)?;
        rustix::stdio::dup2_stderr(&stderr)?;
        Ok(birth.spec)
    };
    match prepared() {
        Ok(spec) => Command::new(&spec.program).args(&spec.args).exec(),
        Err(error) => error,
    }
}

/// Waits until the server has ended, or ends it: a grace after its stdin was closed, SIGTERM, a
/// grace, SIGKILL. Whatever is left of it then is killed. Also tells whether claw has asked for it.
fn watch(server: i32, reaper: &Reaper, grace: Duration) -> (Killed, bool) {
    let mut deadline: Option<Instant> = None;
    let mut terminated = false;
    loop {
        match reaper.next(deadline) {
            Some(ReaperEvent::Ended(pid, exit)) if pid == server => {
                let killed = Killed { leader: Some(exit), ..reaper.kill_all(server) };
                return (killed, deadline.is_some());
            }
            Some(ReaperEvent::Ended(..)) => {}
            // Claw's end of the server's stdin is closed by the time this comes.
            Some(ReaperEvent::Cut) => deadline = deadline.or(Some(Instant::now() + grace)),
            Some(ReaperEvent::NoChildLeft) => {
                return (Killed { leader: None, nothing_left: true }, deadline.is_some());
            }
            None if !terminated => {
                terminated = true;
                deadline = Some(Instant::now() + grace);
                if let Some(group) = Pid::from_raw(server) {
                    let _ = kill_process_group(group, Signal::TERM);
                }
            }
            None => return (reaper.kill_all(server), true),
        }
    }
}
