//! `history`: what became of jobs and firings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::{Coming, coming, coming_lines};
use super::{About, Effect, Reply, ToolDef, limit, on_jobs};
use crate::error::Result;
use crate::job::{id_of, number_of};
use crate::schedule::Schedule;
use crate::store::history::{self, Event, Row};
use crate::zone::{Moment, Zone};

pub fn tool() -> ToolDef {
    About {
        name: "history",
        title: "What has happened",
        description: "Lists what became of jobs and firings, newest first: made, changed, due, taken, missed (with how many), expired, \
                      cancelled. Rows are kept for a while, see the server's limits.",
        effect: Effect::ReadOnly,
    }
    .tool(on_jobs(run))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Only this job, also one that has ended.
    #[serde(default)]
    id: Option<String>,
    /// Only rows before this number: the `more` of the page before.
    #[serde(default)]
    before: Option<i64>,
    /// At most this many rows.
    #[serde(default)]
    #[schemars(range(min = 1))]
    limit: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    rows: Vec<Shown>,
    /// There are more: call again with this as `before`.
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<i64>,
    /// Firings that were missed or expired, in all that the history still knows.
    missed: u64,
    /// The next three firings of all jobs.
    next: Vec<Coming>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Shown {
    at: Moment,
    job: String,
    revision: i64,
    event: Event,
    #[serde(skip_serializing_if = "Option::is_none")]
    firing: Option<String>,
    /// The firing that it is about, or the newest of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    planned: Option<Moment>,
    /// How many firings it is about.
    count: u64,
    /// The beginning of the text, or why.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<String>,
}

impl Shown {
    fn new(row: Row, zone: &Zone) -> Self {
        Self {
            at: zone.moment(row.at),
            job: id_of(row.job),
            revision: row.revision,
            event: row.event,
            firing: row.firing,
            planned: row.planned.map(|at| zone.moment(at)),
            count: row.count,
            line: row.line,
        }
    }

    fn line(&self) -> String {
        let count = if self.count > 1 { format!(" ×{}", self.count) } else { String::new() };
        let line = self.line.as_deref().unwrap_or_default();
        let event = self.event.as_str();
        format!("{}: [{}] {event}{count}: {line}", self.at.line(), self.job)
    }
}

fn run(schedule: &mut Schedule, input: Input) -> Result<Reply<Output>> {
    let limit = limit(input.limit, schedule)?;
    let job = input.id.as_deref().map(number_of).transpose()?;
    let before = input.before.unwrap_or(i64::MAX);
    let mut rows = history::page(&schedule.db, job, before, limit + 1)?;
    let has_more = rows.len() > limit;
    rows.truncate(limit);
    let more = rows.last().filter(|_| has_more).map(|row| row.seq);
    let rows: Vec<Shown> = rows.into_iter().map(|row| Shown::new(row, &schedule.zone)).collect();
    let missed = history::missed(&schedule.db)?;
    let output = Output { rows, more, missed, next: coming(schedule)? };
    let mut lines: Vec<String> = output.rows.iter().map(Shown::line).collect();
    if output.rows.is_empty() {
        lines.push("The history holds nothing of that.".to_owned());
    }
    if let Some(more) = output.more {
        lines.push(format!("There are more: call again with before = {more}."));
    }
    lines.push(coming_lines(&output.next));
    Ok(Reply { text: lines.join("\n"), structured: output })
}
