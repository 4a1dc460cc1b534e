//! One entry of `heartbeats.toml` as it is written, and what it means. Must not know the
//! file around it.

use jiff::civil::{Time, Weekday};
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::super::zone::zone_of;
use super::{Heartbeat, HeartbeatBudget, HeartbeatCheck, HeartbeatTimes};

/// Of a prompt, in bytes: it is a part of each turn.
const PROMPT_BYTES_MAX: usize = 8192;
/// Of an interval, in minutes.
const EVERY_MINUTES_MAX: i64 = 24 * 60;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    at: Option<Vec<String>>,
    every: Option<String>,
    days: Option<Vec<Day>>,
    active: Option<String>,
    zone: Option<String>,
    prompt: String,
    chat: Option<i64>,
    check: Option<Check>,
    requests_day_max: Option<u64>,
    tokens_day_max: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Check {
    tool: Option<String>,
    arguments: Option<Map<String, Value>>,
    command: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Day {
    #[serde(alias = "monday")]
    Mon,
    #[serde(alias = "tuesday")]
    Tue,
    #[serde(alias = "wednesday")]
    Wed,
    #[serde(alias = "thursday")]
    Thu,
    #[serde(alias = "friday")]
    Fri,
    #[serde(alias = "saturday")]
    Sat,
    #[serde(alias = "sunday")]
    Sun,
}

impl Day {
    fn weekday(self) -> Weekday {
        match self {
            Self::Mon => Weekday::Monday,
            Self::Tue => Weekday::Tuesday,
            Self::Wed => Weekday::Wednesday,
            Self::Thu => Weekday::Thursday,
            Self::Fri => Weekday::Friday,
            Self::Sat => Weekday::Saturday,
            Self::Sun => Weekday::Sunday,
        }
    }
}

impl Entry {
    /// What it means, or half a sentence about what is wrong with it.
    pub(super) fn means(
        self,
        name: String,
        zone: &TimeZone,
        revision: i64,
    ) -> Result<Heartbeat, String> {
        let times = times(self.at, self.every)?;
        let prompt = self.prompt.trim().to_owned();
        if prompt.is_empty() || prompt.len() > PROMPT_BYTES_MAX {
            return Err(format!("`prompt` must have 1 to {PROMPT_BYTES_MAX} bytes"));
        }
        let days = match self.days {
            None => Weekday::Monday.cycle_forward().take(7).collect(),
            Some(days) if days.is_empty() => {
                return Err("`days` names no day; leave it out for every day".to_owned());
            }
            Some(days) => days.into_iter().map(Day::weekday).collect(),
        };
        let zone = match self.zone {
            None => zone.clone(),
            Some(zone) => zone_of(Some(&zone), "heartbeats.toml").map_err(|error| error.message)?,
        };
        let usual = HeartbeatBudget::default();
        let budget = HeartbeatBudget {
            requests_day_max: self.requests_day_max.unwrap_or(usual.requests_day_max),
            tokens_day_max: self.tokens_day_max.unwrap_or(usual.tokens_day_max),
        };
        if budget.requests_day_max == 0 || budget.tokens_day_max == 0 {
            return Err("a budget of 0 lets it do nothing; take the entry out instead".to_owned());
        }
        Ok(Heartbeat {
            name,
            times,
            days,
            active: self.active.as_deref().map(active).transpose()?,
            zone,
            prompt,
            chat: self.chat,
            check: self.check.map(Check::means).transpose()?,
            budget,
            revision,
        })
    }
}

fn times(at: Option<Vec<String>>, every: Option<String>) -> Result<HeartbeatTimes, String> {
    match (at, every) {
        (Some(at), None) if !at.is_empty() => {
            let mut times = at.iter().map(|at| time(at)).collect::<Result<Vec<_>, _>>()?;
            times.sort_unstable();
            times.dedup();
            Ok(HeartbeatTimes::At(times))
        }
        (None, Some(every)) => Ok(HeartbeatTimes::EveryMinutes(minutes(&every)?)),
        _ => Err("say when by exactly one of `at = [\"07:30\"]` and `every = \"30m\"`".to_owned()),
    }
}

/// `07:30`.
fn time(written: &str) -> Result<Time, String> {
    let read = || {
        let (hour, minute) = written.split_once(':')?;
        let is_two = |digits: &str| digits.len() == 2 && digits.bytes().all(|b| b.is_ascii_digit());
        if !is_two(hour) || !is_two(minute) {
            return None;
        }
        Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()
    };
    read().ok_or_else(|| format!("`{written}` is no time of the day; write it as `07:30`"))
}

/// `30m` or `2h`.
fn minutes(written: &str) -> Result<i64, String> {
    let read = |end: char, minutes: i64| {
        let count = written.strip_suffix(end)?;
        let is_number = count.len() <= 4 && count.bytes().all(|b| b.is_ascii_digit());
        if is_number { count.parse::<i64>().ok()?.checked_mul(minutes) } else { None }
    };
    read('m', 1)
        .or_else(|| read('h', 60))
        .filter(|m| (1..=EVERY_MINUTES_MAX).contains(m))
        .ok_or_else(|| {
            format!("`every = \"{written}\"` is none of `1m` to `24h`; write it as `30m` or `2h`")
        })
}

/// `08:00-22:00`.
fn active(written: &str) -> Result<(Time, Time), String> {
    let (from, to) = written
        .split_once('-')
        .ok_or_else(|| format!("`active = \"{written}\"` is no span; write it as `08:00-22:00`"))?;
    let (from, to) = (time(from.trim())?, time(to.trim())?);
    if from == to {
        return Err(format!("`active = \"{written}\"` is empty; leave it out for the whole day"));
    }
    Ok((from, to))
}

impl Check {
    fn means(self) -> Result<HeartbeatCheck, String> {
        match (self.tool, self.command, self.arguments) {
            (Some(name), None, arguments) => {
                let (server, tool) = name.split_once('/').ok_or_else(|| {
                    format!("the tool `{name}` of `check` is written as `SERVER/TOOL`")
                })?;
                Ok(HeartbeatCheck::Tool {
                    server: server.to_owned(),
                    tool: tool.to_owned(),
                    arguments: arguments.unwrap_or_default(),
                })
            }
            (None, Some(command), None) if !command.trim().is_empty() => {
                Ok(HeartbeatCheck::Command(command))
            }
            _ => Err("`check` takes either `tool`, perhaps with `arguments`, or `command`".into()),
        }
    }
}
