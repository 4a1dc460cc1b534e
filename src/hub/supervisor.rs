//! One small process between claw and a stranger's server (`claw supervise`, this same program). It starts the server on the
//! pipes that it is given, says how it ended, and leaves nothing of it behind: when the server has ended, when claw says so,
//! and when claw dies, however it dies. Must not know MCP; what the server says goes past it.
//!
//! Why a process of its own: a process group is left with one call of `setsid`, and nobody in claw's own process is there
//! any more after its SIGKILL. As a subreaper the supervisor inherits whatever left its parent, its group or its session, so
//! it can kill until it has no child left. `mcp-servers/bash` does the same for its jobs.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process_group};

use super::handover::{Pipes, Report, Spec, Started, receive_pipes};
use super::processes;

/// The word behind `claw` that makes it one.
pub const COMMAND: &str = "supervise";

/// A killed process ends at once, unless the kernel itself hangs (a dead network mount).
const KILL_PATIENCE: Duration = Duration::from_secs(5);
const KILL_ROUND: Duration = Duration::from_millis(5);
const FIRST_ROUND: Duration = Duration::from_millis(1);

enum Event {
    /// Claw said so, or is dead.
    Cut,
    /// A child of ours ended: the server, or something that we inherited.
    Ended(i32, Report),
    NoChildLeft,
}

/// Runs until nothing of the server is left. Called before any thread or runtime exists.
pub fn main() -> ExitCode {
    match supervise() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // stderr is the server's log here; typed by hand it is the person's terminal.
            let text = "claw: `supervise` is started by claw itself, beside each server";
            let _ = writeln!(io::stderr(), "{text}, and gets its orders on stdin ({error})");
            ExitCode::from(2)
        }
    }
}

fn supervise() -> io::Result<()> {
    let mut line = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let Some(pipes) = receive_pipes(&line)? else { return Ok(()) };
    let mut reader = BufReader::new(line.try_clone()?);
    let mut spec = String::new();
    if reader.read_line(&mut spec)? == 0 {
        // Claw changed its mind before it had said anything.
        return Ok(());
    }
    let spec: Spec = serde_json::from_str(&spec)?;
    // A session of its own gets no signal that a terminal sends to claw's group.
    let _ = rustix::process::setsid();
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let server = match start(&spec, pipes) {
        Ok(pid) => pid,
        Err(error) => {
            return say(&mut line, &Started::No { errno: error.raw_os_error(), text: error.to_string() });
        }
    };
    // If claw is gone already, the end of the line says so again below.
    let _ = say(&mut line, &Started::Yes { pid: server });
    let report = watch(server, reader, Duration::from_millis(spec.grace_ms));
    // Our exit means that nothing is left, whether or not somebody reads this.
    report.map_or(Ok(()), |report| say(&mut line, &report).or(Ok(())))
}

fn say(line: &mut UnixStream, what: &impl serde::Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec(what)?;
    text.push(b'\n');
    line.write_all(&text)
}

/// Starts the server in a group of its own, so that what it does to its group does not reach us. Gives its process id.
/// Environment and folder are those that we were given; our copies of its pipes are closed when this returns.
#[expect(clippy::disallowed_methods, reason = "the hub starts strangers' servers here, on their supervisor's side")]
fn start(spec: &Spec, [stdin, stdout, stderr]: Pipes) -> io::Result<i32> {
    let mut command = Command::new(&spec.program);
    command.args(&spec.args).process_group(0);
    command.stdin(Stdio::from(stdin)).stdout(Stdio::from(stdout)).stderr(Stdio::from(stderr));
    let child = command.spawn()?;
    i32::try_from(child.id()).map_err(io::Error::other)
}

/// Waits until the server has ended, or ends it: a grace after its stdin was closed, SIGTERM, a grace, SIGKILL. Whatever is
/// left of it then is killed.
fn watch(server: i32, reader: BufReader<UnixStream>, grace: Duration) -> Option<Report> {
    let (sender, events) = channel();
    let reaper = sender.clone();
    thread::spawn(move || wait_for_the_end_of_the_line(reader, &sender));
    thread::spawn(move || reap(&reaper));
    let mut deadline: Option<Instant> = None;
    let mut terminated = false;
    loop {
        let event = match deadline {
            None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(at) => events.recv_timeout(at.saturating_duration_since(Instant::now())),
        };
        match event {
            Ok(Event::Ended(pid, report)) if pid == server => {
                kill_all(server, &events);
                return Some(report);
            }
            Ok(Event::Ended(..)) => {}
            // Claw's end of the server's stdin is closed by the time this comes.
            Ok(Event::Cut) => deadline = deadline.or(Some(Instant::now() + grace)),
            Err(RecvTimeoutError::Timeout) if !terminated => {
                terminated = true;
                deadline = Some(Instant::now() + grace);
                if let Some(group) = Pid::from_raw(server) {
                    let _ = kill_process_group(group, Signal::TERM);
                }
            }
            Ok(Event::NoChildLeft) => return None,
            Err(_) => return kill_all(server, &events),
        }
    }
}

fn wait_for_the_end_of_the_line(mut reader: BufReader<UnixStream>, events: &Sender<Event>) {
    let mut byte = [0];
    while matches!(reader.read(&mut byte), Ok(1..)) {}
    let _ = events.send(Event::Cut);
}

fn reap(events: &Sender<Event>) {
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) => {
                let report = match (status.exit_status(), status.terminating_signal()) {
                    (Some(code), _) => Report::Exited(code),
                    (None, Some(signal)) => Report::Signaled(signal),
                    (None, None) => continue,
                };
                if events.send(Event::Ended(pid.as_raw_nonzero().get(), report)).is_err() {
                    return;
                }
            }
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => {
                let _ = events.send(Event::NoChildLeft);
                return;
            }
        }
    }
}

/// Kills until there is no child left. The group goes first and at once, which also ends a fork bomb; then, round by
/// round, whoever has left it. Gives how the server itself ended, if it was still there.
fn kill_all(server: i32, events: &Receiver<Event>) -> Option<Report> {
    let until = Instant::now() + KILL_PATIENCE;
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let mut ended = None;
    // Most servers leave nobody, and then the table of all processes need not be read.
    let mut left = wait(server, events, FIRST_ROUND, &mut ended);
    while left && Instant::now() < until {
        let table = processes::descendants(&processes::list(), own);
        // Without a process table the group is all that can be named.
        let group_lives = table.is_empty() || table.iter().any(|process| process.group == server);
        if let Some(group) = Pid::from_raw(server).filter(|_| group_lives) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        table.iter().for_each(processes::kill);
        left = wait(server, events, KILL_ROUND, &mut ended);
    }
    ended
}

/// Takes what happens within a round; false once there is no child left.
fn wait(server: i32, events: &Receiver<Event>, round: Duration, ended: &mut Option<Report>) -> bool {
    let round = Instant::now() + round;
    loop {
        match events.recv_timeout(round.saturating_duration_since(Instant::now())) {
            Ok(Event::NoChildLeft) | Err(RecvTimeoutError::Disconnected) => return false,
            Ok(Event::Ended(pid, report)) if pid == server => *ended = Some(report),
            Ok(_) => {}
            Err(RecvTimeoutError::Timeout) => return true,
        }
    }
}
