//! `list`: the jobs there are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::shown::{Coming, JobShown, coming, coming_lines};
use super::{About, Effect, Reply, SharedSchedule, ToolDef, limit, on_jobs};
use crate::error::Result;
use crate::job::{id_of, number_of};
use crate::schedule::Schedule;
use crate::store::jobs;

pub fn tool() -> ToolDef {
    About {
        name: "list",
        title: "List jobs",
        description: "Lists the jobs that are active or paused, oldest first, each with its next three firings. What became of \
                      others is in history.",
        effect: Effect::ReadOnly,
    }
    .tool(on_jobs(run))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Only this job.
    #[serde(default)]
    id: Option<String>,
    /// Only jobs for this chat.
    #[serde(default)]
    chat: Option<String>,
    /// Only jobs behind this id: the `more` of the page before.
    #[serde(default)]
    after: Option<String>,
    /// At most this many jobs.
    #[serde(default)]
    #[schemars(range(min = 1))]
    limit: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    jobs: Vec<JobShown>,
    /// How many there are in all.
    total: u64,
    /// There are more: call again with this as `after`.
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<String>,
    /// The next three firings of all jobs.
    next: Vec<Coming>,
}

fn run(schedule: &mut Schedule, input: Input) -> Result<Reply<Output>> {
    let limit = limit(input.limit, schedule)?;
    let after = input.after.as_deref().map_or(Ok(0), number_of)?;
    let mut found = match &input.id {
        Some(id) => vec![jobs::find(&schedule.db, number_of(id)?)?],
        None => jobs::page(&schedule.db, after, input.chat.as_deref(), limit + 1)?,
    };
    let has_more = found.len() > limit;
    found.truncate(limit);
    let more = found.last().filter(|_| has_more).map(crate::job::Job::id);
    let jobs = found.iter().map(JobShown::new).collect::<Result<Vec<_>>>()?;
    let output = Output { jobs, total: jobs::count(&schedule.db)?, more, next: coming(schedule)? };
    let mut lines: Vec<String> = output.jobs.iter().map(JobShown::lines).collect();
    if let Some(more) = &output.more {
        lines.push(format!("There are more: call again with after = {more}."));
    }
    lines.push(match output.jobs.len() {
        0 => format!("No job is shown, of {} in all.", output.total),
        _ => coming_lines(&output.next),
    });
    Ok(Reply { text: lines.join("\n"), structured: output })
}

/// Which jobs there are, as the resource gives them.
///
/// # Errors
/// The file fails.
pub fn as_json(shared: &SharedSchedule) -> Result<String> {
    let known = shared.with(|schedule| jobs::revisions(&schedule.db))?;
    let jobs: Vec<_> = known
        .into_iter()
        .map(|(number, revision)| json!({"id": id_of(number), "revision": revision}))
        .collect();
    Ok(json!({"jobs": jobs}).to_string())
}
