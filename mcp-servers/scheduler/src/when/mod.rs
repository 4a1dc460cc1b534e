//! When a job fires: a rule, and the times that it gives in a zone. Owns the three kinds of rules;
//! must not know jobs, storage or the current time.

mod fields;
mod local;
mod pattern;
mod walk;
mod words;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::zone::Zone;

pub use fields::Fields;
pub use local::end_of;
pub use pattern::Pattern;
pub use walk::next as next_of;

/// A rule as it is stored. All times are seconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Rule {
    Once {
        at: i64,
    },
    /// By real time: `anchor`, one interval later, and so on.
    Every {
        seconds: i64,
        anchor: i64,
    },
    Cron {
        pattern: String,
    },
}

/// The times of a rule in a zone, ready to be asked for many of them.
pub struct Times<'a> {
    rule: &'a Rule,
    zone: &'a Zone,
    pattern: Option<Pattern>,
    /// No firing behind it.
    until: Option<i64>,
}

impl<'a> Times<'a> {
    /// # Errors
    /// The pattern is refused.
    pub fn new(rule: &'a Rule, zone: &'a Zone, until: Option<i64>) -> Result<Self> {
        let pattern = match rule {
            Rule::Cron { pattern } => Some(Pattern::read(pattern)?),
            Rule::Once { .. } | Rule::Every { .. } => None,
        };
        Ok(Self { rule, zone, pattern, until })
    }

    /// The first firing behind a time.
    pub fn next_after(&self, after: i64) -> Option<i64> {
        let next = match (self.rule, &self.pattern) {
            (Rule::Once { at }, _) => Some(*at).filter(|at| *at > after),
            (Rule::Every { seconds, anchor }, _) => {
                let steps = (after - anchor).div_euclid(*seconds) + 1;
                Some(anchor + seconds * steps.max(0))
            }
            (Rule::Cron { .. }, Some(pattern)) => walk::next(pattern, self.zone, after),
            (Rule::Cron { .. }, None) => None,
        };
        next.filter(|at| self.until.is_none_or(|until| *at <= until))
    }

    /// The firings behind a time, in order.
    pub fn after(&self, after: i64) -> impl Iterator<Item = i64> {
        std::iter::successors(self.next_after(after), |at| self.next_after(*at))
    }
}

impl Rule {
    /// How it is shown in answers.
    pub fn line(&self, zone: &Zone) -> String {
        match self {
            Self::Once { at } => format!("once, {}", zone.moment(*at).line()),
            Self::Every { seconds, .. } => format!("every {}", fields::interval(*seconds)),
            Self::Cron { pattern } => {
                words::of(pattern).unwrap_or_else(|| format!("cron `{pattern}`"))
            }
        }
    }
}
