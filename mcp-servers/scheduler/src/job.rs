//! A job: what is to be said or done, for whom, when, and what becomes of firings that were missed.
//! Must not know storage or tools.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Result, ToolError};
use crate::when::{Rule, Times};
use crate::zone::Zone;

/// A job as it is at one revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    pub number: i64,
    /// Counts from 1 with each change of the plan. Pausing is no change.
    pub revision: i64,
    pub is_paused: bool,
    pub plan: Plan,
    /// The next firing by the rule, in seconds since 1970. `None` while it is paused.
    pub planned: Option<i64>,
    /// The newest firing that has come, whatever became of it. No later one is at or before it.
    pub last_planned: Option<i64>,
}

/// Everything that a revision says. Stored as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub zone: String,
    pub rule: Rule,
    pub what: What,
    pub if_missed: IfMissed,
    /// A missed firing is not made up when it is later than this, in seconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub not_later_than_s: Option<i64>,
    pub overlap: Overlap,
    /// How far this job may be moved away from others that start together, in seconds.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub jitter_s: i64,
    /// No firing behind it, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub until: Option<i64>,
}

/// What a firing brings. All names are the host's own and mean nothing here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct What {
    /// What an agent is to do.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub text: Option<String>,
    /// Words to be said as they are, without an agent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub say: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub chat: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub topic: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub agent: Option<String>,
}

/// What becomes of firings that nobody was there for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum IfMissed {
    /// They are counted in the history.
    Skip,
    /// The newest is made up, the others are counted.
    #[default]
    Latest,
    /// All are made up.
    All,
}

/// What becomes of a firing while an earlier one of the job is still due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Overlap {
    /// It is counted in the history.
    #[default]
    Skip,
    /// It becomes due as well.
    Queue,
}

fn is_zero(count: &i64) -> bool {
    *count == 0
}

impl What {
    /// One line for a list.
    pub fn line(&self) -> String {
        let text = self.say.as_deref().or(self.text.as_deref()).unwrap_or_default();
        let mut line: String =
            text.chars().take(80).map(|c| if c.is_control() { ' ' } else { c }).collect();
        if text.chars().count() > 80 {
            line.push('…');
        }
        line
    }
}

impl Plan {
    pub fn zone(&self) -> Result<Zone> {
        Zone::named(&self.zone)
    }

    /// The next firings behind a time, in seconds since 1970.
    pub fn next(&self, after: i64, count: usize) -> Result<Vec<i64>> {
        let zone = self.zone()?;
        let times = Times::new(&self.rule, &zone, self.until)?;
        Ok(times.after(after).take(count).collect())
    }
}

impl Job {
    /// As it is named in answers.
    pub fn id(&self) -> String {
        id_of(self.number)
    }

    /// How far this job is moved: always the same for one job, different for two.
    pub fn jitter_s(&self) -> i64 {
        // Fibonacci hashing spreads neighbouring numbers.
        let spread = self.number.unsigned_abs().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
        i64::try_from(spread).unwrap_or(0) % (self.plan.jitter_s + 1)
    }

    /// The next firings as they will become due.
    pub fn next_due(&self, count: usize) -> Result<Vec<i64>> {
        let Some(planned) = self.planned else { return Ok(Vec::new()) };
        let next = self.plan.next(planned - 1, count)?;
        Ok(next.into_iter().map(|at| at + self.jitter_s()).collect())
    }
}

pub fn id_of(number: i64) -> String {
    format!("j{number}")
}

/// # Errors
/// No job has such an id.
pub fn number_of(id: &str) -> Result<i64> {
    let number = id.trim().strip_prefix('j').and_then(|number| number.parse().ok());
    number.ok_or_else(|| ToolError::NoJob { id: id.trim().to_owned() })
}
