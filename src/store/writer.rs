//! The one writer thread of a process: it groups jobs into commits. Owns the write connection; must not know what a job
//! writes.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::{Connection, Savepoint, TransactionBehavior};
use tokio::sync::oneshot;

use super::StoreError;
use super::tx::Tx;
use crate::killpoint;

/// How long a job that nobody waits for may be held back, to be committed together with the next one.
const LINGER: Duration = Duration::from_millis(20);

/// The most jobs in one commit. More would only make the first one wait.
const JOBS_PER_COMMIT_MAX: usize = 256;

/// How soon a job must be on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Urgency {
    /// Somebody waits: commit at once, synced.
    Now,
    /// Committed with the next job, or after `LINGER`; synced.
    Soon,
    /// Like `Now`, but a power loss may undo it (never a kill). For rows that may be done twice.
    Relaxed,
}

type Finish = Box<dyn FnOnce(Result<(), StoreError>) + Send>;
type Work = Box<dyn FnOnce(&Tx<'_>) -> Result<Finish, Finish> + Send>;

struct Job {
    urgency: Urgency,
    work: Work,
}

pub(super) struct Writer {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(conn: Connection) -> Result<Self, StoreError> {
        let (jobs, queue) = channel();
        let thread = std::thread::Builder::new()
            .name("claw-store".into())
            .stack_size(512 * 1024)
            .spawn(move || run(conn, &queue))
            .map_err(|error| StoreError::Commit(error.to_string()))?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread) })
    }

    /// Hands a job over in the order of the calls. The receiver resolves after the commit.
    pub(super) fn submit<T: Send + 'static>(
        &self,
        urgency: Urgency,
        job: impl FnOnce(&Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> oneshot::Receiver<Result<T, StoreError>> {
        let (done, receiver) = oneshot::channel();
        let work: Work = Box::new(move |tx| match job(tx) {
            Ok(value) => Ok(Box::new(move |committed: Result<(), StoreError>| {
                // The one who asked may have gone; the row is written all the same.
                let _ = done.send(committed.map(|()| value));
            })),
            Err(error) => Err(Box::new(move |_| {
                let _ = done.send(Err(error));
            })),
        });
        if let Some(jobs) = &self.jobs {
            // A writer that is gone drops the job, and with it `done`: the receiver then reads `Closed`.
            let _ = jobs.send(Job { urgency, work });
        }
        receiver
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Closing the queue lets the thread commit what is left; joining makes "soon" a promise also at the end.
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(mut conn: Connection, queue: &Receiver<Job>) {
    let mut synced = true;
    while let Some(batch) = next_batch(queue) {
        let relaxed = batch.iter().all(|job| job.urgency == Urgency::Relaxed);
        if synced == relaxed {
            let level = if relaxed { "NORMAL" } else { "FULL" };
            if let Err(error) = conn.pragma_update(None, "synchronous", level) {
                tracing::error!(%error, "the store could not change its sync level");
            } else {
                synced = !relaxed;
            }
        }
        commit(&mut conn, batch);
    }
}

/// Waits for a job; when only patient ones are there, lingers a little for company.
fn next_batch(queue: &Receiver<Job>) -> Option<Vec<Job>> {
    let mut batch = vec![queue.recv().ok()?];
    let deadline = Instant::now() + LINGER;
    while batch.len() < JOBS_PER_COMMIT_MAX {
        let patient = batch.iter().all(|job| job.urgency == Urgency::Soon);
        let next = if patient {
            queue.recv_timeout(deadline.saturating_duration_since(Instant::now()))
        } else {
            queue.try_recv().map_err(|_| RecvTimeoutError::Timeout)
        };
        match next {
            Ok(job) => batch.push(job),
            Err(_) => break,
        }
    }
    Some(batch)
}

fn commit(conn: &mut Connection, batch: Vec<Job>) {
    let mut finishes: Vec<Finish> = Vec::with_capacity(batch.len());
    killpoint::here("store.commit.before");
    let result = commit_jobs(conn, batch, &mut finishes);
    killpoint::here("store.commit.after");
    let text = result.err().map(|error| error.to_string());
    if let Some(error) = &text {
        tracing::error!(%error, "a commit failed; whoever waits for it is told");
    }
    for finish in finishes {
        finish(match &text {
            None => Ok(()),
            Some(text) => Err(StoreError::Commit(text.clone())),
        });
    }
}

fn commit_jobs(conn: &mut Connection, batch: Vec<Job>, finishes: &mut Vec<Finish>) -> Result<(), StoreError> {
    let mut tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for job in batch {
        let savepoint: Savepoint<'_> = tx.savepoint()?;
        match (job.work)(&Tx::new(&savepoint)) {
            Ok(finish) => {
                savepoint.commit()?;
                finishes.push(finish);
            }
            // Dropping the savepoint rolls this one job back; its siblings stay.
            Err(report) => {
                drop(savepoint);
                report(Ok(()));
                // Some faults (a full disk) make SQLite roll back the whole transaction by itself. What follows must not
                // be committed piece by piece, behind what was lost.
                if tx.is_autocommit() {
                    return Err(StoreError::Commit("the transaction was rolled back".to_owned()));
                }
            }
        }
    }
    tx.commit()?;
    Ok(())
}
