//! The one writer thread of a process: it groups jobs into commits. Owns the write connection; must
//! not know what a job writes.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::StoreError;
use super::anchor::Anchor;
use super::changes::WakeUp;
use super::mark;
use super::queue::{Next, Queue, WriteUrgency};
use super::tx::Tx;
use claw_kit::killpoint;

/// A write-ahead log of at most this many frames (a page of 4 KiB each) is left to the next
/// process.
const LOG_FRAMES_KEPT: i64 = 128;
/// How long rows may go without a note outside of the store. Noting the audit's head costs a sync,
/// so it is not done for each.
const NOTED_AFTER: Duration = Duration::from_secs(60);

/// What a job gives back. Of which type that is knows its caller alone, so that everything else is
/// compiled once and not for each job.
pub(super) type Given = Box<dyn Any + Send>;
/// What a job does in the transaction.
pub(super) type Work = Box<dyn FnOnce(&Tx<'_>) -> Result<Given, StoreError> + Send>;
/// Hears of a job's end. It may have gone; the row is written all the same.
type Waits = oneshot::Sender<Result<Given, StoreError>>;

/// A job without the type of what it gives back.
pub(super) fn work<T: Send + 'static>(
    job: impl FnOnce(&Tx<'_>) -> Result<T, StoreError> + Send + 'static,
) -> Work {
    Box::new(move |tx| Ok(Box::new(job(tx)?)))
}

/// What came of a job that gives this back.
pub(super) fn taken<T: 'static>(
    end: Result<Result<Given, StoreError>, oneshot::error::RecvError>,
) -> Result<T, StoreError> {
    let given = end.map_err(|_| StoreError::Closed)??;
    // It is of the type that [`work`] was given.
    given.downcast().map(|given| *given).map_err(|_| StoreError::Closed)
}

struct Job {
    work: Work,
    /// `None`: nobody waits, and an error is logged.
    waits: Option<Waits>,
}

impl Job {
    fn tell(waits: Option<Waits>, end: Result<Given, StoreError>) {
        let _gone = waits.map(|waits| waits.send(end));
    }

    /// It was not done.
    fn refuse(self, why: &StoreError, failed: &mut LastFailure) {
        Self::tell(self.waits, Err(explained(why.again(), failed)));
    }
}

/// A job that was done, once it is committed.
struct Done {
    waits: Option<Waits>,
    given: Given,
}

/// What the commits of this process have cost so far.
#[derive(Debug, Default)]
struct Spent {
    /// Both only grow.
    commits: AtomicU64,
    micros: AtomicU64,
}

/// Why something was not written the last time, if that was so: what a later job misses was lost
/// with it.
type LastFailure = Option<StoreError>;

/// Belongs to the store, and goes with its last clone. The first two are shared with the thread.
pub(super) struct Writer {
    /// Closed when this is dropped; what is in it is committed first.
    queue: Arc<Queue<Job>>,
    spent: Arc<Spent>,
    /// Has the writing connection, and is joined when this is dropped; `None` only then.
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(
        conn: Connection,
        anchor: Option<Arc<Anchor>>,
        wake_up: Arc<WakeUp>,
    ) -> Result<Self, StoreError> {
        let queue = Arc::new(Queue::new());
        let spent = Arc::<Spent>::default();
        let (jobs, counted) = (queue.clone(), spent.clone());
        let thread = std::thread::Builder::new()
            .name("claw-store".into())
            .stack_size(512 * 1024)
            .spawn(move || run(&conn, anchor.as_deref(), &jobs, &counted, &wake_up))
            .map_err(|error| StoreError::Commit(error.to_string()))?;
        Ok(Self { queue, spent, thread: Some(thread) })
    }

    /// How many commits there were, and the microseconds from taking up a batch to having it on the
    /// disk, in all.
    pub(super) fn spent(&self) -> (u64, u64) {
        (self.spent.commits.load(Ordering::Relaxed), self.spent.micros.load(Ordering::Relaxed))
    }

    /// Hands a job over in the order of the calls. The receiver resolves after the commit.
    pub(super) fn submit(
        &self,
        urgency: WriteUrgency,
        work: Work,
    ) -> oneshot::Receiver<Result<Given, StoreError>> {
        let (waits, receiver) = oneshot::channel();
        self.queue.push(urgency, Job { work, waits: Some(waits) });
        receiver
    }

    /// The same for a job that nobody waits for.
    pub(super) fn submit_soon(&self, work: Work) {
        self.queue.push(WriteUrgency::Soon, Job { work, waits: None });
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Closing the queue lets the thread commit what is left; joining makes "soon" a promise
        // also at the end.
        self.queue.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Events that are missing were lost by this process itself, if something that it wrote has failed.
fn explained(error: StoreError, failed: &mut LastFailure) -> StoreError {
    match &error {
        StoreError::Gap { event, last, .. } if *event > last + 1 => {
            failed.as_ref().map_or(error, StoreError::again)
        }
        StoreError::DiskFull | StoreError::ReadOnly | StoreError::Sqlite(_) => {
            *failed = Some(error.again());
            error
        }
        _ => error,
    }
}

fn run(
    conn: &Connection,
    anchor: Option<&Anchor>,
    queue: &Queue<Job>,
    spent: &Spent,
    wake_up: &WakeUp,
) {
    // Whoever still waits for a thread that has panicked reads `Closed`, and so does everybody
    // after.
    let _close = queue.close_on_drop();
    let mut failed: LastFailure = None;
    let mut synced = true;
    let mut note_at: Option<Instant> = None;
    loop {
        if note_at.is_some_and(|at| at <= Instant::now()) {
            note_outside(conn, anchor);
            note_at = None;
        }
        let (urgency, batch) = match queue.next_batch(note_at) {
            Next::Batch(urgency, batch) => (urgency, batch),
            Next::TimeIsUp => continue,
            Next::Closed => break,
        };
        let relaxed = urgency == WriteUrgency::Relaxed;
        if synced == relaxed {
            let level = if relaxed { "NORMAL" } else { "FULL" };
            if let Err(error) = conn.pragma_update(None, "synchronous", level) {
                tracing::error!(%error, "the store could not change its sync level");
            } else {
                synced = !relaxed;
            }
        }
        let began = Instant::now();
        commit(&Tx::sealing(conn, anchor), batch, &mut failed);
        wake_up.signal();
        spent.commits.fetch_add(1, Ordering::Relaxed);
        spent.micros.fetch_add(began.elapsed().as_micros() as u64, Ordering::Relaxed);
        // What a relaxed batch has written is not on the disk yet, and counts nothing.
        if !relaxed {
            note_at.get_or_insert_with(|| Instant::now() + NOTED_AFTER);
        }
    }
    if note_at.is_some() {
        note_outside(conn, anchor);
    }
    if let Err(error) = shorten_log(conn) {
        tracing::warn!(%error, "the store's write-ahead log could not be shortened");
    }
}

/// Moves a long write-ahead log into the database at the end of a process. The first process that
/// opens the store after all others have ended reads the whole log again, also what was moved; only
/// a log that was cut is short. A short log stays, because moving it costs two syncs.
fn shorten_log(conn: &Connection) -> rusqlite::Result<()> {
    let frames: i64 = conn.query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| row.get(1))?;
    if frames > LOG_FRAMES_KEPT {
        // Nobody is waited for: while another process reads, the log stays as it is, and that
        // process cuts it later.
        conn.busy_timeout(Duration::ZERO)?;
        conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    }
    Ok(())
}

/// Everything is committed when this runs. What cannot be noted now is noted by the next one, or
/// missed by those who check.
fn note_outside(conn: &Connection, anchor: Option<&Anchor>) {
    if let Err(error) = mark::note(conn) {
        tracing::debug!(%error, "how far the store has come could not be noted beside it");
    }
    if !anchor.is_some_and(Anchor::owes) {
        return;
    }
    if let Err(error) = Tx::sealing(conn, anchor).note_audit_head() {
        tracing::warn!(%error, "the newest row of the audit could not be noted outside of the \
            store");
    }
}

fn commit(tx: &Tx<'_>, batch: Vec<Job>, failed: &mut LastFailure) {
    let mut done: Vec<Done> = Vec::with_capacity(batch.len());
    killpoint::here("store.commit.before");
    let result = commit_jobs(tx, batch, &mut done, failed);
    killpoint::here("store.commit.after");
    if let Err(error) = &result {
        tracing::error!(%error, "a commit failed; whoever waits for it is told");
        *failed = Some(error.again());
    }
    for Done { waits, given } in done {
        Job::tell(waits, result.as_ref().map(|()| given).map_err(StoreError::again));
    }
}

fn commit_jobs(
    tx: &Tx<'_>,
    batch: Vec<Job>,
    done: &mut Vec<Done>,
    failed: &mut LastFailure,
) -> Result<(), StoreError> {
    let conn = tx.conn;
    if let Err(error) = run_statement(conn, "BEGIN IMMEDIATE") {
        batch.into_iter().for_each(|job| job.refuse(&error, failed));
        return Err(error);
    }
    let jobs = in_savepoints(tx, batch, done, failed);
    let committed = jobs.and_then(|()| run_statement(conn, "COMMIT"));
    if committed.is_err() && !conn.is_autocommit() {
        run_statement(conn, "ROLLBACK")?;
    }
    committed
}

fn in_savepoints(
    tx: &Tx<'_>,
    batch: Vec<Job>,
    done: &mut Vec<Done>,
    failed: &mut LastFailure,
) -> Result<(), StoreError> {
    let conn = tx.conn;
    let mut batch = batch.into_iter();
    while let Some(Job { work, waits }) = batch.next() {
        run_statement(conn, "SAVEPOINT job")?;
        let error = match work(tx) {
            Ok(given) => {
                run_statement(conn, "RELEASE job")?;
                done.push(Done { waits, given });
                continue;
            }
            Err(error) => error,
        };
        if waits.is_none() {
            tracing::error!(%error, "a queued write failed");
        }
        // This one job is rolled back; its siblings stay. Some faults (a full disk) make SQLite
        // roll back the whole transaction by itself: what follows must not be committed piece by
        // piece, behind what was lost.
        let rolled_back = conn.is_autocommit();
        let undone = if rolled_back { Ok(()) } else { undo_job(conn) };
        let error = explained(error, failed);
        let why = error.again();
        Job::tell(waits, Err(error));
        undone?;
        if rolled_back {
            batch.for_each(|job| job.refuse(&why, failed));
            return Err(why);
        }
    }
    Ok(())
}

fn undo_job(conn: &Connection) -> Result<(), StoreError> {
    run_statement(conn, "ROLLBACK TO job")?;
    run_statement(conn, "RELEASE job")
}

/// Prepared once and kept: these run several times a commit, and parsing them again is a tenth of
/// its time.
fn run_statement(conn: &Connection, sql: &str) -> Result<(), StoreError> {
    conn.prepare_cached(sql)?.execute([])?;
    Ok(())
}
