//! `take`: a firing that is due is acknowledged, once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::{Coming, FiringShown, coming, coming_lines};
use super::{About, Effect, Reply, ToolDef, on_jobs};
use crate::error::Result;
use crate::schedule::Schedule;
use crate::store::firings::State;
use crate::zone::{Moment, Zone};

pub fn tool() -> ToolDef {
    About {
        name: "take",
        title: "Take a firing",
        description: "Acknowledges a firing that is due, so that it is no longer listed. Of all that take the same firing exactly one \
                      gets taken = true. For hosts: write down what is to be done first, under the firing's id, then take it.",
        effect: Effect::Changes { destructive: false, idempotent: true },
    }
    .tool(on_jobs(run))
    .for_hosts()
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The id of the firing, as `due` gives it.
    firing: String,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// True for the one call that took it.
    taken: bool,
    /// Why it could not be taken: taken before, expired, or withdrawn with its job.
    #[serde(skip_serializing_if = "Option::is_none")]
    why_not: Option<&'static str>,
    /// When that was.
    #[serde(skip_serializing_if = "Option::is_none")]
    settled: Option<Moment>,
    #[serde(flatten)]
    firing: FiringShown,
    /// The next three firings of all jobs.
    next: Vec<Coming>,
}

fn run(schedule: &mut Schedule, input: Input) -> Result<Reply<Output>> {
    let (firing, taken) = schedule.take(input.firing.trim())?;
    let zone = Zone::shown(&firing.zone);
    let output = Output {
        taken,
        why_not: (!taken).then_some(firing.state.as_str()),
        settled: firing.settled.filter(|_| !taken).map(|at| zone.moment(at)),
        firing: FiringShown::new(&firing),
        next: coming(schedule)?,
    };
    let what = match firing.state {
        _ if taken => "Taken".to_owned(),
        State::Expired => "Not taken, it has expired".to_owned(),
        State::Withdrawn => "Not taken, its job was cancelled".to_owned(),
        State::Due | State::Taken => "Not taken, somebody has taken it before".to_owned(),
    };
    let text = format!("{what}: {}\n{}", output.firing.line(), coming_lines(&output.next));
    Ok(Reply { text, structured: output })
}
