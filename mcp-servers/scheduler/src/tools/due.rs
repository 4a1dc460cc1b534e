//! `due`: the firings that wait to be taken, also as the resource `schedule://due`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::{Coming, FiringShown, coming, coming_lines};
use super::{About, Effect, Reply, SharedSchedule, ToolDef, limit, on_jobs};
use crate::error::Result;
use crate::schedule::Schedule;
use crate::store::{firings, history};

pub fn tool() -> ToolDef {
    About {
        name: "due",
        title: "What is due",
        description: "Lists the firings that wait to be taken, in the order in which they became due. A firing stays here until take, \
                      or until its job is cancelled or not_later_than_minutes is over. The cursor grows with each new firing.",
        effect: Effect::ReadOnly,
    }
    .tool(on_jobs(run))
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Only firings that became due behind this cursor. Default: all.
    #[serde(default)]
    after: Option<i64>,
    /// At most this many firings.
    #[serde(default)]
    #[schemars(range(min = 1))]
    limit: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    due: Vec<FiringShown>,
    /// Everything up to it is in this answer or was in one before.
    cursor: i64,
    /// There are more: call again with the cursor as `after`.
    more: bool,
    /// Firings that were missed or expired, in all that the history still knows.
    missed: u64,
    /// The next three firings of all jobs.
    next: Vec<Coming>,
}

fn run(schedule: &mut Schedule, input: Input) -> Result<Reply<Output>> {
    let limit = limit(input.limit, schedule)?;
    let mut due = firings::due(&schedule.db, input.after.unwrap_or(0), limit + 1)?;
    let more = due.len() > limit;
    due.truncate(limit);
    let cursor = match due.last() {
        Some(last) if more => last.seq,
        _ => firings::cursor(&schedule.db)?,
    };
    let due = due.iter().map(|firing| FiringShown::of_job(&schedule.db, firing)).collect();
    let missed = history::missed(&schedule.db)?;
    let output = Output { due, cursor, more, missed, next: coming(schedule)? };
    let mut lines: Vec<String> = output.due.iter().map(FiringShown::line).collect();
    if output.due.is_empty() {
        lines.push("Nothing is due.".to_owned());
    }
    if output.more {
        lines.push(format!("There are more: call again with after = {}.", output.cursor));
    }
    lines.push(coming_lines(&output.next));
    Ok(Reply { text: lines.join("\n"), structured: output })
}

/// A page, as the resource gives it.
///
/// # Errors
/// The file fails.
pub fn as_json(shared: &SharedSchedule, after: i64) -> Result<String> {
    let input = Input { after: Some(after), ..Input::default() };
    let reply = shared.with(|schedule| run(schedule, input))?;
    Ok(serde_json::to_string(&reply.structured)?)
}
