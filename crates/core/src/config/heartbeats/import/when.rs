//! When an entry of another file fires: a pattern, an interval, or times of the day, under the
//! names that programs give them. Must not know the fields of a pattern.

use serde_json::{Map, Value};

use super::cron;
use super::fields::{self, text};
use crate::domain::spoken_time::wait_s;

const PATTERN: &[&str] = &["cron", "expr", "expression", "pattern"];
const EVERY: &[&str] = &["every", "interval"];
const TIMES: &[&str] = &["times", "at", "time"];
/// Intervals that are numbers, with what one of them is in milliseconds.
const NUMBERS: &[(&str, u64)] = &[
    ("every_minutes", 60_000),
    ("everyMinutes", 60_000),
    ("interval_minutes", 60_000),
    ("intervalMinutes", 60_000),
    ("every_seconds", 1_000),
    ("interval_seconds", 1_000),
    ("intervalSeconds", 1_000),
    ("everyMs", 1),
    ("every_ms", 1),
    ("intervalMs", 1),
    ("interval_ms", 1),
];
const MINUTE_MS: u64 = 60_000;
const DAY_MINUTES: u64 = 24 * 60;

/// Takes out what says when, and writes what that is here.
pub(super) fn times(from: &mut Map<String, Value>, to: &mut toml::Table) -> Result<(), String> {
    match from.remove("schedule") {
        Some(Value::Object(mut inner)) => {
            inner.remove("kind");
            inner.remove("type");
            fields::zone(&mut inner, to);
            plain(&mut inner, to)?;
            match inner.keys().next() {
                None => Ok(()),
                Some(key) => Err(format!("its schedule has a `{key}`, which is nothing here")),
            }
        }
        Some(Value::String(words)) => spoken(&words, to),
        Some(Value::Null) | None => plain(from, to),
        Some(other) => Err(format!("its schedule is `{other}`, which is no time")),
    }
}

/// Without words around it.
fn plain(from: &mut Map<String, Value>, to: &mut toml::Table) -> Result<(), String> {
    let mut found = false;
    if let Some(pattern) = text(from, PATTERN) {
        spoken(&pattern, to)?;
        found = true;
    }
    for (key, ms) in NUMBERS {
        if let Some(count) = from.get(*key).and_then(Value::as_u64) {
            from.remove(*key);
            every(count.saturating_mul(*ms), to)?;
            once(&mut found)?;
        }
    }
    if let Some(words) = text(from, EVERY) {
        spoken(&format!("every {words}"), to)?;
        once(&mut found)?;
    }
    if let Some(key) = TIMES.iter().find(|key| from.contains_key(**key)) {
        let times = match from.remove(*key) {
            Some(Value::Array(times)) => times,
            Some(one) => vec![one],
            None => Vec::new(),
        };
        let times: Result<Vec<_>, _> = times.iter().map(time).collect();
        to.insert("at".into(), times?.into());
        once(&mut found)?;
    }
    if found {
        Ok(())
    } else {
        Err("it says no time: no pattern, interval or time of day".to_owned())
    }
}

fn once(found: &mut bool) -> Result<(), String> {
    if *found {
        return Err("it says twice when it fires".to_owned());
    }
    *found = true;
    Ok(())
}

/// `7:30` is `07:30`. A moment with its date comes once, which no heartbeat does.
fn time(value: &Value) -> Result<toml::Value, String> {
    let text = value.as_str().unwrap_or_default().trim();
    let Some((hour, minute)) = text.split_once(':').filter(|_| text.len() <= 5) else {
        return Err(format!(
            "`{}` is no time of the day; what comes once is a job: `claw schedule add --at`",
            value.as_str().map_or_else(|| value.to_string(), str::to_owned)
        ));
    };
    Ok(format!("{hour:0>2}:{minute}").into())
}

/// `every 30m`, `30m`, `@hourly`, or a pattern.
fn spoken(words: &str, to: &mut toml::Table) -> Result<(), String> {
    let words = words.trim();
    if let Some(wait) = words.strip_prefix("every ").or_else(|| words.strip_prefix("@every ")) {
        let seconds = wait_s(wait).or_else(|_| wait_s(&format!("1{}", wait.trim())));
        return every(seconds?.saturating_mul(1000), to);
    }
    match words {
        "@hourly" => every(60 * MINUTE_MS, to),
        "@daily" | "@midnight" => cron::times("0 0 * * *", to),
        "@weekly" => cron::times("0 0 * * 0", to),
        _ if words.split_whitespace().count() >= 5 => cron::times(words, to),
        _ => match wait_s(words) {
            Ok(seconds) => every(seconds.saturating_mul(1000), to),
            Err(_) => Err(format!("`{words}` is no pattern of five fields and no interval")),
        },
    }
}

fn every(ms: u64, to: &mut toml::Table) -> Result<(), String> {
    let minutes = ms / MINUTE_MS;
    if !ms.is_multiple_of(MINUTE_MS) || !(1..=DAY_MINUTES).contains(&minutes) {
        return Err(format!(
            "its interval is {} s, and a heartbeat comes every 1 minute to 24 hours, in whole minutes",
            ms / 1000
        ));
    }
    to.insert("every".into(), format!("{minutes}m").into());
    Ok(())
}
