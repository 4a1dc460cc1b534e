//! `schedule`: a new job.

use super::asked::JobRequest;
use super::shown::JobShown;
use super::{About, Effect, Reply, ToolDef, on_jobs};
use crate::error::Result;
use crate::schedule::Schedule;

pub fn tool() -> ToolDef {
    About {
        name: "schedule",
        title: "Schedule a job",
        description: "Makes a job that fires once or again and again. Say when with exactly one of in_minutes, at_local (with date or \
                      weekday), every and cron; the server computes the times and refuses what is past. The answer repeats the next \
                      three firings: compare them with what was asked for.",
        effect: Effect::Adds,
    }
    .tool(on_jobs(run))
}

fn run(schedule: &mut Schedule, asked: JobRequest) -> Result<Reply<JobShown>> {
    let plan = asked.plan(schedule)?;
    let job = JobShown::new(&schedule.add(plan)?)?;
    Ok(Reply { text: format!("Scheduled: {}", job.lines()), structured: job })
}
