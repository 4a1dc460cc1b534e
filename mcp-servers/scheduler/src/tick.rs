//! Time passes: what has come becomes due, each firing once. Owns the one transaction in which that
//! happens, whoever looks first; must not know who is told.

use std::collections::VecDeque;

use claw_kit::killpoint;
use rusqlite::{Connection, TransactionBehavior};

use crate::args::Limits;
use crate::error::{Result, ToolError};
use crate::job::Job;
use crate::missed::{Come, judge};
use crate::schedule::{Schedule, about};
use crate::store::firings::{self, Firing, State};
use crate::store::history::{self, Event, Row};
use crate::store::jobs;
use crate::when::{Rule, Times};

/// Jobs of one transaction: another process never waits long for it.
const BATCH_JOBS: usize = 500;

/// Missed firings of a pattern are counted one by one. More than this back they are not: two years
/// of every minute.
const COUNTED_S_MAX: i64 = 2 * 366 * 86_400;

/// What the next look has to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outlook {
    /// The newest firing there is.
    pub cursor: i64,
    /// When something comes next, in seconds since 1970. `None`: only a call changes anything.
    pub next: Option<i64>,
}

impl Schedule {
    /// Makes due what has come by now. Costs two reads where nothing has.
    ///
    /// # Errors
    /// The file fails; then nothing was changed by the last batch, and the next look does it.
    pub fn tick(&mut self) -> Result<Outlook> {
        loop {
            let now = self.now();
            let next = self.next()?;
            if next.is_none_or(|next| next > now) {
                return Ok(Outlook { cursor: firings::cursor(&self.db)?, next });
            }
            let limits = self.limits;
            self.in_transaction(|db, now| {
                for firing in firings::expired(db, now)? {
                    firings::settle(db, &firing.id, State::Expired, now)?;
                    history::write(db, &about(&firing, Event::Expired, now), &limits)?;
                }
                for job in jobs::come(db, now, BATCH_JOBS)? {
                    if firings::count_due(db)? >= limits.due_max {
                        break;
                    }
                    match fire(db, &job, now, &limits) {
                        // A zone that the system knows no more must not hold up the other jobs.
                        Err(ToolError::Refused(why)) => set_aside(db, job, now, why, &limits)?,
                        done => done?,
                    }
                }
                killpoint::here("schedule-firing");
                Ok(())
            })?;
            killpoint::here("schedule-fired");
        }
    }

    /// The same for whoever was woken by a change of the file: that is told while its writer is
    /// still about to commit, so the commit is waited for.
    ///
    /// # Errors
    /// As above, and when another process writes for too long.
    pub fn tick_behind_others(&mut self) -> Result<Outlook> {
        // Whoever gets the lock of writers sees what all before it have written.
        // Nothing is changed.
        self.db.transaction_with_behavior(TransactionBehavior::Immediate)?.rollback()?;
        self.tick()
    }

    /// When something comes next. While there is no room for more that is due, jobs wait.
    fn next(&self) -> Result<Option<i64>> {
        // One second later: `not_after` is the last at which it may be taken.
        let expiry = firings::next_expiry(&self.db)?.map(|last| last + 1);
        if firings::count_due(&self.db)? >= self.limits.due_max {
            return Ok(expiry);
        }
        let job = jobs::next_due_at(&self.db)?;
        Ok([job, expiry].into_iter().flatten().min())
    }
}

/// Makes due what has come of one job, and moves it on.
fn fire(db: &Connection, job: &Job, now: i64, limits: &Limits) -> Result<()> {
    let Some(planned) = job.planned else { return Ok(()) };
    let zone = job.plan.zone()?;
    let times = Times::new(&job.plan.rule, &zone, job.plan.until)?;
    let kept = usize::try_from(limits.made_up_max).unwrap_or(usize::MAX).max(1);
    let come = come(&job.plan.rule, &times, planned, now - job.jitter_s(), kept);
    // A row that was written by hand may name a time that the rule does not have.
    let Some(newest) = come.newest.last().copied() else {
        return move_on(db, job, &times, now, now, limits);
    };
    let late_s_max = i64::try_from(limits.late_s_max).unwrap_or(i64::MAX);
    let judged = judge(
        &job.plan,
        &come,
        now - job.jitter_s(),
        late_s_max,
        firings::has_due(db, job.number)?,
    );
    for planned in judged.due {
        let firing = firing(job, planned, now, late_s_max);
        let is_new = firings::insert(db, &firing)?;
        killpoint::here("schedule-firing-one");
        if is_new {
            history::write(db, &about(&firing, Event::Due, now), limits)?;
        }
    }
    for (event, count) in [(Event::Missed, judged.missed), (Event::Overlapped, judged.overlapped)] {
        if count > 0 {
            let row = Row { count, planned: Some(newest), ..Row::of(job, event, now) };
            history::write(db, &row, limits)?;
        }
    }
    move_on(db, job, &times, newest, now, limits)
}

/// To the next firing behind the newest, or to the end.
fn move_on(
    db: &Connection,
    job: &Job,
    times: &Times<'_>,
    newest: i64,
    now: i64,
    limits: &Limits,
) -> Result<()> {
    if let Some(next) = times.next_after(newest) {
        return jobs::advance(db, job, next, newest);
    }
    jobs::delete(db, job.number)?;
    history::write(db, &Row::of(job, Event::Ended, now), limits)
}

/// Pauses a job that cannot go on, and says why in the history.
fn set_aside(db: &Connection, mut job: Job, now: i64, why: String, limits: &Limits) -> Result<()> {
    job.is_paused = true;
    job.planned = None;
    jobs::update(db, &job)?;
    let row = Row { line: Some(why), ..Row::of(&job, Event::Paused, now) };
    history::write(db, &row, limits)
}

/// The firings from `planned` up to now; never empty where `planned` has come.
fn come(rule: &Rule, times: &Times<'_>, planned: i64, now: i64, kept: usize) -> Come {
    let mut newest = VecDeque::new();
    let mut count = 0;
    // Intervals are counted by arithmetic.
    let mut from = planned;
    if let Rule::Every { seconds, .. } = rule {
        let steps = (now - planned).div_euclid(*seconds) - kept as i64;
        count = steps.max(0).unsigned_abs();
        from += seconds * steps.max(0);
    }
    from = from.max(now - COUNTED_S_MAX);
    for at in times.after(from - 1).take_while(|at| *at <= now) {
        count += 1;
        newest.push_back(at);
        if newest.len() > kept {
            newest.pop_front();
        }
    }
    Come { newest: newest.into(), count }
}

fn firing(job: &Job, planned: i64, now: i64, late_s_max: i64) -> Firing {
    // By the job's own bound, which is never shorter than what counts as in time.
    let not_after =
        job.plan.not_later_than_s.map(|most| planned + job.jitter_s() + most.max(late_s_max));
    Firing {
        seq: 0,
        // Whoever makes this firing again makes the same one.
        id: format!("{}.{}-{planned}", job.id(), job.revision),
        job: job.number,
        revision: job.revision,
        planned,
        since: now,
        not_after,
        zone: job.plan.zone.clone(),
        what: job.plan.what.clone(),
        state: State::Due,
        settled: None,
    }
}
