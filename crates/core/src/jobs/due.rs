//! What the scheduler gives as due, as claw reads it. Must not know what is done with it.

use jiff::Timestamp;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::domain::{SessionId, job_principal};

/// One page.
#[derive(Debug, Deserialize)]
pub(super) struct Page {
    pub(super) due: Vec<Firing>,
    pub(super) cursor: i64,
    pub(super) more: bool,
    /// How many were missed and not made up, in all that the scheduler still knows.
    #[serde(default)]
    pub(super) missed: u64,
}

/// The jobs that there are.
#[derive(Debug, Deserialize)]
pub(super) struct KnownJobs {
    pub(super) jobs: Vec<KnownJob>,
}

#[derive(Debug, Deserialize)]
pub(super) struct KnownJob {
    pub(super) id: String,
    pub(super) revision: i64,
}

/// A job that has fired.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Firing {
    #[serde(rename = "firing")]
    pub(super) id: String,
    pub(super) job: String,
    pub(super) revision: i64,
    /// When the job fires, in words, where that is known.
    #[serde(default)]
    pub(super) when: Option<String>,
    pub(super) planned: Moment,
    pub(super) since: Moment,
    /// What is to be done.
    #[serde(default)]
    pub(super) text: Option<String>,
    /// What is to be said.
    #[serde(default)]
    pub(super) say: Option<String>,
    #[serde(default)]
    session: Option<String>,
}

/// A time, as people of the job's zone read it, and as a program does.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Moment {
    pub(super) weekday: String,
    pub(super) local: String,
    #[serde(deserialize_with = "utc")]
    pub(super) utc: Timestamp,
}

fn utc<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
    String::deserialize(from)?.parse().map_err(D::Error::custom)
}

impl Moment {
    /// So many milliseconds before `now_ms`; none for what lies ahead.
    pub(super) fn ago_ms(&self, now_ms: i64) -> i64 {
        (now_ms - self.utc.as_millisecond()).max(0)
    }

    /// Without seconds, which nobody has asked for.
    pub(super) fn line(&self) -> String {
        let minute = self.local.get(.."2026-12-24 09:00".len()).unwrap_or(&self.local);
        format!("{} {minute}", self.weekday)
    }
}

impl Firing {
    /// The session that it was made for. A name that cannot be one is nobody's.
    pub(super) fn session(&self) -> Option<SessionId> {
        SessionId::new(self.session.clone()?).ok()
    }

    pub(super) fn principal(&self) -> String {
        job_principal(&self.job, self.revision)
    }

    pub(super) fn schedule(&self) -> String {
        self.when.clone().unwrap_or_else(|| format!("once, {}", self.planned.line()))
    }
}
