//! `cancel`: the end of a job.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::{Coming, coming, coming_lines};
use super::{About, Effect, Reply, ToolDef, on_jobs};
use crate::error::Result;
use crate::job::{What, id_of, number_of};
use crate::schedule::Schedule;

pub fn tool() -> ToolDef {
    About {
        name: "cancel",
        title: "Cancel a job",
        description: "Ends a job permanently and takes back its firings that wait to be taken. To stop it for a while use pause.",
        effect: Effect::Changes { destructive: true, idempotent: false },
    }
    .tool(on_jobs(run))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The id of the job.
    id: String,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    id: String,
    #[serde(flatten)]
    what: What,
    /// Firings that waited to be taken and were taken back.
    withdrawn: u64,
    /// The next three firings of the jobs that are left.
    next: Vec<Coming>,
}

fn run(schedule: &mut Schedule, input: Input) -> Result<Reply<Output>> {
    let number = number_of(&input.id)?;
    let ((what, withdrawn), id) = (schedule.cancel(number)?, id_of(number));
    let next = coming(schedule)?;
    let also = match withdrawn {
        0 => String::new(),
        1 => " 1 that was due is taken back.".to_owned(),
        count => format!(" {count} that were due are taken back."),
    };
    let text = format!("Cancelled: [{id}] {}.{also}\n{}", what.line(), coming_lines(&next));
    Ok(Reply { text, structured: Output { id, what, withdrawn, next } })
}
