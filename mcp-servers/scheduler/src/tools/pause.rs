//! `pause` and `resume`: a job that waits, and goes on.

use schemars::JsonSchema;
use serde::Deserialize;

use super::shown::JobShown;
use super::{About, Effect, Reply, ToolDef, on_jobs};
use crate::error::Result;
use crate::job::number_of;

const EFFECT: Effect = Effect::Changes { destructive: false, idempotent: true };

pub fn pause() -> ToolDef {
    About {
        name: "pause",
        title: "Pause a job",
        description: "Stops a job until resume. Firings that are due already stay due.",
        effect: EFFECT,
    }
    .tool(on_jobs(|schedule, input: Input| {
        let job = JobShown::new(&schedule.pause(number_of(&input.id)?)?)?;
        Ok(Reply { text: format!("Paused: {}", job.lines()), structured: job })
    }))
}

pub fn resume() -> ToolDef {
    About {
        name: "resume",
        title: "Resume a job",
        description: "Lets a paused job go on from now. Firings of the time meanwhile are not made up.",
        effect: EFFECT,
    }
    .tool(on_jobs(|schedule, input: Input| -> Result<Reply<JobShown>> {
        let job = JobShown::new(&schedule.resume(number_of(&input.id)?)?)?;
        Ok(Reply { text: format!("Resumed: {}", job.lines()), structured: job })
    }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The id of the job.
    id: String,
}
