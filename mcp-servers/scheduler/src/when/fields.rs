//! The fields that a model fills to say when. Owns that exactly one kind is given, and what each
//! means now; must not know jobs.

use claw_kit::counted::counted;

use super::{Rule, Times, local};
use crate::error::{Result, ToolError};
use crate::zone::Zone;

/// The longest wait, in minutes, and the longest interval: ten years.
const MINUTES_MAX: f64 = 5_256_000.0;

/// Firings whose distances are compared with the shortest interval.
const DISTANCES: usize = 64;

const KINDS: &str =
    "Give exactly one of `in_seconds`, `in_minutes`, `at_local`, `every` and `cron`";

/// As they were filled.
#[derive(Clone, Debug, Default)]
pub struct Fields {
    pub in_seconds: Option<u64>,
    pub in_minutes: Option<f64>,
    pub at_local: Option<String>,
    pub date: Option<String>,
    pub weekday: Option<String>,
    pub every: Option<String>,
    pub cron: Option<String>,
}

impl Fields {
    /// Whether any is filled.
    pub fn is_empty(&self) -> bool {
        self.in_seconds.is_none()
            && self.in_minutes.is_none()
            && [&self.at_local, &self.date, &self.weekday, &self.every, &self.cron]
                .into_iter()
                .all(Option::is_none)
    }

    /// The rule that they mean.
    ///
    /// # Errors
    /// None or several kinds are filled, one is not understood, or nothing lies ahead.
    pub fn rule(&self, zone: &Zone, now: i64, interval_s_min: u64) -> Result<Rule> {
        let has_day = self.date.is_some() || self.weekday.is_some();
        if has_day && self.at_local.is_none() {
            return Err(ToolError::refused(
                "`date` and `weekday` say the day of `at_local`: give the time there, for example `09:00`.",
            ));
        }
        let wait = match (self.in_seconds, self.in_minutes) {
            (Some(_), Some(_)) => return Err(several()),
            (Some(seconds), None) => Some(wait("in_seconds", seconds as f64 / 60.0)?),
            (None, minutes) => minutes.map(|minutes| wait("in_minutes", minutes)).transpose()?,
        };
        let rule = match (wait, &self.at_local, &self.every, &self.cron) {
            (Some(wait), None, None, None) => Rule::Once { at: now + wait },
            (None, Some(at), None, None) => {
                let (date, weekday) = (self.date.as_deref(), self.weekday.as_deref());
                Rule::Once { at: local::instant(at, date, weekday, zone, now)? }
            }
            (None, None, Some(every), None) => {
                let seconds = seconds_of(every)?;
                Rule::Every { seconds, anchor: now + seconds }
            }
            (None, None, None, Some(cron)) => Rule::Cron { pattern: cron.trim().to_owned() },
            (None, None, None, None) => {
                return Err(ToolError::refused(format!("when? {KINDS}.")));
            }
            _ => return Err(several()),
        };
        check(&rule, zone, now, interval_s_min)?;
        Ok(rule)
    }
}

/// Refuses what never fires and what fires too often.
fn check(rule: &Rule, zone: &Zone, now: i64, interval_s_min: u64) -> Result<()> {
    let times = Times::new(rule, zone, None)?;
    let first: Vec<i64> = times.after(now).take(DISTANCES).collect();
    if first.is_empty() {
        return Err(ToolError::refused(format!(
            "{} never comes (none in 50 years).",
            rule.line(zone)
        )));
    }
    let shortest = first.windows(2).map(|pair| pair[1] - pair[0]).min();
    match shortest.and_then(|seconds| u64::try_from(seconds).ok()) {
        Some(seconds) if seconds < interval_s_min => Err(ToolError::refused(format!(
            "that fires every {}; the shortest interval is {interval_s_min} seconds.",
            counted(seconds, "second")
        ))),
        _ => Ok(()),
    }
}

fn several() -> ToolError {
    ToolError::refused(format!("that is more than one time. {KINDS}."))
}

/// Whole seconds, at least one.
fn wait(field: &str, minutes: f64) -> Result<i64> {
    if !(minutes > 0.0 && minutes <= MINUTES_MAX) {
        return Err(ToolError::refused(format!(
            "`{field}` has to be more than 0 and at most ten years."
        )));
    }
    #[expect(clippy::cast_possible_truncation, reason = "it is at most ten years of seconds")]
    let seconds = (minutes * 60.0).round() as i64;
    Ok(seconds.max(1))
}

/// `30s`, `15m`, `2h`. Days are refused: a day of local time is not always 24 hours.
fn seconds_of(every: &str) -> Result<i64> {
    let text = every.trim().to_lowercase();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let wrong = |why: &str| Err(ToolError::refused(format!("every `{every}` {why}")));
    let unit_s = match unit.trim() {
        "s" | "sec" | "second" | "seconds" => 1,
        "m" | "min" | "minute" | "minutes" => 60,
        "h" | "hour" | "hours" => 3_600,
        "d" | "day" | "days" | "w" | "week" | "weeks" => {
            return wrong(
                "is refused: a local day is not always 24 hours long. Use `cron`: `0 9 * * *` is every day at 09:00, `0 9 * * 1` every Monday.",
            );
        }
        _ => return wrong("is not understood; write `15m`, `2h` or `90s`."),
    };
    match number.parse::<i64>().ok().and_then(|number| number.checked_mul(unit_s)) {
        #[expect(clippy::cast_precision_loss, reason = "only compared with a bound")]
        Some(seconds) if seconds > 0 && seconds as f64 <= MINUTES_MAX * 60.0 => Ok(seconds),
        _ => wrong("is not understood; write `15m`, `2h` or `90s`, at most ten years."),
    }
}

/// An interval in words.
pub fn interval(seconds: i64) -> String {
    for (unit_s, unit) in [(3_600, "hour"), (60, "minute")] {
        if seconds % unit_s == 0 {
            let count = seconds / unit_s;
            return format!("{count} {unit}{}", if count == 1 { "" } else { "s" });
        }
    }
    counted(seconds, "second")
}
