//! One small process between the server and a job (this same program, started with `--supervise`).
//! It starts the shell, says how it ended, and kills everything that the job started: when the
//! shell has ended, when the server says so, and when the server dies, however it dies. Must not
//! know MCP or output; the output goes past it.
//!
//! Why a process of its own, and how it kills, is told in `claw_kit::reaper`.

use std::env;
use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use claw_kit::processes;
use claw_kit::reaper::{Exit, Reaper, ReaperEvent, become_reaper, own_descendants};
use rustix::fs::Mode;
use rustix::process::Signal;

use crate::cgroup::{Leaf, Ticket};
use crate::confine;
use crate::disk::Disk;
use crate::limits::{CommandLimits, Met};
use crate::network;
#[cfg(target_os = "linux")]
use crate::network::{Access, own};
use crate::obeyed::Obeyed;
#[cfg(target_os = "linux")]
use crate::own_namespaces;
use crate::services;
use crate::shell_end::{ShellEnd, WatchedShell};
use crate::shell_variables::InitialVariables;
use crate::wire::{JobEnd, JobReport, JobSpec};
use crate::work_folder;

/// How long background processes may finish by themselves after the shell has ended, for example
/// the `tee` of a process substitution.
const LINGER: Duration = Duration::from_millis(200);

/// The pause between two looks at what the command takes. It grows with what a look costs.
const LOOK_EVERY: Duration = Duration::from_millis(100);
const LOOK_EVERY_MAX: Duration = Duration::from_secs(1);
const LOOK_SHARE: u32 = 20;

pub fn main() -> ExitCode {
    match supervise() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // stderr is the job's output here, which is where the model and the person look.
            let _ = writeln!(
                std::io::stderr(),
                "claw-mcp-bash: the supervisor of this command failed: {error}"
            );
            ExitCode::FAILURE
        }
    }
}

/// Where the command finds the server on its loopback.
#[derive(Clone, Copy, Debug, Default)]
struct Ports {
    proxy: Option<u16>,
    docker: Option<u16>,
    ssh: Option<u16>,
}

fn supervise() -> std::io::Result<()> {
    let mut line = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let mut reader = BufReader::new(line.try_clone()?);
    let mut spec = String::new();
    if reader.read_line(&mut spec)? == 0 {
        // The server changed its mind before it had said anything.
        return Ok(());
    }
    let mut spec: JobSpec = serde_json::from_str(&spec)?;
    // The command must not inherit what we have inherited.
    close_fds::set_fds_cloexec(3, &[]);
    let arrived = arrive(&mut spec, &line);
    become_reaper()?;

    let end = match arrived {
        Ok((obeyed, ports)) => {
            let end = run(&spec, ports, reader);
            let not_held = obeyed.as_ref().and_then(Obeyed::is_not_all).map(str::to_owned);
            // What is put back has the mode that it had.
            rustix::process::umask(Mode::empty());
            let look = |found: Obeyed| found.set_aside_what_is_new(spec.level, &spec.baseline);
            JobEnd { obeyed: obeyed.map(look).unwrap_or_default(), not_held, ..end }
        }
        Err(why) => JobEnd::of(JobReport::NotStarted(why)),
    };
    let text = end.line()?;
    // A server that is dead does not listen.
    line.write_all(text.as_bytes()).or(Ok(()))
}

/// Enters what the command has for itself, and closes the box around this process where it is not
/// there yet. Gives what is obeyed on sight, as it was before, if it is to be compared afterwards,
/// and where it finds the server.
#[cfg(target_os = "linux")]
fn arrive(spec: &mut JobSpec, line: &UnixStream) -> Result<(Option<Obeyed>, Ports), String> {
    let mut boundary = spec.own_namespaces.clone();
    let obeyed = match &mut boundary {
        Some(boundary) => own_namespaces::enter(spec, boundary)
            .map_err(|error| format!("it can have no namespaces of its own: {error}"))?,
        None => None,
    };
    let ports = enter_network(spec, line)?;
    boundary.iter().try_for_each(confine::apply_to_supervisor)?;
    Ok((obeyed.filter(|_| spec.sets_aside), ports))
}

/// There is nothing to enter on this system.
#[cfg(not(target_os = "linux"))]
fn arrive(spec: &mut JobSpec, _line: &UnixStream) -> Result<(Option<Obeyed>, Ports), String> {
    let ssh = spec.services.ssh.as_ref().and_then(|ssh| ssh.port);
    Ok((None, Ports { ssh, ..Ports::default() }))
}

/// Enters the network of the command. Gives where it finds the server.
#[cfg(target_os = "linux")]
fn enter_network(spec: &JobSpec, line: &UnixStream) -> Result<Ports, String> {
    let failed = |error: std::io::Error| format!("it can have no network of its own: {error}");
    if spec.access.is_own() {
        own::enter().map_err(failed)?;
    }
    let hand_out = |wanted: bool| wanted.then(|| own::hand_out(line)).transpose().map_err(failed);
    let services = &spec.services;
    // In the order in which the server takes them.
    let proxy = hand_out(spec.access == Access::Proxied)?;
    let docker = hand_out(services.docker)?;
    let made = hand_out(services.ssh.as_ref().is_some_and(|ssh| ssh.port.is_none()))?;
    let ssh = made.or(services.ssh.as_ref().and_then(|ssh| ssh.port));
    Ok(Ports { proxy, docker, ssh })
}

/// Runs the command to its end.
fn run(spec: &JobSpec, ports: Ports, reader: BufReader<UnixStream>) -> JobEnd {
    let began = match work_folder::enter(&spec.workspace, &spec.cwd) {
        Ok(began) => began,
        Err(why) => {
            return JobEnd {
                shell: ShellEnd::not_there(),
                ..JobEnd::of(JobReport::NotStarted(why))
            };
        }
    };
    let reaper = Reaper::new(reader);
    let mut shell = spec.begin.as_ref().and_then(|_| WatchedShell::prepare(&spec.shell));
    let leaf = spec.cgroup.as_ref().map(|ticket| leaf(ticket, &spec.limits));
    let (leaf, without_cgroup) = match leaf {
        Some(Ok(leaf)) => (Some(leaf), None),
        Some(Err(why)) => (None, Some(why)),
        None => (None, None),
    };
    let (how, met) = match start(spec, ports, leaf.as_ref(), shell.as_mut()) {
        Ok(shell) => {
            reaper.begin();
            let places = [spec.workspace.clone(), spec.scratch.clone()];
            let disk = Disk::new(places, spec.limits.command_disk_free_bytes_min);
            Watch { shell, limits: spec.limits, leaf: leaf.as_ref(), disk, reaper, met: None }.run()
        }
        Err(why) => (JobReport::NotStarted(why), None),
    };
    if let Some(leaf) = leaf {
        leaf.remove();
    }
    let by_itself = matches!(how, JobReport::Exited(_) | JobReport::Signaled(_));
    let shell = shell.filter(|_| by_itself);
    let shell = shell.map(|shell| shell.ended((&began, &spec.workspace), &spec.variables));
    let shell = shell.unwrap_or_default();
    JobEnd { met, without_cgroup, shell, ..JobEnd::of(how) }
}

/// The cgroup of the command, with this process in it, so that the shell begins there.
fn leaf(ticket: &Ticket, limits: &CommandLimits) -> Result<Leaf, String> {
    let leaf = Leaf::new(ticket, limits).map_err(|error| error.to_string())?;
    if let Err(error) = leaf.enter() {
        leaf.remove();
        return Err(error.to_string());
    }
    Ok(leaf)
}

/// Starts the shell in the inner layer of the box, and leaves its cgroup again. Gives its process
/// id.
fn start(
    spec: &JobSpec,
    ports: Ports,
    leaf: Option<&Leaf>,
    shell: Option<&mut WatchedShell>,
) -> Result<i32, String> {
    let started = spawn(spec, ports, leaf.is_some(), shell.is_some());
    let (pid, given) = match started {
        Ok((pid, given)) => (Ok(pid), given),
        Err(why) => (Err(why), InitialVariables::new()),
    };
    if let (Ok(pid), Some(shell)) = (&pid, shell) {
        shell.started(*pid, given);
    }
    if let Some(Err(error)) = leaf.map(Leaf::leave) {
        processes::kill(&own_descendants());
        return Err(format!("its supervisor could not leave the cgroup of the command: {error}"));
    }
    pid
}

#[expect(
    clippy::disallowed_methods,
    reason = "the bash server is one of the two that start processes"
)]
fn spawn(
    spec: &JobSpec,
    ports: Ports,
    in_cgroup: bool,
    is_watched: bool,
) -> Result<(i32, InitialVariables), String> {
    let mut command = Command::new(&spec.shell);
    // The environment is the one that the server gave us. `--` keeps a command that starts with a
    // dash a command.
    command.env("TMPDIR", &spec.scratch);
    command.envs(spec.begin.iter().filter(|_| is_watched).map(|begin| ("BASH_ENV", begin)));
    command.envs(ports.proxy.map(network::variables).into_iter().flatten());
    command.envs(services::variables(&spec.services, ports.docker, ports.ssh));
    command.envs(&spec.variables);
    let given = given(&command);
    command.args(["-c", "--", &spec.command]).stdin(Stdio::null()).process_group(0);
    // A layer of Landlock belongs to a thread and is inherited by what that thread starts; this
    // process itself has to stay outside of it, so that the job cannot touch it.
    let (limits, inner) = (spec.limits, confine::Inner::new(spec));
    let starter = thread::spawn(move || {
        confine::isolate_this_thread(&inner)?;
        limits.apply(in_cgroup);
        command.spawn().map_err(|error| format!("the shell could not be started: {error}"))
    });
    let child =
        starter.join().map_err(|_| "the thread that starts the shell ended early".to_owned())??;
    let pid = i32::try_from(child.id()).map_err(|error| error.to_string())?;
    Ok((pid, given))
}

/// The variables with which a program begins.
fn given(command: &Command) -> InitialVariables {
    let bytes = |text: &OsStr| text.as_encoded_bytes().to_vec();
    let mut given: InitialVariables =
        env::vars_os().map(|(name, value)| (bytes(&name), bytes(&value))).collect();
    let own = command.get_envs().filter_map(|(name, value)| Some((bytes(name), bytes(value?))));
    given.extend(own);
    given
}

/// A command that runs.
struct Watch<'a> {
    shell: i32,
    limits: CommandLimits,
    /// Where the kernel counts what the command takes.
    leaf: Option<&'a Leaf>,
    disk: Disk,
    reaper: Reaper,
    /// The first limit that it met.
    met: Option<Met>,
}

impl Watch<'_> {
    /// Waits until the shell and everything around it has ended, is to be killed, or takes more
    /// than it may.
    fn run(mut self) -> (JobReport, Option<Met>) {
        let mut how = None;
        let mut linger = None;
        let mut look = Instant::now() + LOOK_EVERY;
        loop {
            let until = linger.map_or(look, |at: Instant| at.min(look));
            match self.reaper.next(Some(until)) {
                Some(ReaperEvent::Ended(pid, exit)) if pid == self.shell => {
                    let report = JobReport::from(exit);
                    self.met = self.met.or_else(|| report.met());
                    how = Some(report);
                    linger = Some(Instant::now() + LINGER);
                }
                Some(ReaperEvent::Ended(..)) => {}
                Some(ReaperEvent::NoChildLeft) => break,
                Some(ReaperEvent::Cut) => {
                    self.takes_too_much();
                    return self.kill(JobReport::Killed);
                }
                None if linger.is_none_or(|at| Instant::now() < at) => {
                    let began = Instant::now();
                    if self.takes_too_much() {
                        return self.kill(JobReport::Killed);
                    }
                    look = Instant::now()
                        + (began.elapsed() * LOOK_SHARE).clamp(LOOK_EVERY, LOOK_EVERY_MAX);
                }
                None => return self.kill(how.unwrap_or(JobReport::Killed)),
            }
        }
        self.conclude(how.unwrap_or(JobReport::Killed))
    }

    /// Whether it has to be killed. Where the kernel refuses one more process, the command can go
    /// on without it.
    fn takes_too_much(&mut self) -> bool {
        let met = match self.leaf {
            Some(leaf) => leaf.met(),
            None => self.limits.look(&own_descendants()),
        };
        let met = met.or_else(|| self.disk.is_too_full().then_some(Met::DiskSpace));
        self.met = self.met.or(met);
        match met {
            // A fork bomb in a cgroup ends at once: what is refused there was the command's alone.
            Some(Met::Processes) => {
                self.leaf.is_some() || !CommandLimits::kernel_counts_processes()
            }
            Some(Met::Memory | Met::FileSize | Met::DiskSpace | Met::MachineMemory) => true,
            None => false,
        }
    }

    fn kill(self, how: JobReport) -> (JobReport, Option<Met>) {
        let killed = self.leaf.is_some_and(Leaf::kill);
        if !killed || !self.reaper.have_all_ended() {
            self.reaper.kill_all(self.shell);
        }
        self.conclude(how)
    }

    /// With what the kernel has counted. It ends all of a cgroup that has too much memory, so the
    /// shell, too, was ended by a signal.
    fn conclude(self, how: JobReport) -> (JobReport, Option<Met>) {
        let met = self.met.or_else(|| self.leaf.and_then(Leaf::met));
        let by_memory = matches!(met, Some(Met::Memory | Met::MachineMemory));
        let sigkill = Signal::KILL.as_raw();
        match how {
            JobReport::Signaled(signal) if by_memory && signal == sigkill => {
                (JobReport::Killed, met)
            }
            how => (how, met),
        }
    }
}

impl From<Exit> for JobReport {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Exited(code) => Self::Exited(code),
            Exit::Signaled(signal) => Self::Signaled(signal),
        }
    }
}
