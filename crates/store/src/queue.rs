//! What waits to be committed: the order of the jobs, and how soon each must be on the disk. Must
//! not know what a job is.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a job that nobody waits for may be held back, to be committed together with the next
/// one.
const LINGER: Duration = Duration::from_millis(20);

/// The most jobs in one commit. More would only make the first one wait.
const JOBS_PER_COMMIT_MAX: usize = 256;

/// How soon a job must be on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteUrgency {
    /// Somebody waits: commit at once, synced.
    Now,
    /// Committed with the next job, or after `LINGER`; synced.
    Soon,
    /// Like `Now`, but a power loss may undo it (never a kill). For rows that may be done twice.
    Relaxed,
}

/// What the taker does next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next<W> {
    Batch(WriteUrgency, Vec<W>),
    /// No job came before the moment that the taker has named.
    TimeIsUp,
    /// No more jobs come, and none is left.
    Closed,
}

/// A queue with one taker. A patient job does not wake it, unless it is the first: every wake costs
/// more than a small job. Shared by the writer and its thread; it goes with the later of both.
pub(super) struct Queue<W> {
    /// Never held while a job runs.
    state: Mutex<State<W>>,
    /// Wakes the taker.
    arrived: Condvar,
}

struct State<W> {
    /// In the order in which they came. Each goes when the taker has it.
    jobs: VecDeque<(WriteUrgency, W)>,
    /// How many of them somebody waits for.
    urgent: usize,
    /// Set once, at the end of the writer.
    closed: bool,
}

impl<W> Queue<W> {
    pub(super) fn new() -> Self {
        let state = State { jobs: VecDeque::new(), urgent: 0, closed: false };
        Self { state: Mutex::new(state), arrived: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a job behind all others. A closed queue drops it, and with it whatever would tell of
    /// its end.
    pub(super) fn push(&self, urgency: WriteUrgency, work: W) {
        let mut state = self.state();
        if state.closed {
            return;
        }
        state.jobs.push_back((urgency, work));
        let urgent = urgency != WriteUrgency::Soon;
        state.urgent += usize::from(urgent);
        let wake = urgent || state.jobs.len() == 1;
        drop(state);
        if wake {
            self.arrived.notify_one();
        }
    }

    /// No more jobs come in; those that are there are still handed out.
    pub(super) fn close(&self) {
        self.state().closed = true;
        self.arrived.notify_one();
    }

    /// Closes the queue, and drops what is left in it, when the guard is dropped.
    pub(super) fn close_on_drop(&self) -> impl Drop + '_ {
        struct Closing<'q, W>(&'q Queue<W>);
        impl<W> Drop for Closing<'_, W> {
            fn drop(&mut self) {
                let mut state = self.0.state();
                state.closed = true;
                let left = std::mem::take(&mut state.jobs);
                drop(state);
                drop(left);
            }
        }
        Closing(self)
    }

    /// Waits for a job, until `until` at the longest; when only patient ones are there, lingers a
    /// little for company. A batch is relaxed only if all of it is.
    pub(super) fn next_batch(&self, until: Option<Instant>) -> Next<W> {
        let empty = |state: &mut State<W>| state.jobs.is_empty() && !state.closed;
        let mut state = match until {
            None => {
                self.arrived.wait_while(self.state(), empty).unwrap_or_else(PoisonError::into_inner)
            }
            Some(until) => {
                let left = until.saturating_duration_since(Instant::now());
                let waited = self.arrived.wait_timeout_while(self.state(), left, empty);
                let (state, waited) = waited.unwrap_or_else(PoisonError::into_inner);
                if waited.timed_out() {
                    return Next::TimeIsUp;
                }
                state
            }
        };
        let deadline = Instant::now() + LINGER;
        while state.urgent == 0 && !state.closed && state.jobs.len() < JOBS_PER_COMMIT_MAX {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state =
                self.arrived.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        let many = state.jobs.len().min(JOBS_PER_COMMIT_MAX);
        let batch: Vec<(WriteUrgency, W)> = state.jobs.drain(..many).collect();
        state.urgent -= batch.iter().filter(|(urgency, _)| *urgency != WriteUrgency::Soon).count();
        drop(state);
        let relaxed = batch.iter().all(|(urgency, _)| *urgency == WriteUrgency::Relaxed);
        let urgency = if relaxed { WriteUrgency::Relaxed } else { WriteUrgency::Now };
        if batch.is_empty() {
            return Next::Closed;
        }
        Next::Batch(urgency, batch.into_iter().map(|(_, work)| work).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length<W>(next: Next<W>) -> usize {
        if let Next::Batch(_, batch) = next { batch.len() } else { 0 }
    }

    #[test]
    fn the_taker_is_woken_at_the_moment_that_it_has_named_and_no_job_is_lost() {
        let queue = Queue::new();
        assert_eq!(queue.next_batch(Some(Instant::now())), Next::TimeIsUp);
        queue.push(WriteUrgency::Now, 1);
        assert_eq!(queue.next_batch(Some(Instant::now())), Next::Batch(WriteUrgency::Now, vec![1]));
        queue.close();
        assert_eq!(queue.next_batch(Some(Instant::now())), Next::Closed);
    }

    #[test]
    fn jobs_come_out_in_order_and_what_is_left_at_the_close_too() {
        let queue = Queue::new();
        queue.push(WriteUrgency::Soon, 1);
        queue.push(WriteUrgency::Soon, 2);
        queue.push(WriteUrgency::Now, 3);
        assert_eq!(queue.next_batch(None), Next::Batch(WriteUrgency::Now, vec![1, 2, 3]));
        queue.push(WriteUrgency::Soon, 4);
        queue.close();
        queue.push(WriteUrgency::Now, 5);
        assert_eq!(queue.next_batch(None), Next::Batch(WriteUrgency::Now, vec![4]));
        assert_eq!(queue.next_batch(None), Next::Closed);
    }

    #[test]
    fn only_a_batch_that_is_relaxed_as_a_whole_is_relaxed() {
        let queue = Queue::new();
        queue.push(WriteUrgency::Relaxed, 1);
        assert_eq!(queue.next_batch(None), Next::Batch(WriteUrgency::Relaxed, vec![1]));
        queue.push(WriteUrgency::Soon, 2);
        queue.push(WriteUrgency::Relaxed, 3);
        assert_eq!(queue.next_batch(None), Next::Batch(WriteUrgency::Now, vec![2, 3]));
    }

    #[test]
    fn a_patient_job_is_handed_out_without_company() {
        let queue = Queue::new();
        queue.push(WriteUrgency::Soon, 1);
        assert_eq!(queue.next_batch(None), Next::Batch(WriteUrgency::Now, vec![1]));
    }

    #[test]
    fn no_batch_is_larger_than_the_limit() {
        let queue = Queue::new();
        (0..JOBS_PER_COMMIT_MAX + 1).for_each(|job| queue.push(WriteUrgency::Now, job));
        assert_eq!(length(queue.next_batch(None)), JOBS_PER_COMMIT_MAX);
        assert_eq!(length(queue.next_batch(None)), 1);
    }
}
