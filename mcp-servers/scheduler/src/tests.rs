//! Tests on a clock that stands until it is moved. Owns that clock and a file to try things in.

mod asked_for;
mod clock_jumps;
mod days_of_change;
mod missed_month;
mod plans;
mod spoken;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;
use serde_json::Value;

use crate::args::{Args, Limits};
use crate::clock::Clock;
use crate::error::Result;
use crate::job::Job;
use crate::schedule::Schedule;
use crate::store::firings::{self, Firing};
use crate::tools::JobRequest;

/// A schedule whose clock is moved by hand.
struct Held {
    schedule: Schedule,
    clock: Arc<AtomicI64>,
    _folder: tempfile::TempDir,
}

impl Held {
    fn at(now: &str) -> Self {
        Self::with(now, Limits::default())
    }

    fn with(now: &str, limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = Some(folder.path().join("jobs.db"));
        let args = Args { database, zone: Some("UTC".into()), heartbeats: None, limits };
        let mut schedule = Schedule::open(&args).unwrap();
        let clock = Arc::new(AtomicI64::new(second(now)));
        schedule.clock = Clock::Held(Arc::clone(&clock));
        schedule.db.pragma_update(None, "synchronous", "off").unwrap();
        Self { schedule, clock, _folder: folder }
    }

    fn set(&self, now: i64) {
        self.clock.store(now, Ordering::SeqCst);
    }

    fn now(&self) -> i64 {
        self.schedule.now()
    }

    fn try_add(&mut self, fields: Value) -> Result<Job> {
        let asked: JobRequest = serde_json::from_value(fields).unwrap();
        let plan = asked.plan(&self.schedule)?;
        self.schedule.add(plan)
    }

    fn add(&mut self, fields: Value) -> Job {
        self.try_add(fields).unwrap()
    }

    /// What is due now.
    fn due(&mut self) -> Vec<Firing> {
        self.schedule.tick().unwrap();
        firings::due(&self.schedule.db, 0, 1_000_000).unwrap()
    }

    /// Takes everything that is due, and gives it.
    fn take_all(&mut self) -> Vec<Firing> {
        let due = self.due();
        for firing in &due {
            assert!(self.schedule.take(&firing.id).unwrap().1);
        }
        due
    }

    /// Lets time pass as a waker does, up to a time, and takes what comes: (when, planned, job).
    fn pass(&mut self, until: i64) -> Vec<(i64, i64, i64)> {
        let mut taken = Vec::new();
        loop {
            let now = self.now();
            taken.extend(self.take_all().iter().map(|one| (now, one.planned, one.job)));
            match self.schedule.tick().unwrap().next {
                Some(next) if next <= until => self.set(next.max(now)),
                _ => {
                    self.set(until);
                    return taken;
                }
            }
        }
    }
}

/// Seconds since 1970 of a time with its offset.
fn second(text: &str) -> i64 {
    text.parse::<Timestamp>().unwrap_or_else(|error| panic!("{text}: {error}")).as_second()
}
