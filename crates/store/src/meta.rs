//! Single values: the stop switch, the head of the audit chain, what was told when, and how the
//! gateway last ended.

use std::collections::BTreeMap;

use rusqlite::OptionalExtension as _;

use super::damaged::text_at;
use super::damaged_rows::KeyPart;
use super::{RowAt, StoreError, Tx, now_ms};
use claw_domain::{SessionId, UnixMillis};

pub(super) const PANIC: &str = "panic";
/// Before what a person was told of, with when.
const TOLD: &str = "told.";
const GATEWAY: &str = "gateway";
pub(super) const CLOCK: &str = "clock.believed";
const KEY_REFUSED: &str = "model.key_refused";
const PERSONA_FAULTS: &str = "persona.faults";
/// Before the name of a session.
const WORKSPACE: &str = "session.workspace.";
const PROPOSALS_TOLD: &str = "proposals.told";
const JOBS_MISSED: &str = "jobs.missed";
pub(super) const DAY_SPENT: &str = "spent.day";
const DAY_GOES_ON: &str = "spent.goes_on";
/// Behind the sums of a day, or in the place of them: they could not be read.
const LOST: &str = "lost";
const DAY_MS: i64 = 24 * 60 * 60 * 1000;
pub(super) const AUDIT_HEAD: &str = "audit.head";
pub(super) const AUDIT_CUT: &str = "audit.cut";
pub(super) const AUDIT_SEAL: &str = "audit.seal";

/// What models have taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DaySpent {
    /// In and out, cached ones included.
    pub tokens: u64,
    /// Millionths of a US dollar, of the models whose price is known.
    pub micro_usd: u64,
    /// The sums could not be read: the tokens are those of the last 24 hours, and money is missing.
    pub is_lost: bool,
}

/// Where a single value stands.
pub(super) fn at(key: &str) -> RowAt {
    RowAt::Row { table: "meta".to_owned(), key: vec![KeyPart::Text(key.as_bytes().to_vec())] }
}

/// Whether the value is the audit's: these are mended where the audit is.
pub(super) fn is_of_audit(key: &str) -> bool {
    [AUDIT_HEAD, AUDIT_CUT, AUDIT_SEAL].contains(&key)
}

/// What is wrong with a single value, if its readers cannot take it for what it is.
pub(super) fn check_value(key: &str, value: &str) -> Result<(), String> {
    let number = || {
        let number = value.parse::<i64>().map_err(|error| format!("it is no number: {error}"))?;
        let possible = (0..=super::damaged::ROW_NUMBER_MAX).contains(&number);
        possible.then_some(()).ok_or_else(|| format!("it is {number}, and nothing counts so far"))
    };
    let json = || {
        serde_json::from_str::<serde::de::IgnoredAny>(value)
            .map(drop)
            .map_err(|error| error.to_string())
    };
    match key {
        DAY_SPENT => read_spent(value).map(drop),
        CLOCK | JOBS_MISSED | super::pins::PINS_VERSION => number(),
        PERSONA_FAULTS => json(),
        key if key.starts_with(TOLD) => number(),
        key if key.starts_with(super::heartbeats::HEARTBEAT) => json(),
        key if key.starts_with(super::pins::OFFERS) => json(),
        _ => Ok(()),
    }
}

/// What is kept of a day.
enum KeptDay<'a> {
    Of(&'a str, DaySpent),
    /// It could not be read at this time. Until a day later it counts for every day.
    Lost {
        at_ms: UnixMillis,
        tokens: u64,
    },
}

fn read_spent(text: &str) -> Result<KeptDay<'_>, String> {
    let words: Vec<&str> = text.split(' ').collect();
    let odd = || "it is no day with its tokens and its money".to_owned();
    let number = |word: &str| word.parse::<u64>().map_err(|_| odd());
    match *words.as_slice() {
        [LOST, at, tokens] => {
            Ok(KeptDay::Lost { at_ms: at.parse().map_err(|_| odd())?, tokens: number(tokens)? })
        }
        [day, tokens, money] | [day, tokens, money, LOST] => {
            day.parse::<jiff::civil::Date>().map_err(|_| odd())?;
            let is_lost = words.len() == 4;
            let spent = DaySpent { tokens: number(tokens)?, micro_usd: number(money)?, is_lost };
            Ok(KeptDay::Of(day, spent))
        }
        _ => Err(odd()),
    }
}

impl Tx<'_> {
    pub(super) fn meta(&self, key: &str) -> Result<Option<String>, StoreError> {
        let mut query = self.conn.prepare_cached("SELECT value FROM meta WHERE key = ?1")?;
        query.query_row([key], |row| Ok(text_at(row, 0, || at(key)))).optional()?.transpose()
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

    /// The day of which the owner was told last what waits to be remembered, as year,
    /// month and day.
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
        let lost = if sum.is_lost { format!(" {LOST}") } else { String::new() };
        self.set_meta(DAY_SPENT, &format!("{day} {tokens} {micro_usd}{lost}"))
    }

    /// In place of what could not be read: the tokens of all replies of the last 24 hours, which is
    /// no less than those of today.
    pub(super) fn count_day_anew(&self) -> Result<(), StoreError> {
        let now = now_ms();
        let used = self.usage_since(None, now - DAY_MS)?;
        let tokens = used.input_tokens.saturating_add(used.output_tokens);
        self.set_meta(DAY_SPENT, &format!("{LOST} {now} {tokens}"))
    }

    /// What was counted on this day.
    pub fn day_spent(&self, day: &str) -> Result<DaySpent, StoreError> {
        let Some(counted) = self.meta(DAY_SPENT)? else { return Ok(DaySpent::default()) };
        let kept = read_spent(&counted)
            .map_err(|what| StoreError::Unreadable { at: at(DAY_SPENT), what })?;
        Ok(match kept {
            KeptDay::Of(of, spent) if of == day => spent,
            KeptDay::Lost { at_ms, tokens } if now_ms().saturating_sub(at_ms) < DAY_MS => {
                DaySpent { tokens, micro_usd: 0, is_lost: true }
            }
            KeptDay::Of(..) | KeptDay::Lost { .. } => DaySpent::default(),
        })
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
    format!("{TOLD}{kind}")
}
