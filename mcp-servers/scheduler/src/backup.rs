//! A copy of the jobs, and what a copy needs before it goes on in another place: there, what
//! would act and has come since may have been done by the jobs that it is a copy of. Must not
//! know where a copy lies.

use std::path::Path;

use rusqlite::Connection;

use crate::error::{Result, ToolError};
use crate::job::{Job, What};
use crate::schedule::{Schedule, about};
use crate::store::firings::{self, State};
use crate::store::history::{self, Event, Row};
use crate::store::jobs;

/// More rows than a file holds.
const ALL: usize = i64::MAX as usize;

impl Schedule {
    /// Copies the jobs as they are at one moment, into a file that is not there or empty. Servers
    /// may write meanwhile.
    ///
    /// # Errors
    /// The file cannot be read whole, or the copy cannot be written.
    pub fn copy_into(&self, to: &Path) -> Result<()> {
        let to = to.to_str().ok_or_else(|| ToolError::refused("the copy's path is not UTF-8"))?;
        self.db.execute("VACUUM INTO ?1", [to])?;
        Ok(())
    }

    /// Holds back what would act and was due in the meantime: such jobs are paused, their firings
    /// withdrawn. Words stay due; to hear them twice is better than never. Gives back each job that
    /// is held, as one line.
    ///
    /// # Errors
    /// The file fails; then nothing was changed.
    pub fn hold_back(&mut self) -> Result<Vec<String>> {
        let limits = self.limits;
        self.in_transaction(|db, now| {
            let mut held: Vec<(i64, String)> = Vec::new();
            for firing in firings::due(db, 0, ALL)?.into_iter().filter(|it| acts(&it.what)) {
                firings::settle(db, &firing.id, State::Withdrawn, now)?;
                history::write(db, &about(&firing, Event::Withdrawn, now), &limits)?;
                held.push((firing.job, firing.what.line()));
            }
            for mut job in acting_since(db, now)? {
                job.is_paused = true;
                job.planned = None;
                jobs::update(db, &job)?;
                history::write(db, &Row::of(&job, Event::Paused, now), &limits)?;
                held.push((job.number, job.plan.what.line()));
            }
            held.sort();
            held.dedup_by_key(|(number, _)| *number);
            Ok(held.into_iter().map(|(number, line)| format!("job {number} ({line})")).collect())
        })
    }
}

/// Words are said as they are; everything else is done by an agent.
fn acts(what: &What) -> bool {
    what.text.is_some()
}

/// Jobs that act and whose time has come.
fn acting_since(db: &Connection, now: i64) -> Result<Vec<Job>> {
    let come = jobs::come(db, now, ALL)?;
    Ok(come.into_iter().filter(|job| acts(&job.plan.what)).collect())
}
