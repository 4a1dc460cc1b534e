//! Jobs and firings as every answer shows them, always with the next firings. Owns the sentences;
//! must not know what a tool does.

use rusqlite::Connection;
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::Result;
use crate::job::{IfMissed, Job, Overlap, What, id_of};
use crate::schedule::Schedule;
use crate::store::firings::Firing;
use crate::store::jobs;
use crate::when::Rule;
use crate::zone::{Moment, Zone};

/// Firings that every answer repeats.
const NEXT: usize = 3;

/// A job.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub struct JobShown {
    pub id: String,
    /// Counts up with each change; `change` takes it.
    pub revision: i64,
    pub is_paused: bool,
    /// Whether it fires more than once.
    pub repeats: bool,
    /// When it fires, in words.
    pub when: String,
    /// The pattern, where it goes by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cron: Option<String>,
    pub zone: String,
    #[serde(flatten)]
    pub what: What,
    pub if_missed: IfMissed,
    /// A missed firing is not made up when it is later than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_later_than_minutes: Option<i64>,
    pub overlap: Overlap,
    /// How far it may be moved away from others that start together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter_s: Option<i64>,
    /// No firing behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Moment>,
    /// The next three firings. None while it is paused.
    pub next: Vec<Moment>,
}

impl JobShown {
    pub fn new(job: &Job) -> Result<Self> {
        let zone = Zone::shown(&job.plan.zone);
        let next = job.next_due(NEXT)?.into_iter().map(|at| zone.moment(at)).collect();
        Ok(Self {
            id: job.id(),
            revision: job.revision,
            is_paused: job.is_paused,
            repeats: !matches!(job.plan.rule, Rule::Once { .. }),
            when: job.plan.rule.line(&zone),
            cron: match &job.plan.rule {
                Rule::Cron { pattern } => Some(pattern.clone()),
                Rule::Once { .. } | Rule::Every { .. } => None,
            },
            zone: job.plan.zone.clone(),
            what: job.plan.what.clone(),
            if_missed: job.plan.if_missed,
            not_later_than_minutes: job.plan.not_later_than_s.map(|seconds| seconds / 60),
            overlap: job.plan.overlap,
            jitter_s: Some(job.plan.jitter_s).filter(|seconds| *seconds > 0),
            until: job.plan.until.map(|at| zone.moment(at)),
            next,
        })
    }

    /// What it is, and when it comes.
    pub fn lines(&self) -> String {
        let paused = if self.is_paused { ", paused" } else { "" };
        let mut text = format!(
            "[{}] {} ({}, revision {}{paused})\n",
            self.id,
            self.what.line(),
            self.when,
            self.revision
        );
        text.push_str(&next_lines(&self.next));
        text
    }
}

/// The next firings as lines.
pub fn next_lines(next: &[Moment]) -> String {
    match next {
        [] => "  Next: nothing.".to_owned(),
        some => format!("  Next: {}", some.iter().map(Moment::line).collect::<Vec<_>>().join("; ")),
    }
}

/// A firing that is due or was.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub struct FiringShown {
    /// For `take`.
    pub firing: String,
    pub job: String,
    /// The revision of the job that it came from.
    pub revision: i64,
    /// When the job fires, in words, as long as it is there at this revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// When it was to be.
    pub planned: Moment,
    /// When it became due.
    pub since: Moment,
    /// The last second at which it can be taken, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_after: Option<Moment>,
    #[serde(flatten)]
    pub what: What,
}

impl FiringShown {
    pub fn new(firing: &Firing) -> Self {
        let zone = Zone::shown(&firing.zone);
        Self {
            firing: firing.id.clone(),
            job: id_of(firing.job),
            revision: firing.revision,
            when: None,
            planned: zone.moment(firing.planned),
            since: zone.moment(firing.since),
            not_after: firing.not_after.map(|at| zone.moment(at)),
            what: firing.what.clone(),
        }
    }

    /// The same with what there is still to say of its job.
    pub fn of_job(db: &Connection, firing: &Firing) -> Self {
        let job = jobs::find(db, firing.job).ok().filter(|job| job.revision == firing.revision);
        let when = job.map(|job| job.plan.rule.line(&Zone::shown(&job.plan.zone)));
        Self { when, ..Self::new(firing) }
    }

    pub fn line(&self) -> String {
        format!("[{}] {}, planned {}", self.firing, self.what.line(), self.planned.line())
    }
}

/// A job with its next firing, in answers that are not about one job.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Coming {
    pub job: String,
    #[serde(flatten)]
    pub at: Moment,
}

/// The next three firings of all jobs.
pub fn coming(schedule: &Schedule) -> Result<Vec<Coming>> {
    let mut all = Vec::new();
    // The first three of all are among the first three of the three that come first.
    for job in jobs::soonest(&schedule.db, NEXT)? {
        let zone = job.plan.zone()?;
        all.extend(job.next_due(NEXT)?.into_iter().map(|at| (at, job.number, zone.moment(at))));
    }
    all.sort_by_key(|(at, number, _)| (*at, *number));
    let first = all.into_iter().take(NEXT);
    Ok(first.map(|(_, number, at)| Coming { job: id_of(number), at }).collect())
}

/// The same as lines.
pub fn coming_lines(coming: &[Coming]) -> String {
    if coming.is_empty() {
        return "Next: nothing.".to_owned();
    }
    let each: Vec<String> =
        coming.iter().map(|one| format!("[{}] {}", one.job, one.at.line())).collect();
    format!("Next: {}", each.join("; "))
}
