//! The jobs with their clock: what a call works on. Owns how jobs are made, changed and ended, each
//! in one transaction; must not know tools or the protocol.

use std::path::PathBuf;

use claw_kit::counted::{counted, counted_with};
use claw_kit::killpoint;
use rusqlite::{Connection, TransactionBehavior};

use crate::args::{Args, Limits};
use crate::caller::Caller;
use crate::clock::Clock;
use crate::error::{Result, ToolError};
use crate::job::{Job, Plan, What, id_of};
use crate::store::firings::{self, Firing, State};
use crate::store::history::{self, Event, Row};
use crate::store::{self, FileError, jobs};
use crate::zone::Zone;

/// The environment variable that names the file when `--database` does not.
const DATABASE_VARIABLE: &str = "CLAW_SCHEDULE";

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("which jobs? Name their file with --database FILE or {DATABASE_VARIABLE}.")]
    NoFile,
    #[error("the file of the jobs `{}` cannot be used: {source}", path.display())]
    File { path: PathBuf, source: FileError },
    #[error("--zone: {0}")]
    Zone(ToolError),
}

/// The jobs and their file. Lives as long as the server, whose calls and waker take turns with it.
pub struct Schedule {
    /// Closed at the end.
    pub db: Connection,
    /// Where that is. It and the next three are as they were at the start.
    pub path: PathBuf,
    pub clock: Clock,
    /// Of jobs that name none.
    pub zone: Zone,
    pub limits: Limits,
    /// Who asks now, as far as the host has said it.
    pub caller: Option<Caller>,
}

impl Schedule {
    /// # Errors
    /// The file cannot be used, or there is no such zone.
    pub fn open(args: &Args) -> Result<Self, OpenError> {
        let from_environment = || {
            std::env::var_os(DATABASE_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from)
        };
        let path = args.database.clone().or_else(from_environment).ok_or(OpenError::NoFile)?;
        let zone = match &args.zone {
            Some(name) => Zone::named(name).map_err(OpenError::Zone)?,
            None => Zone::system(),
        };
        let db =
            store::open(&path).map_err(|source| OpenError::File { path: path.clone(), source })?;
        // With the name that a watch of its folder will tell.
        let path = path.canonicalize().unwrap_or(path);
        Ok(Self { db, path, clock: Clock::System, zone, limits: args.limits, caller: None })
    }

    pub fn now(&self) -> i64 {
        self.clock.now()
    }

    /// Makes a job.
    ///
    /// # Errors
    /// There are too many, or the file fails.
    pub fn add(&mut self, plan: Plan) -> Result<Job> {
        let limits = self.limits;
        self.in_transaction(|db, now| {
            if jobs::count(db)? >= limits.jobs_max {
                return Err(ToolError::refused(format!(
                    "there {} {}, and more are not allowed (--jobs-max). Cancel one that is not needed any more.",
                    if limits.jobs_max == 1 { "is" } else { "are" },
                    counted(limits.jobs_max, "job")
                )));
            }
            let planned = plan.next(now, 1)?.first().copied();
            let job = Job { number: 0, revision: 1, is_paused: false, plan, planned, last_planned: None };
            let job = Job { number: jobs::insert(db, &job)?, ..job };
            jobs::update(db, &job)?;
            history::write(db, &Row::of(&job, Event::Scheduled, now), &limits)?;
            Ok(job)
        })
    }

    /// Puts another plan in place of the one at a revision.
    ///
    /// # Errors
    /// The job is gone or at another revision, or the plan has no firing ahead.
    pub fn change(&mut self, number: i64, revision: i64, plan: Plan) -> Result<Job> {
        self.edit(number, Event::Changed, |job, now| {
            if job.revision != revision {
                return Err(ToolError::OldRevision {
                    id: job.id(),
                    is: job.revision,
                    asked: revision,
                });
            }
            job.plan = plan;
            job.revision += 1;
            job.planned = if job.is_paused { None } else { Some(ahead(job, now)?) };
            Ok(())
        })
    }

    /// Stops a job until it is resumed. Firings that are due stay so.
    pub fn pause(&mut self, number: i64) -> Result<Job> {
        self.edit(number, Event::Paused, |job, _| {
            job.is_paused = true;
            job.planned = None;
            Ok(())
        })
    }

    /// Lets a paused job go on from now. What would have come meanwhile is not made up.
    ///
    /// # Errors
    /// It has no firing ahead any more.
    pub fn resume(&mut self, number: i64) -> Result<Job> {
        self.edit(number, Event::Resumed, |job, now| {
            if job.is_paused {
                job.is_paused = false;
                job.planned = Some(ahead(job, now)?);
            }
            Ok(())
        })
    }

    /// Ends a job, and takes back its firings that are due: also of a job that has ended with its
    /// last time, while that waits to be taken.
    ///
    /// # Errors
    /// There is no such job, and nothing of it is due.
    pub fn cancel(&mut self, number: i64) -> Result<(What, u64)> {
        let limits = self.limits;
        self.in_transaction(|db, now| {
            let due = firings::of_job(db, number)?;
            let what = match (jobs::find(db, number), due.first()) {
                (Ok(job), _) => {
                    jobs::delete(db, number)?;
                    history::write(db, &Row::of(&job, Event::Cancelled, now), &limits)?;
                    job.plan.what
                }
                (Err(ToolError::NoJob { .. }), Some(firing)) => firing.what.clone(),
                (Err(error), _) => return Err(error),
            };
            for firing in &due {
                firings::settle(db, &firing.id, State::Withdrawn, now)?;
                history::write(db, &about(firing, Event::Withdrawn, now), &limits)?;
            }
            Ok((what, due.len() as u64))
        })
    }

    /// Makes a firing due now, beside those of the job's own times: it changes nothing of them.
    /// Also of a job that is paused.
    ///
    /// # Errors
    /// There is no such job, or too much is due.
    pub fn run(&mut self, number: i64) -> Result<(Job, Firing)> {
        let limits = self.limits;
        self.in_transaction(|db, now| {
            let job = jobs::find(db, number)?;
            if firings::count_due(db)? >= limits.due_max {
                return Err(ToolError::refused(format!(
                    "{} to be taken, and more are not allowed (--due-max). Start the host that takes them.",
                    counted_with(limits.due_max, "firing", "waits", "wait")
                )));
            }
            let firing = Firing {
                seq: 0,
                // Nobody else writes meanwhile, so the next number is this firing's alone.
                id: format!("{}.{}-run{}", job.id(), job.revision, firings::cursor(db)? + 1),
                job: job.number,
                revision: job.revision,
                planned: now,
                since: now,
                not_after: None,
                zone: job.plan.zone.clone(),
                what: job.plan.what.clone(),
                state: State::Due,
                settled: None,
            };
            firings::insert(db, &firing)?;
            history::write(db, &about(&firing, Event::Run, now), &limits)?;
            Ok((job, firing))
        })
    }

    /// Takes a firing: true for exactly one of all that try, also across processes.
    ///
    /// # Errors
    /// There is no such firing.
    pub fn take(&mut self, id: &str) -> Result<(Firing, bool)> {
        let limits = self.limits;
        let taken = self.in_transaction(|db, now| {
            let is_mine = firings::settle(db, id, State::Taken, now)?;
            let firing = firings::find(db, id)?;
            killpoint::here("schedule-taking");
            if is_mine {
                history::write(db, &about(&firing, Event::Taken, now), &limits)?;
            }
            Ok((firing, is_mine))
        })?;
        killpoint::here("schedule-taken");
        Ok(taken)
    }

    fn edit(
        &mut self,
        number: i64,
        event: Event,
        edit: impl FnOnce(&mut Job, i64) -> Result<()>,
    ) -> Result<Job> {
        let limits = self.limits;
        self.in_transaction(|db, now| {
            let before = jobs::find(db, number)?;
            let mut job = before.clone();
            edit(&mut job, now)?;
            if job != before {
                jobs::update(db, &job)?;
                history::write(db, &Row::of(&job, event, now), &limits)?;
            }
            Ok(job)
        })
    }

    /// Does something while no other process writes; it is on the disk when this returns.
    ///
    /// # Errors
    /// What `work` gives, and the file's own. Then nothing was changed.
    pub fn in_transaction<T>(
        &mut self,
        work: impl FnOnce(&Connection, i64) -> Result<T>,
    ) -> Result<T> {
        let now = self.clock.now();
        let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = work(&tx, now)?;
        killpoint::here("schedule-changing");
        tx.commit()?;
        killpoint::here("schedule-changed");
        Ok(done)
    }
}

/// The next firing of a job that was changed. Behind what it has fired already: the clock may have
/// been set back.
fn ahead(job: &Job, now: i64) -> Result<i64> {
    let from = job.last_planned.unwrap_or(now).max(now);
    job.plan.next(from, 1)?.first().copied().ok_or_else(|| {
        ToolError::refused(format!(
            "job {} would have no firing ahead. Give another time, or cancel it.",
            id_of(job.number)
        ))
    })
}

/// What became of a firing.
pub fn about(firing: &Firing, event: Event, at: i64) -> Row {
    Row {
        seq: 0,
        at,
        job: firing.job,
        revision: firing.revision,
        event,
        firing: Some(firing.id.clone()),
        planned: Some(firing.planned),
        count: 1,
        line: Some(firing.what.line()),
    }
}
