//! Single values: the stop switch, the head of the audit chain, what was told when, and how the
//! gateway last ended.

use std::collections::BTreeMap;

use rusqlite::OptionalExtension as _;

use super::{StoreError, Tx, now_ms};
use claw_domain::{SessionId, UnixMillis};

const PANIC: &str = "panic";
const GATEWAY: &str = "gateway";
const CLOCK: &str = "clock.believed";
const KEY_REFUSED: &str = "model.key_refused";
const PERSONA_FAULTS: &str = "persona.faults";
/// Before the name of a session.
const WORKSPACE: &str = "session.workspace.";
const PROPOSALS_TOLD: &str = "proposals.told";
const JOBS_MISSED: &str = "jobs.missed";
const DAY_SPENT: &str = "spent.day";
const DAY_GOES_ON: &str = "spent.goes_on";

/// What models have taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DaySpent {
    /// In and out, cached ones included.
    pub tokens: u64,
    /// Millionths of a US dollar, of the models whose price is known.
    pub micro_usd: u64,
}

impl Tx<'_> {
    pub(super) fn meta(&self, key: &str) -> Result<Option<String>, StoreError> {
        let mut query = self.conn.prepare_cached("SELECT value FROM meta WHERE key = ?1")?;
        Ok(query.query_row([key], |row| row.get(0)).optional()?)
    }

    pub(super) fn set_meta(&self, key: &str, value: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("INSERT INTO meta(key, value) VALUES (?1, ?2) ON CONFLICT(key) DO UPDATE SET value = ?2")?
            .execute([key, value])?;
        Ok(())
    }

    /// Who pulled the stop switch, if it is on. While it is on, no call may start.
    pub fn panic(&self) -> Result<Option<String>, StoreError> {
        // The flag first: it holds where the store cannot be read, too.
        if let Some(by) = self.panic_flag() {
            return Ok(Some(by));
        }
        self.panic_in_store()
    }

    /// The same without a look at files.
    pub(super) fn panic_in_store(&self) -> Result<Option<String>, StoreError> {
        Ok(self.meta(PANIC)?.filter(|by| !by.is_empty()))
    }

    /// `Some(by)` turns the stop switch on, `None` off. It survives a restart.
    pub fn set_panic(&self, by: Option<&str>) -> Result<(), StoreError> {
        self.set_meta(PANIC, by.unwrap_or_default())?;
        if by.is_none() {
            self.lower_panic_flag().map_err(|error| {
                StoreError::Commit(format!(
                    "the stop switch is kept in a file that cannot be removed: {error}"
                ))
            })?;
        }
        Ok(())
    }
}

impl Tx<'_> {
    /// How many firings of jobs were missed and not made up, as the scheduler has said last.
    pub fn jobs_missed(&self) -> Result<u64, StoreError> {
        Ok(self.meta(JOBS_MISSED)?.and_then(|count| count.parse().ok()).unwrap_or(0))
    }

    pub fn set_jobs_missed(&self, count: u64) -> Result<(), StoreError> {
        self.set_meta(JOBS_MISSED, &count.to_string())
    }
}

impl Tx<'_> {
    /// The folder that a session works in, if it is another one than the configured one.
    pub fn session_workspace(&self, session: &SessionId) -> Result<Option<String>, StoreError> {
        Ok(self.meta(&format!("{WORKSPACE}{session}"))?.filter(|folder| !folder.is_empty()))
    }

    /// Says which folder a session works in; with `None` the configured one.
    pub fn set_session_workspace(
        &self,
        session: &SessionId,
        workspace: Option<&str>,
    ) -> Result<(), StoreError> {
        self.set_meta(&format!("{WORKSPACE}{session}"), workspace.unwrap_or_default())
    }
}

impl Tx<'_> {
    /// Notes that a person is told of something of this kind now. False when that was done less
    /// than `every_ms` ago.
    pub fn may_tell(&self, kind: &str, every_ms: i64) -> Result<bool, StoreError> {
        if self.told_within(kind, every_ms)? {
            return Ok(false);
        }
        self.set_meta(&told_key(kind), &now_ms().to_string())?;
        Ok(true)
    }

    /// Whether that was done less than `every_ms` ago.
    pub fn told_within(&self, kind: &str, every_ms: i64) -> Result<bool, StoreError> {
        let told: Option<UnixMillis> = self.meta(&told_key(kind))?.and_then(|at| at.parse().ok());
        // A clock that was put back must not keep anybody silent.
        Ok(told.is_some_and(|at| (0..every_ms).contains(&(now_ms() - at))))
    }

    /// Up to when the clock was believed.
    pub fn clock_believed_ms(&self) -> Result<Option<UnixMillis>, StoreError> {
        Ok(self.meta(CLOCK)?.and_then(|at| at.parse().ok()))
    }

    pub fn believe_clock(&self, at_ms: UnixMillis) -> Result<(), StoreError> {
        self.set_meta(CLOCK, &at_ms.to_string())
    }

    /// Whether the gateway's last run ended in order, or there was none; from now on it counts as
    /// running.
    pub fn begin_gateway(&self) -> Result<bool, StoreError> {
        let ended = self.meta(GATEWAY)?.is_none_or(|state| state == "ended");
        self.set_meta(GATEWAY, "running")?;
        Ok(ended)
    }

    pub fn end_gateway(&self) -> Result<(), StoreError> {
        self.set_meta(GATEWAY, "ended")
    }

    /// What the person was told when the provider last refused the model's key; empty when that was
    /// dealt with.
    pub fn key_refused(&self) -> Result<String, StoreError> {
        Ok(self.meta(KEY_REFUSED)?.unwrap_or_default())
    }

    pub fn set_key_refused(&self, text: &str) -> Result<(), StoreError> {
        self.set_meta(KEY_REFUSED, text)
    }

    /// What the owner was told to be wrong with the persona, by what it is wrong with.
    pub fn persona_faults(&self) -> Result<BTreeMap<String, String>, StoreError> {
        // What cannot be read is told once more.
        Ok(self
            .meta(PERSONA_FAULTS)?
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default())
    }

    pub fn set_persona_faults(&self, faults: &BTreeMap<String, String>) -> Result<(), StoreError> {
        self.set_meta(PERSONA_FAULTS, &serde_json::json!(faults).to_string())
    }

    /// The day of which the owner was told last what waits to be remembered, as year, month and day.
    pub fn proposals_told(&self) -> Result<Option<String>, StoreError> {
        self.meta(PROPOSALS_TOLD)
    }

    pub fn set_proposals_told(&self, day: &str) -> Result<(), StoreError> {
        self.set_meta(PROPOSALS_TOLD, day)
    }

    /// Counts what was spent on a day. Of an earlier day nothing is kept here; the rows of `usage`
    /// have it all.
    pub fn add_day_spent(&self, day: &str, more: DaySpent) -> Result<(), StoreError> {
        let sum = self.day_spent(day)?;
        let (tokens, micro_usd) =
            (sum.tokens.saturating_add(more.tokens), sum.micro_usd.saturating_add(more.micro_usd));
        self.set_meta(DAY_SPENT, &format!("{day} {tokens} {micro_usd}"))
    }

    /// What was counted on this day.
    pub fn day_spent(&self, day: &str) -> Result<DaySpent, StoreError> {
        let counted = self.meta(DAY_SPENT)?.unwrap_or_default();
        let mut words = counted.split(' ');
        if words.next() != Some(day) {
            return Ok(DaySpent::default());
        }
        let mut number = || words.next().and_then(|word| word.parse().ok()).unwrap_or_default();
        Ok(DaySpent { tokens: number(), micro_usd: number() })
    }

    /// Whether the owner has let this day's turns go on to the limit.
    pub fn day_goes_on(&self, day: &str) -> Result<bool, StoreError> {
        Ok(self.meta(DAY_GOES_ON)?.as_deref() == Some(day))
    }

    pub fn let_day_go_on(&self, day: &str) -> Result<(), StoreError> {
        self.set_meta(DAY_GOES_ON, day)
    }

    /// Writes the database as it is at this moment into a new or empty file, while others go on
    /// writing to it.
    pub fn copy_into(&self, path: &std::path::Path) -> Result<(), StoreError> {
        self.conn.execute("VACUUM INTO ?1", [path.to_string_lossy()])?;
        Ok(())
    }

    /// What SQLite's own quick check finds wrong, if anything.
    pub fn quick_check(&self) -> Result<Option<String>, StoreError> {
        let found: String = self.conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        Ok((found != "ok").then_some(found))
    }
}

fn told_key(kind: &str) -> String {
    format!("told.{kind}")
}
