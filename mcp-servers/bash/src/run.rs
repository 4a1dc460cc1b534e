//! One job as the server sees it: start its supervisor, read its output, watch time and
//! cancellation, collect the end. Must not know MCP, or what kills what (that is the supervisor's).

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::baseline::{Baseline, SharedBaseline};
use crate::cgroup::Folder;
use crate::confine::{Boundary, Enforcement};
use crate::drive::{Cut, Job};
use crate::environment::Environment;
use crate::error::StartError;
use crate::home::{CommandHome, InUse};
#[cfg(target_os = "linux")]
use crate::launcher::Launcher;
use crate::level::{Level, Scope};
use crate::limits::CommandLimits;
use crate::network::{Access, HostAccount, HostRule, Proxy};
use crate::obeyed::ObeyedEnd;
use crate::openings::{self, Openings};
use crate::scratch::{self, JobScratch};
use crate::services::{Service, Services};
use crate::shell_end::ShellEnd;
use crate::supervisors::Supervisors;
use crate::tool::Ending;
use crate::wire::{CommandAccess, JobEnd, JobReport, JobSpec};

/// A supervisor that was told to kill gives up after five seconds; then we kill it and what it
/// leaves to us.
const END_PATIENCE: Duration = Duration::from_secs(6);
/// Where there is one box for all commands of a server.
const NOT_OPENED: &str = "This system gives commands no namespaces of their own, so what is open for a time is not open to this one.";

/// Starts jobs. Lives as long as the server; what is found out before its start never changes.
pub struct Runner {
    workspace: PathBuf,
    /// The variables of every command.
    environment: Environment,
    /// The folders that every command gets.
    given: CommandAccess,
    /// Its folder outlives the server; a look at its size may outlive a call.
    home: Arc<CommandHome>,
    /// Ends with the runner, and each use of one with its command.
    services: Services,
    /// What a shell reads first, where one can be watched.
    begin: Option<PathBuf>,
    /// For the TMPDIRs of commands that only look.
    read_scratch: PathBuf,
    /// This program.
    program: PathBuf,
    /// Our own arguments and `--supervise`, so that it works under every name that this library is
    /// started by.
    arguments: Vec<std::ffi::OsString>,
    limits: CommandLimits,
    /// Where commands get cgroups of their own. Lives as long as the server.
    cgroups: Option<Folder>,
    /// What the box holds, as it was closed.
    enforcement: Enforcement,
    /// For commands with namespaces of their own.
    apart: Option<Apart>,
    /// Of those that a command names, the ones that may lie in private networks.
    private_hosts: Vec<HostRule>,
    /// For the names of TMPDIRs.
    commands: AtomicU64,
    /// Whether it was said that some of what others obey is not held.
    not_held: AtomicBool,
    /// What others obey, as it was before those commands that run now.
    baseline: SharedBaseline,
    /// One for each job that runs.
    supervisors: Supervisors,
}

/// What every command finds: variables, HOME, programs.
pub struct Machine {
    pub environment: Environment,
    pub given: CommandAccess,
    pub home: CommandHome,
    pub services: Services,
    pub begin: Option<PathBuf>,
    /// Where each command that only looks has a TMPDIR of its own. No other command writes there.
    pub read_scratch: PathBuf,
}

/// How commands get namespaces of their own, and the box that is closed in there.
pub struct Apart {
    #[cfg(target_os = "linux")]
    pub launcher: Launcher,
    pub boundary: Boundary,
}

/// The request for one job, already checked.
pub struct RunRequest {
    pub command: String,
    pub cwd: PathBuf,
    /// `None`: as long as it likes.
    pub timeout: Option<Duration>,
    pub scope: Scope,
    /// On top of those that every command has.
    pub variables: BTreeMap<String, String>,
}

/// Where the output of a job goes, as it comes.
pub trait Sink: Send {
    fn take(&mut self, chunk: &[u8]);
    /// One sentence about the command that is not its output.
    fn note(&mut self, sentence: String);
    /// What became of the hosts, where the command has named some or used ssh. Said
    /// once, at the end.
    fn account(&mut self, hosts: Vec<HostAccount>);
    /// How the command has left its shell, if somebody wants to know. Said once, at the end.
    fn shell_ended(&mut self, _end: ShellEnd) {}
    /// What the command has left of what others obey on sight, if somebody wants to know. Said
    /// once, at the end.
    fn obeyed_ended(&mut self, _end: ObeyedEnd) {}
}

impl Runner {
    pub fn new(
        workspace: PathBuf,
        machine: Machine,
        limits: CommandLimits,
        cgroups: Option<Folder>,
        enforcement: Enforcement,
        apart: Option<Apart>,
    ) -> Result<Self, StartError> {
        // The link in /proc still leads to this program after its file was replaced by an update.
        #[cfg(target_os = "linux")]
        let program = PathBuf::from("/proc/self/exe");
        #[cfg(not(target_os = "linux"))]
        let program = std::env::current_exe().map_err(StartError::OwnProgram)?;
        // What a killed supervisor leaves comes to us.
        #[cfg(target_os = "linux")]
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
            .map_err(|error| StartError::OwnProgram(error.into()))?;
        let mut arguments: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
        arguments.push("--supervise".into());
        Ok(Self {
            workspace,
            environment: machine.environment,
            given: machine.given,
            home: Arc::new(machine.home),
            services: machine.services,
            begin: machine.begin,
            read_scratch: machine.read_scratch,
            program,
            arguments,
            limits,
            cgroups,
            enforcement,
            apart,
            private_hosts: Vec::new(),
            commands: AtomicU64::new(0),
            not_held: AtomicBool::new(false),
            baseline: SharedBaseline::default(),
            supervisors: Supervisors::default(),
        })
    }

    pub fn services(&self) -> &Services {
        &self.services
    }

    /// Commands may also name these hosts, wherever their addresses lie.
    pub fn reaching(self, private_hosts: Vec<HostRule>) -> Self {
        Self { private_hosts, ..self }
    }

    /// Runs one job to its end, whatever it is. When this returns, nothing of the job is alive.
    /// Dropping the future closes the lifeline, which kills the job as well.
    pub async fn run(
        &self,
        request: RunRequest,
        stop: &CancellationToken,
        sink: &mut dyn Sink,
    ) -> Ending {
        let Scope { level, hosts, keeps_obeyed, opens, folders, said } = request.scope;
        said.into_iter().for_each(|sentence| sink.note(sentence));
        let (given, own_namespaces, opened_now) = self.given_to(folders, level, sink);
        // Docker is on the loopback of a network of the command's own.
        let is_kept =
            !hosts.is_empty() || opens.iter().any(|opened| opened.service == Service::Docker);
        let access = Access::of(level, is_kept, self.enforcement);
        let proxy =
            (access == Access::Proxied).then(|| Proxy::new(hosts, self.private_hosts.clone()));
        let served = self.services.serve(&opens, proxy.as_ref(), self.enforcement).await;
        let served = match served {
            Ok(served) => served,
            Err(why) => return Ending::NotStarted(why),
        };
        let scratch = match self.scratch(level) {
            Ok(scratch) => scratch,
            Err(error) => return Ending::NotStarted(format!("it can have no TMPDIR: {error}")),
        };
        let mut job = match self.spawn().await {
            Ok(job) => job,
            Err(error) => {
                return Ending::NotStarted(format!("the supervisor could not be started: {error}"));
            }
        };
        let pid = job.child.id().and_then(|id| i32::try_from(id).ok());
        self.supervisors.extend(pid);
        let deadline = request.timeout.map(|timeout| Instant::now() + timeout);
        let (home_open, in_use) = self.home_for(level, keeps_obeyed, sink).await;
        let sets_aside = keeps_obeyed && deadline.is_some() && own_namespaces.is_some();
        // Held until the supervisor has compared.
        let baseline = self.baseline.join(&self.workspace, sets_aside).await;
        let spec = JobSpec {
            shell: self.environment.shell.clone(),
            command: request.command,
            variables: request.variables,
            workspace: self.workspace.clone(),
            cwd: request.cwd,
            scratch: scratch.path.clone(),
            own_namespaces,
            given,
            opened_now,
            level,
            keeps_obeyed,
            home_open,
            access,
            own_process_table: self.enforcement.namespaces,
            mounts_must_hold: !self.enforcement.landlock_keeps_files(),
            only_tmp_can_change: false,
            sets_aside,
            baseline: Baseline::clone(&baseline),
            // The shell of a background job is nobody's to go on with.
            begin: self.begin.clone().filter(|_| deadline.is_some()),
            limits: self.limits,
            cgroup: self.cgroups.as_ref().map(Folder::ticket),
            services: served.spec.clone(),
        };
        let cut = job.drive(&spec, (proxy.as_ref(), &served), deadline, stop, sink).await;
        let ending = self.conclude(job, cut, &spec, sink).await;
        self.keep_home_small(in_use, sink).await;
        let proxied = proxy.map(|proxy| (proxy.sentences(), proxy.accounts()));
        if let Some((sentences, accounts)) = proxied.or_else(|| served.reached()) {
            sentences.into_iter().for_each(|sentence| sink.note(sentence));
            sink.account(accounts);
        }
        self.supervisors.remove(pid);
        let timeout_s = request.timeout.unwrap_or_default().as_secs();
        match ending {
            Ending::TimedOut { .. } => Ending::TimedOut { timeout_s },
            other => other,
        }
    }

    /// What a command may change of HOME, and for one that may what keeps HOME from being emptied.
    async fn home_for(
        &self,
        level: Level,
        keeps_obeyed: bool,
        sink: &mut dyn Sink,
    ) -> (Vec<PathBuf>, Option<InUse>) {
        self.home.is_filled().await;
        if level == Level::Read {
            return (Vec::new(), None);
        }
        let in_use = self.home.in_use();
        let (open, told) = self.home.open_to(keeps_obeyed);
        told.into_iter().for_each(|sentence| sink.note(sentence));
        (open, Some(in_use))
    }

    /// What one command gets of the machine, the box that its supervisor closes, and the folders
    /// that it may change and its server may not.
    fn given_to(
        &self,
        folders: Openings,
        level: Level,
        sink: &mut dyn Sink,
    ) -> (CommandAccess, Option<Boundary>, Vec<PathBuf>) {
        let folders = self.opened_now(folders, sink);
        let opened = self.given.opened.and(&folders);
        let gone = opened.gone();
        gone.iter().for_each(|folder| sink.note(openings::is_gone(folder)));
        let boundary = self.apart.as_ref().map(|apart| apart.boundary.clone());
        // One that only looks has nothing to do in the TMPDIR of the others.
        let mut left_out = gone.clone();
        left_out.extend((level == Level::Read).then(|| self.environment.scratch.clone()));
        let boundary = boundary.map(|boundary| boundary.and(&folders, level).without(&left_out));
        let given = CommandAccess { opened: opened.without(&gone), ..self.given.clone() };
        (given, boundary, folders.without(&gone).write)
    }

    /// Of what is open to this command alone, what it can have: a box that is closed around the
    /// server opens no more.
    fn opened_now(&self, folders: Openings, sink: &mut dyn Sink) -> Openings {
        if folders.is_empty() || self.apart.is_some() {
            self.home.link(&folders);
            return folders;
        }
        sink.note(NOT_OPENED.to_owned());
        Openings::default()
    }

    /// After a command that could fill it.
    async fn keep_home_small(&self, in_use: Option<InUse>, sink: &mut dyn Sink) {
        let Some(in_use) = in_use else { return };
        drop(in_use);
        let home = self.home.clone();
        let told = tokio::task::spawn_blocking(move || home.keep_to_limit()).await;
        if let Ok(Some(sentence)) = told {
            sink.note(sentence);
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the bash server is one of the two that start processes"
    )]
    async fn spawn(&self) -> std::io::Result<Job> {
        let (ours, theirs) = StdUnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let (reader, writer) = std::io::pipe()?;
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .env_clear()
            .envs(self.environment.variables.iter().cloned())
            .current_dir(&self.workspace)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::from(writer.try_clone()?))
            .stderr(Stdio::from(writer));
        // The command goes with it: our copies of the job's ends of the pipes would keep them open
        // forever.
        let child = self.start(command).await?;
        let (report, lifeline) = UnixStream::from_std(ours)?.into_split();
        let output = pipe::Receiver::from_owned_fd(reader.into())?;
        Ok(Job { child, report: BufReader::new(report), lifeline: Some(lifeline), output })
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the bash server is one of the two that start processes"
    )]
    #[cfg(target_os = "linux")]
    async fn start(&self, mut command: Command) -> std::io::Result<Child> {
        match &self.apart {
            Some(apart) => apart.launcher.spawn(command).await,
            None => command.spawn(),
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the bash server is one of the two that start processes"
    )]
    #[cfg(not(target_os = "linux"))]
    async fn start(&self, mut command: Command) -> std::io::Result<Child> {
        command.spawn()
    }

    /// The TMPDIR of a command: that of all commands, or for one that only looks an empty one of
    /// its own.
    fn scratch(&self, level: Level) -> std::io::Result<JobScratch> {
        if level > Level::Read {
            return Ok(JobScratch { path: self.environment.scratch.clone(), is_own: false });
        }
        // Not in that of the others: they could put a link into its place before it is used.
        let number = self.commands.fetch_add(1, Ordering::Relaxed);
        let path = self.read_scratch.join(number.to_string());
        scratch::make_private(&path)?;
        Ok(JobScratch { path, is_own: true })
    }

    /// After the output has ended or the job was cut off: the report, and the end of the
    /// supervisor.
    async fn conclude(
        &self,
        mut job: Job,
        cut: Option<Cut>,
        spec: &JobSpec,
        sink: &mut dyn Sink,
    ) -> Ending {
        let until = Instant::now() + END_PATIENCE;
        let mut line = String::new();
        if cut.is_some() {
            job.lifeline = None;
        }
        let _ = tokio::time::timeout_at(until, job.report.read_line(&mut line)).await;
        let end = JobEnd::heard(&line);
        if end.is_none() {
            if let (Some(cgroups), Some(ticket)) = (&self.cgroups, &spec.cgroup) {
                cgroups.end(ticket);
            }
            self.supervisors.kill_strays().await;
        }
        job.read_output_until(until, sink).await;
        if !matches!(tokio::time::timeout_at(until, job.child.wait()).await, Ok(Ok(_))) {
            let _ = job.child.kill().await;
            self.supervisors.kill_strays().await;
        }
        if let Some(end) = &end {
            let killed = end.how == JobReport::Killed && cut.is_none();
            let met = end.met.map(|met| self.limits.sentence(met, killed));
            let without = end.without_cgroup.as_ref().map(|why| {
                format!(
                    "It ran without a cgroup of its own ({why}); its processes had limits each."
                )
            });
            let aside = end.obeyed.set_aside.clone();
            sink.obeyed_ended(end.obeyed.clone());
            // It is so for every command here; once is enough.
            let not_held =
                end.not_held.clone().filter(|_| !self.not_held.swap(true, Ordering::Relaxed));
            let notes = met.into_iter().chain(without).chain(aside).chain(not_held);
            notes.for_each(|sentence| sink.note(sentence));
        }
        if let (Some(end), None) = (&end, cut) {
            sink.shell_ended(end.shell.clone());
        }
        match (cut, end.map(|end| end.how)) {
            (Some(Cut::TimeIsUp), _) => Ending::TimedOut { timeout_s: 0 },
            (Some(Cut::Stopped), _) => Ending::Cancelled,
            (None, Some(JobReport::Exited(code))) => Ending::Exited(code),
            (None, Some(JobReport::Signaled(signal))) => Ending::Signaled(signal),
            (None, Some(JobReport::NotStarted(why))) => Ending::NotStarted(why),
            (None, Some(JobReport::Killed)) => Ending::OverLimit,
            (None, None) => Ending::Lost(
                "the supervisor of the command was killed, and the command with it".into(),
            ),
        }
    }

    /// Removes the cgroups that are left, with all that is in them.
    pub fn clear(&self) {
        if let Some(cgroups) = &self.cgroups {
            cgroups.clear();
        }
    }
}
