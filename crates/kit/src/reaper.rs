//! What a supervisor is made of: a process that inherits whatever its child has started, sees how
//! each one ended, and kills until none is left. The hub has one for each stranger's server, the
//! bash server one for each command. Must not know what they start or why.
//!
//! Why a process of its own: a process group is left with one call of `setsid`, and nobody in the
//! starter's own process is there any more after its SIGKILL. As a subreaper the supervisor
//! inherits whatever left its parent, its group or its session.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process_group};

use crate::processes::{self, Process};

/// A killed process ends at once, unless the kernel itself hangs (a dead network mount).
const KILL_PATIENCE: Duration = Duration::from_secs(5);
const KILL_ROUND: Duration = Duration::from_millis(5);
/// Most leave nobody, and then the table of all processes need not be read.
const FIRST_ROUND: Duration = Duration::from_millis(1);

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Exited(i32),
    Signaled(i32),
}

/// What a supervisor hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReaperEvent {
    /// The line to the starter has ended: it said so, or is dead.
    Cut,
    /// A child ended: the one that was started, or one that was inherited.
    Ended(i32, Exit),
    NoChildLeft,
}

/// What came of killing everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Killed {
    /// How the group's leader ended, if it did so now.
    pub leader: Option<Exit>,
    /// No child is left.
    pub nothing_left: bool,
}

/// Makes this process one that inherits: a session of its own, which has no terminal and gets no
/// signal that a terminal sends to the starter's group, and on Linux a subreaper.
///
/// # Errors
/// The kernel knows no subreapers (before Linux 3.4).
pub fn become_reaper() -> io::Result<()> {
    // A process that leads its session already has what it needs.
    let _ = rustix::process::setsid();
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    Ok(())
}

/// Everything that this process has started or inherited, as the process table has it now.
pub fn own_descendants() -> Vec<Process> {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    processes::descendants(&processes::list(), own, &BTreeSet::new())
}

/// Two threads that hear what happens. They are there before the child is: afterwards it may have
/// taken all processes that there are.
pub struct Reaper {
    events: Receiver<ReaperEvent>,
    begin: Sender<()>,
}

impl Reaper {
    /// Hears the end of the line from now on, and the ends of children from [`Reaper::begin`] on.
    pub fn new(line: impl Read + Send + 'static) -> Self {
        let (sender, events) = channel();
        let (begin, begun) = channel();
        let reaping = sender.clone();
        thread::spawn(move || wait_for_the_end_of(line, &sender));
        thread::spawn(move || begun.recv().is_ok().then(|| reap(&reaping)));
        Self { events, begin }
    }

    /// There is a child. Before this whoever starts it may wait for it by itself.
    pub fn begin(&self) {
        // The thread ends with this value and not before.
        let _ = self.begin.send(());
    }

    /// What happens next; `None` when `until` has come. `None` for `until` is no limit.
    pub fn next(&self, until: Option<Instant>) -> Option<ReaperEvent> {
        let event = match until {
            None => self.events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(at) => self.events.recv_timeout(at.saturating_duration_since(Instant::now())),
        };
        match event {
            Ok(event) => Some(event),
            // Both threads have ended, and the one that waits for children ends behind the last.
            Err(RecvTimeoutError::Disconnected) => Some(ReaperEvent::NoChildLeft),
            Err(RecvTimeoutError::Timeout) => None,
        }
    }

    /// After everything was killed by other means: whether all have ended in time.
    pub fn have_all_ended(&self) -> bool {
        !self.is_one_left(Instant::now() + KILL_PATIENCE, 0, &mut None)
    }

    /// Kills until there is no child left, round by round: the group of `leader`, and whoever has
    /// left it.
    pub fn kill_all(&self, leader: i32) -> Killed {
        let until = Instant::now() + KILL_PATIENCE;
        let mut ended = None;
        let mut left = self.is_one_left(Instant::now() + FIRST_ROUND, leader, &mut ended);
        while left && Instant::now() < until {
            let table = own_descendants();
            // Without a process table the group is all that can be named.
            let lives = table.is_empty() || table.iter().any(|process| process.group == leader);
            if let Some(group) = Pid::from_raw(leader).filter(|_| lives) {
                for signal in [Signal::STOP, Signal::KILL] {
                    let _ = kill_process_group(group, signal);
                }
            }
            processes::kill(&table);
            left = self.is_one_left(Instant::now() + KILL_ROUND, leader, &mut ended);
        }
        Killed { leader: ended, nothing_left: !left }
    }

    /// Takes what happens until then.
    fn is_one_left(&self, until: Instant, leader: i32, ended: &mut Option<Exit>) -> bool {
        loop {
            match self.next(Some(until)) {
                Some(ReaperEvent::NoChildLeft) => return false,
                Some(ReaperEvent::Ended(pid, exit)) if pid == leader => *ended = Some(exit),
                Some(_) => {}
                None => return true,
            }
        }
    }
}

fn wait_for_the_end_of(mut line: impl Read, events: &Sender<ReaperEvent>) {
    let mut byte = [0];
    while matches!(line.read(&mut byte), Ok(1..)) {}
    let _ = events.send(ReaperEvent::Cut);
}

fn reap(events: &Sender<ReaperEvent>) {
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) => {
                let exit = match (status.exit_status(), status.terminating_signal()) {
                    (Some(code), _) => Exit::Exited(code),
                    (None, Some(signal)) => Exit::Signaled(signal),
                    (None, None) => continue,
                };
                if events.send(ReaperEvent::Ended(pid.as_raw_nonzero().get(), exit)).is_err() {
                    return;
                }
            }
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => {
                let _ = events.send(ReaperEvent::NoChildLeft);
                return;
            }
        }
    }
}
