//! `change`: another plan for a job, as a new revision.

use schemars::JsonSchema;
use serde::Deserialize;

use super::asked::JobRequest;
use super::shown::JobShown;
use super::{About, Effect, Reply, ToolDef, on_jobs};
use crate::error::Result;
use crate::job::number_of;
use crate::schedule::Schedule;
use crate::store::jobs;

pub fn tool() -> ToolDef {
    About {
        name: "change",
        title: "Change a job",
        description: "Changes a job; what is not given stays as it is. The change is a new revision. A change on an older revision \
                      than the job's is refused. Firings that are due already stay as they were.",
        effect: Effect::Changes { destructive: true, idempotent: false },
    }
    .tool(on_jobs(run))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The id of the job.
    id: String,
    /// The revision on which the change is made, as `list` or `schedule` gave it.
    revision: i64,
    /// The fields to change, as for `schedule`. Fields that say when replace all such fields.
    to: JobRequest,
}

fn run(schedule: &mut Schedule, input: Input) -> Result<Reply<JobShown>> {
    let number = number_of(&input.id)?;
    let before = jobs::find(&schedule.db, number)?;
    let plan = input.to.changed(&before.plan, schedule)?;
    let job = JobShown::new(&schedule.change(number, input.revision, plan)?)?;
    Ok(Reply { text: format!("Changed: {}", job.lines()), structured: job })
}
