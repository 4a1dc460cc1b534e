//! `now`: what time it is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::{Coming, coming, coming_lines};
use super::{About, Effect, Reply, ToolDef, on_jobs};
use crate::error::Result;
use crate::schedule::Schedule;
use crate::store::{firings, jobs};
use crate::zone::{Moment, Zone};

pub fn tool() -> ToolDef {
    About {
        name: "now",
        title: "What time it is",
        description: "Tells date, time of day and weekday in a zone, how many jobs there are and how many firings wait to be taken.",
        effect: Effect::ReadOnly,
    }
    .tool(on_jobs(run))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The time zone, as in the IANA database. Default: the server's own.
    #[serde(default)]
    zone: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    #[serde(flatten)]
    now: Moment,
    jobs: u64,
    due: u64,
    /// The next three firings of all jobs.
    next: Vec<Coming>,
}

fn run(schedule: &mut Schedule, input: Input) -> Result<Reply<Output>> {
    let zone = input.zone.as_deref().map_or_else(|| Ok(schedule.zone.clone()), Zone::named)?;
    let output = Output {
        now: zone.moment(schedule.now()),
        jobs: jobs::count(&schedule.db)?,
        due: firings::count_due(&schedule.db)?,
        next: coming(schedule)?,
    };
    let text = format!(
        "It is {}. Jobs: {}, due: {}.\n{}",
        output.now.line(),
        output.jobs,
        output.due,
        coming_lines(&output.next)
    );
    Ok(Reply { text, structured: output })
}
