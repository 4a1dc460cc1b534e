//! Jobs in the background: which there are, what they have written since somebody last looked, how
//! they ended. They live until they end, are stopped, or the server ends. Must not know MCP, or how
//! a job is run.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use claw_kit::counted::counted_with;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::args::Limits;
use crate::capture::whole_characters;
use crate::kept::{self, KeptOutput, Shelf};
use crate::level::Scope;
use crate::network::HostAccount;
use crate::run::{RunRequest, Runner, Sink};
use crate::tool::Ending;

/// So many jobs that have ended are remembered.
const ENDED_MAX: usize = 32;

/// All jobs of one server, the oldest first. Lives as long as the server.
pub struct Background {
    /// The same from the start to the end.
    limits: Limits,
    /// The server's own, for the files of what they write.
    shelf: Arc<Shelf>,
    /// Never held across an await.
    jobs: Mutex<Jobs>,
    /// How many of them run.
    running: watch::Sender<usize>,
}

#[derive(Default)]
struct Jobs {
    /// The number of the newest. It is never given twice.
    last: u32,
    /// Those that run, and the newest [`ENDED_MAX`] that have ended.
    by_number: BTreeMap<u32, Arc<Job>>,
}

/// One job. Held by [`Jobs`] until newer ones take its place, and by what runs it or looks at it.
pub struct Job {
    /// These three are the same until it goes.
    pub number: u32,
    pub command: String,
    started: Instant,
    /// Cancelled to end it: by `stop`, or with the server.
    stop: CancellationToken,
    /// Grows while it runs. Never held across an await.
    output: Mutex<Output>,
    /// How it ended, and after what time; sent once. The number grows with the output.
    news: watch::Sender<(u64, Option<(Ending, Duration)>)>,
    /// Of all jobs, this one among them until it has ended.
    running: watch::Sender<usize>,
}

/// What a job has written. Goes with the job; the file stays.
struct Output {
    /// The newest of it that nobody has looked at.
    unseen: VecDeque<u8>,
    unseen_max: usize,
    /// All bytes, and those that were looked at or left out.
    total: u64,
    gone: u64,
    /// All bytes at the last look, also one that was not given because it begins a character.
    looked: u64,
    /// All of it, as far as there is room.
    file: KeptOutput,
    /// Of the command, and not its output. They stay, and each look gives all of them.
    notes: Vec<String>,
    /// Known at the end.
    network: Option<Vec<HostAccount>>,
}

/// How a job is doing.
#[derive(Debug)]
pub struct Look {
    pub number: u32,
    pub command: String,
    pub ran: Duration,
    pub ending: Option<Ending>,
    /// The output since the last look, without what was too much.
    pub new: String,
    /// Bytes since the last look that are only in the file.
    pub left_out: u64,
    pub bytes: u64,
    pub file: Option<String>,
    pub notes: Vec<String>,
    pub network: Option<Vec<HostAccount>>,
}

impl Background {
    pub fn new(limits: Limits, shelf: Arc<Shelf>) -> Self {
        Self { limits, shelf, jobs: Mutex::default(), running: watch::Sender::new(0) }
    }

    /// How many jobs run, now and whenever that changes.
    pub fn running(&self) -> watch::Receiver<usize> {
        self.running.subscribe()
    }

    /// Takes on a job; [`Job::run`] has to be called. `Err` when there are too many.
    pub fn add(&self, command: &str, stop: CancellationToken) -> Result<Arc<Job>, String> {
        let mut jobs = lock(&self.jobs);
        let running = jobs.by_number.values().filter(|job| job.ending().is_none()).count();
        if running >= self.limits.background_max {
            let jobs = counted_with(running, "job", "is", "are");
            let stop = if running == 1 { "stop it" } else { "stop one" };
            return Err(format!("{jobs} running already; {stop} first. Nothing was run."));
        }
        while jobs.by_number.len() - running >= ENDED_MAX {
            let Some(oldest) =
                jobs.by_number.values().find(|job| job.ending().is_some()).map(|job| job.number)
            else {
                break;
            };
            jobs.by_number.remove(&oldest);
        }
        jobs.last += 1;
        let mut file = KeptOutput::new(self.shelf.clone(), kept::JOB, self.limits.file_bytes_max);
        file.open();
        let output = Output {
            unseen: VecDeque::new(),
            unseen_max: self.limits.output_bytes_max / 2,
            total: 0,
            gone: 0,
            looked: 0,
            file,
            notes: Vec::new(),
            network: None,
        };
        let job = Arc::new(Job {
            number: jobs.last,
            command: command.to_owned(),
            started: Instant::now(),
            stop,
            output: Mutex::new(output),
            news: watch::Sender::new((0, None)),
            running: self.running.clone(),
        });
        jobs.by_number.insert(job.number, job.clone());
        self.running.send_modify(|running| *running += 1);
        Ok(job)
    }

    pub fn job(&self, number: u32) -> Option<Arc<Job>> {
        lock(&self.jobs).by_number.get(&number).cloned()
    }

    pub fn all(&self) -> Vec<Arc<Job>> {
        lock(&self.jobs).by_number.values().cloned().collect()
    }
}

impl Job {
    /// Runs it to its end.
    pub async fn run(
        self: Arc<Self>,
        runner: &Runner,
        cwd: PathBuf,
        scope: Scope,
        variables: BTreeMap<String, String>,
    ) {
        let command = self.command.clone();
        let request = RunRequest { command, cwd, timeout: None, scope, variables };
        let mut sink = Into(&self);
        let ending = runner.run(request, &self.stop, &mut sink).await;
        let ran = self.started.elapsed();
        self.news.send_modify(|news| news.1 = Some((ending, ran)));
        self.running.send_modify(|running| *running = running.saturating_sub(1));
    }

    fn ending(&self) -> Option<Ending> {
        self.news.borrow().1.as_ref().map(|(ending, _)| ending.clone())
    }

    /// Waits for something new to look at, or for the end, but no longer than `longest`.
    pub async fn wait(&self, longest: Duration) {
        let until = Instant::now() + longest;
        let seen = lock(&self.output).looked;
        let mut news = self.news.subscribe();
        let _ =
            timeout_at(until, news.wait_for(|(total, end)| *total > seen || end.is_some())).await;
    }

    /// Does not wait until it has ended.
    pub fn begin_to_end(&self) {
        self.stop.cancel();
    }

    /// Ends it, with everything that it started. Returns when it has ended.
    pub async fn end(&self) {
        self.stop.cancel();
        let _ = self.news.subscribe().wait_for(|(_, end)| end.is_some()).await;
    }

    /// How it is doing, and with `take` what is new, which then is new no more.
    pub fn look(&self, take: bool) -> Look {
        let end = self.news.borrow().1.clone();
        let (ending, ran) = match end {
            Some((ending, ran)) => (Some(ending), ran),
            None => (None, self.started.elapsed()),
        };
        let mut output = lock(&self.output);
        let (new, left_out) = if take { output.take(ending.is_some()) } else { (String::new(), 0) };
        let mut notes = output.notes.clone();
        let file = output.file.path(&mut notes);
        let (number, command, bytes) = (self.number, self.command.clone(), output.total);
        let network = output.network.clone();
        Look { number, command, ran, ending, new, left_out, bytes, file, notes, network }
    }
}

struct Into<'a>(&'a Job);

impl Sink for Into<'_> {
    fn account(&mut self, hosts: Vec<HostAccount>) {
        lock(&self.0.output).network = Some(hosts);
    }

    fn note(&mut self, sentence: String) {
        lock(&self.0.output).notes.push(sentence);
    }

    fn take(&mut self, chunk: &[u8]) {
        let mut output = lock(&self.0.output);
        output.push(chunk);
        let total = output.total;
        drop(output);
        self.0.news.send_modify(|news| news.0 = total);
    }
}

impl Output {
    fn push(&mut self, chunk: &[u8]) {
        self.file.write(chunk);
        self.total += chunk.len() as u64;
        self.unseen.extend(chunk);
        let surplus = self.unseen.len().saturating_sub(self.unseen_max);
        self.unseen.drain(..surplus);
    }

    /// What is new, as text, and how many bytes before it were left out. The beginning of a
    /// character whose rest is still to come stays, unless nothing comes any more.
    fn take(&mut self, ended: bool) -> (String, u64) {
        let left_out = self.total - self.gone - self.unseen.len() as u64;
        let bytes = self.unseen.make_contiguous();
        let end = if ended { bytes.len() } else { whole_characters(bytes) };
        let text = String::from_utf8_lossy(&bytes[..end]).into_owned();
        self.unseen.drain(..end);
        self.gone = self.total - self.unseen.len() as u64;
        self.looked = self.total;
        (text, left_out)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_looked_at_is_not_new_and_too_much_is_left_out() {
        let mut output = Output {
            unseen: VecDeque::new(),
            unseen_max: 8,
            total: 0,
            gone: 0,
            looked: 0,
            file: KeptOutput::new(Arc::new(Shelf::new(PathBuf::new(), 0)), kept::JOB, 0),
            notes: Vec::new(),
            network: None,
        };
        output.push("ab€".as_bytes());
        assert_eq!(output.take(false), ("ab€".to_owned(), 0));
        assert_eq!(output.take(false), (String::new(), 0));
        output.push(b"0123456789");
        assert_eq!(output.take(false), ("23456789".to_owned(), 2));
        output.push(&"€".as_bytes()[..2]);
        assert_eq!(output.take(false), (String::new(), 0), "the rest may come");
        output.push(&"€".as_bytes()[2..]);
        assert_eq!(output.take(false), ("€".to_owned(), 0));
    }
}
