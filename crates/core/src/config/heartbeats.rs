//! `heartbeats.toml`: when the agent wakes up by itself, what for, and what that may take. Owns
//! what may stand there; must not know how a heartbeat fires.

mod change;
mod entry;
mod import;

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use jiff::civil::{Time, Weekday};
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use super::toml_fault::{fault, line_of};
use super::{ConfigError, read_if_there};
use crate::domain::canonical::sha256_hex;
pub use change::{drafted_heartbeat, heartbeat_entry, with_heartbeat};
use entry::Entry;
pub use import::{ImportedHeartbeat, import_heartbeats, with_heartbeats};

/// The file that a new home has; no heartbeat is in it yet.
pub const DEFAULT_HEARTBEATS_TOML: &str = include_str!("../../../../heartbeats.toml");
/// Entries of one file.
const ENTRIES_MAX: usize = 50;
/// Of a name, in characters: it is a part of a session's name.
const NAME_CHARS_MAX: usize = 32;

/// One entry, checked.
#[derive(Clone, Debug)]
pub struct Heartbeat {
    /// As the file has it: lower-case letters, digits, `-` and `_`.
    pub name: String,
    pub times: HeartbeatTimes,
    /// On which days; never empty.
    pub days: Vec<Weekday>,
    /// From and to which time of the day; the first may be the later one. `None`: the whole day.
    pub active: Option<(Time, Time)>,
    pub zone: TimeZone,
    pub prompt: String,
    /// The chat that it tells; `None` is the owner's.
    pub chat: Option<i64>,
    pub check: Option<HeartbeatCheck>,
    pub budget: HeartbeatBudget,
    /// Of all that stands in the entry: whatever is changed makes it another one.
    pub revision: i64,
}

/// When it fires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeartbeatTimes {
    /// At these times of the day; never empty.
    At(Vec<Time>),
    /// Whenever so many minutes of real time have passed, counted from midnight UTC of 1970-01-01.
    EveryMinutes(i64),
}

/// What decides, before a model is asked, whether there is anything new.
#[derive(Clone, Debug, PartialEq)]
pub enum HeartbeatCheck {
    Tool {
        server: String,
        tool: String,
        arguments: Map<String, Value>,
    },
    /// A command in the box, at the level `read`.
    Command(String),
}

/// What one heartbeat may take in a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeartbeatBudget {
    /// Replies of a model.
    pub requests_day_max: u64,
    /// Tokens, in and out.
    pub tokens_day_max: u64,
}

impl Default for HeartbeatBudget {
    fn default() -> Self {
        Self { requests_day_max: 20, tokens_day_max: 200_000 }
    }
}

impl HeartbeatBudget {
    /// What of it is used up by so many requests and tokens, as half a sentence.
    pub fn used_up(&self, (requests, tokens): (u64, u64)) -> Option<String> {
        if requests >= self.requests_day_max {
            let most = self.requests_day_max;
            return Some(format!("{requests} of {most} requests to a model (`requests_day_max`)"));
        }
        let most = self.tokens_day_max;
        (tokens >= most).then(|| format!("{tokens} of {most} tokens (`tokens_day_max`)"))
    }

    /// What the owner is told, once a day.
    pub fn stopped(name: &str, what: &str) -> String {
        format!(
            "The heartbeat `{name}` has stopped for today: it has used {what}. It goes on \
             tomorrow; `heartbeats.toml` has its budget."
        )
    }
}

/// The budgets of all heartbeats, by name.
#[derive(Clone, Debug, Default)]
pub struct HeartbeatBudgets(BTreeMap<String, HeartbeatBudget>);

impl HeartbeatBudgets {
    /// An entry that was taken out ends its turn by the usual budget.
    pub fn of(&self, name: &str) -> HeartbeatBudget {
        self.0.get(name).copied().unwrap_or_default()
    }
}

impl FromIterator<(String, HeartbeatBudget)> for HeartbeatBudgets {
    fn from_iter<T: IntoIterator<Item = (String, HeartbeatBudget)>>(budgets: T) -> Self {
        Self(budgets.into_iter().collect())
    }
}

/// When the day of a time ends in a zone.
pub fn end_of_day(at: Timestamp, zone: &TimeZone) -> Timestamp {
    let end = at.to_zoned(zone.clone()).tomorrow().and_then(|next| next.start_of_day());
    // No day ends behind the last one that can be written.
    end.map_or(Timestamp::MAX, |end| end.timestamp())
}

/// Reads the file; one that is not there has no entries. `zone` is the zone of entries that name
/// none.
///
/// # Errors
/// One sentence with the line, and the next step. Nothing of a broken file counts.
pub fn load_heartbeats(path: &Path, zone: &TimeZone) -> Result<Vec<Heartbeat>, ConfigError> {
    let Some(text) = read_if_there(path)? else { return Ok(Vec::new()) };
    parse(&text, zone)
}

fn parse(text: &str, zone: &TimeZone) -> Result<Vec<Heartbeat>, ConfigError> {
    let wrong = |line: Option<usize>, message: String| {
        let place = match line {
            Some(line) => format!("heartbeats.toml:{line}"),
            None => "heartbeats.toml".to_owned(),
        };
        ConfigError::new(place, message, "`claw help heartbeats` shows how an entry is written")
    };
    let broken = |error: toml::de::Error| {
        let fault = fault(text, &error);
        wrong(fault.line, fault.message)
    };
    let entries: BTreeMap<String, Entry> = toml::from_str(text).map_err(broken)?;
    let raw: BTreeMap<String, toml::Value> = toml::from_str(text).map_err(broken)?;
    if entries.len() > ENTRIES_MAX {
        return Err(wrong(None, format!("it has more than {ENTRIES_MAX} entries")));
    }
    let mut heartbeats = Vec::new();
    for (name, entry) in entries {
        let line = line_of_entry(text, &name);
        if !is_name(&name) {
            let message = format!(
                "`[{name}]` is no name of a heartbeat: use 1 to {NAME_CHARS_MAX} lower-case \
                 letters, digits, `-` or `_`"
            );
            return Err(wrong(line, message));
        }
        let revision = raw.get(&name).map(revision).unwrap_or_default();
        let meant = entry.means(name.clone(), zone, revision);
        heartbeats.push(meant.map_err(|why| wrong(line, format!("`[{name}]`: {why}")))?);
    }
    Ok(heartbeats)
}

fn is_name(name: &str) -> bool {
    let fits = (1..=NAME_CHARS_MAX).contains(&name.len());
    fits && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_".contains(&b))
}

/// A positive number that is another one for another text.
fn revision(entry: &toml::Value) -> i64 {
    let digest = sha256_hex(entry.to_string());
    i64::from_str_radix(digest.get(..12).unwrap_or_default(), 16).unwrap_or_default() + 1
}

/// Where an entry begins.
fn line_of_entry(text: &str, name: &str) -> Option<usize> {
    let heads = [format!("[{name}]"), format!("[{name}."), format!("[\"{name}\"")];
    let mut position = 0;
    for line in text.split_inclusive('\n') {
        if heads.iter().any(|head| line.trim_start().starts_with(head.as_str())) {
            return Some(line_of(text, position));
        }
        position += line.len();
    }
    None
}

#[cfg(test)]
mod tests;
