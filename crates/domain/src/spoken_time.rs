//! The words of a reminder, as behind `/remind`: when, then what. Owns the small grammar, and which
//! fields of the scheduler it fills; the scheduler computes the times and refuses what is past.
//! Pure. Must not know who types them.
//!
//! ```text
//! reminder = ["me"] when ["to" | "that"] TEXT
//! when     = ["in"] WAIT | "every" WAIT | [DAY] ["at"] TIME | TIME [["on"] DAY]
//!          | "every" DAYS ["at"] TIME
//! WAIT     = 20m | 90s | 2h | 1h30m | 20 minutes | 1 hour 30 minutes | 2 hours and 30 minutes …
//! TIME     = 9:00 | 21:30 | 9am | 9:30 pm | noon
//! DAY      = today | tomorrow | monday … sunday | 2026-12-24
//! DAYS     = day | weekday | monday | monday and thursday | …
//! ```

use serde_json::{Map, Value, json};

use super::escape::visible;

/// A reminder that was understood: the fields that say when, and the words to be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpokenReminder {
    pub fields: Map<String, Value>,
    pub text: String,
}

const WEEKDAYS: [&str; 7] =
    ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const TWO_TIMES: &str = "A reminder has one time, and here are two. Send one `/remind` for each of \
                         them, with all its words: `/remind every day 9:00 call mum`.";
const DAY_IS_NO_WAIT: &str = "A local day is not always 24 hours long, so days are said with a time: \
                              `/remind tomorrow 9:00 call mum`.";

/// The words that are left to read.
struct Words<'a> {
    left: &'a str,
}

impl<'a> Words<'a> {
    /// The next word as it is compared: in small letters, without a comma behind it.
    fn peek(&self) -> String {
        let word = self.left.split_whitespace().next().unwrap_or_default();
        word.trim_end_matches(',').to_lowercase()
    }

    fn skip(&mut self) {
        let left = self.left.trim_start();
        let end = left.find(char::is_whitespace).unwrap_or(left.len());
        self.left = left[end..].trim_start();
    }

    fn take_if(&mut self, word: &str) -> bool {
        let is_next = self.peek() == word;
        if is_next {
            self.skip();
        }
        is_next
    }

    /// What `read` makes of the next word, which is taken then.
    fn take<T>(&mut self, read: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        let read = read(&self.peek())?;
        self.skip();
        Some(read)
    }
}

/// Reads what stands behind `/remind`. The error is a sentence with an example, in Markdown.
pub fn read(words: &str) -> Result<SpokenReminder, String> {
    let mut words = Words { left: words.trim() };
    words.take_if("me");
    let fields = match words.take_if("every") || words.take_if("each") {
        true => again(&mut words)?,
        false => once(&mut words)?,
    };
    if !words.take_if("to") {
        words.take_if("that");
    }
    let text = words.left.trim().to_owned();
    if text.is_empty() {
        return Err("What shall I say then? For example `/remind 20m call mum`.".to_owned());
    }
    Ok(SpokenReminder { fields, text })
}

/// Seconds of `20m`, `90s`, `1h30m`, for a program that has such a word alone.
///
/// # Errors
/// A sentence with an example.
pub fn wait_s(text: &str) -> Result<u64, String> {
    seconds(text, "give a date and a time instead")
}

/// The same of an interval.
///
/// # Errors
/// A sentence with an example, and `instead` for one in days.
pub fn seconds(text: &str, instead: &str) -> Result<u64, String> {
    let text = text.trim().to_lowercase();
    match waits(&text) {
        Some(Wait::Seconds(seconds)) => Ok(seconds),
        Some(Wait::Days) => Err(format!("`{text}` is in days: {instead}")),
        None => Err(format!("`{text}` is no time; write for example 90s, 20m or 2h")),
    }
}

fn once(words: &mut Words<'_>) -> Result<Map<String, Value>, String> {
    let must_be_wait = words.take_if("in");
    match all_waits(words) {
        Some(Wait::Seconds(seconds)) => return Ok(in_seconds(seconds)),
        Some(Wait::Days) => return Err(DAY_IS_NO_WAIT.to_owned()),
        None if must_be_wait => {
            return Err("In how long? For example `/remind 20m call mum`.".to_owned());
        }
        None => {}
    }
    let has_on = words.take_if("on");
    let day = words.take(day);
    words.take_if("at");
    let time = time(words);
    match (day, time) {
        (day, Some(time)) => {
            let mut fields = Map::from_iter([("at_local".to_owned(), json!(time))]);
            fields.extend(day.map(|(field, day)| (field.to_owned(), json!(day))));
            // `9:00 tomorrow` is said as often as `tomorrow 9:00`.
            if fields.len() == 1
                && let Some((field, day)) = day_behind(words)
            {
                fields.insert(field.to_owned(), json!(day));
            }
            one_time(words).map(|()| fields)
        }
        (Some((_, day)), None) => {
            Err(format!("At what time? For example `/remind {day} 9:00 call mum`."))
        }
        (None, None) if has_on => {
            Err("On which day? For example `/remind monday 9:00 call mum`.".to_owned())
        }
        (None, None) => Err(not_understood(words)),
    }
}

/// A day behind a time. In short letters only behind `on`: `9:00 sun cream` is about no Sunday.
fn day_behind(words: &mut Words<'_>) -> Option<(&'static str, String)> {
    let before = words.left;
    let has_on = words.take_if("on");
    let found = words.take(|word| day(word).filter(|(_, day)| has_on || word.len() >= day.len()));
    if found.is_none() {
        words.left = before;
    }
    found
}

/// Refuses a second time behind the first one, which would become a part of the text.
fn one_time(words: &Words<'_>) -> Result<(), String> {
    let mut after = Words { left: words.left };
    if !after.take_if("and") {
        return Ok(());
    }
    after.take_if("on");
    after.take(day);
    after.take_if("at");
    if time(&mut after).is_some() { Err(TWO_TIMES.to_owned()) } else { Ok(()) }
}

fn again(words: &mut Words<'_>) -> Result<Map<String, Value>, String> {
    match all_waits(words) {
        Some(Wait::Seconds(seconds)) => {
            return Ok(Map::from_iter([("every".to_owned(), json!(interval(seconds)))]));
        }
        Some(Wait::Days) => {
            return Err("Which days? For example `/remind every monday 9:00 call mum`.".to_owned());
        }
        None => {}
    }
    let days = days(words).ok_or_else(|| {
        "Every what? For example `/remind every monday 9:00 call mum`, `/remind every day 9:00 …` \
         or `/remind every 2h …`; `claw schedule add` knows more."
            .to_owned()
    })?;
    words.take_if("at");
    let Some(time) = time(words) else {
        return Err("At what time? For example `/remind every monday 9:00 call mum`.".to_owned());
    };
    let (hour, minute) = time.split_once(':').unwrap_or((&time, "0"));
    let plain = |number: &str| number.parse::<u8>().unwrap_or_default();
    let cron = format!("{} {} * * {days}", plain(minute), plain(hour));
    one_time(words).map(|()| Map::from_iter([("cron".to_owned(), json!(cron))]))
}

/// The weekdays of a cron pattern.
fn days(words: &mut Words<'_>) -> Option<String> {
    for (word, days) in [("day", "*"), ("weekday", "1-5"), ("workday", "1-5")] {
        if words.take_if(word) {
            return Some(days.to_owned());
        }
    }
    let mut found = vec![words.take(weekday_number)?];
    loop {
        let before = words.left;
        words.take_if("and");
        match words.take(weekday_number) {
            Some(number) => found.push(number),
            None => {
                words.left = before;
                break;
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    Some(found.iter().map(usize::to_string).collect::<Vec<_>>().join(","))
}

fn weekday_number(word: &str) -> Option<usize> {
    let word = word.strip_suffix('s').filter(|one| one.ends_with("day")).unwrap_or(word);
    WEEKDAYS.iter().position(|name| *name == word || (word.len() == 3 && name.starts_with(word)))
}

/// The field that names a day, and what it holds.
fn day(word: &str) -> Option<(&'static str, String)> {
    match word {
        "today" | "tomorrow" => Some(("date", word.to_owned())),
        _ => match weekday_number(word) {
            Some(number) => Some(("weekday", WEEKDAYS[number].to_owned())),
            None => is_date(word).then(|| ("date", word.to_owned())),
        },
    }
}

/// `2026-12-24`. Whether there is such a day is the scheduler's to say.
fn is_date(word: &str) -> bool {
    word.len() == 10
        && word.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// A time of day, as `09:30`.
fn time(words: &mut Words<'_>) -> Option<String> {
    let mut after = Words { left: words.left };
    after.skip();
    let half = after.take(|word| half_day(word).map(|_| word.to_owned()));
    let first = words.peek();
    if let Some(half) = half
        && let Some(time) = time_of(&format!("{first}{half}"))
    {
        words.left = after.left;
        return Some(time);
    }
    words.take(time_of)
}

fn time_of(word: &str) -> Option<String> {
    if word == "noon" {
        return Some("12:00".to_owned());
    }
    let half = word.len().checked_sub(2).and_then(|at| half_day(word.get(at..)?));
    let clock = if half.is_some() { &word[..word.len() - 2] } else { word };
    let (hour, minute) = match clock.split_once(':') {
        Some((hour, minute)) if minute.len() == 2 => (hour, minute),
        None if half.is_some() => (clock, "00"),
        _ => return None,
    };
    let number = |text: &str, below: u8| {
        let is_number =
            (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u8>().ok().filter(|number| is_number && *number < below)
    };
    let (hour, minute) = (number(hour, 24)?, number(minute, 60)?);
    let hour = match half {
        None => hour,
        Some(is_after_noon) if (1..=12).contains(&hour) => hour % 12 + 12 * u8::from(is_after_noon),
        Some(_) => return None,
    };
    Some(format!("{hour:02}:{minute:02}"))
}

/// Whether it is after noon.
fn half_day(word: &str) -> Option<bool> {
    match word {
        "am" => Some(false),
        "pm" => Some(true),
        _ => None,
    }
}

enum Wait {
    Seconds(u64),
    Days,
}

/// A wait and those that follow it: `1 hour 30 minutes`, `2 hours and 30 minutes`. What follows
/// without an `and` is shorter; `20m 30 minutes of yoga` waits for 20 minutes.
fn all_waits(words: &mut Words<'_>) -> Option<Wait> {
    let is_counted = |words: &Words<'_>| words.left.starts_with(|c: char| c.is_ascii_digit());
    let counts = is_counted(words) || ["a", "an"].contains(&&*words.peek());
    let mut total = match wait(words)? {
        // `every hour 5 minutes of yoga`.
        Wait::Seconds(seconds) if counts => seconds,
        one => return Some(one),
    };
    let mut last = total;
    loop {
        let before = words.left;
        let has_and = words.take_if("and");
        let next = if is_counted(words) { wait(words) } else { None };
        match next {
            Some(Wait::Days) if has_and => return Some(Wait::Days),
            Some(Wait::Seconds(seconds)) if has_and || seconds < last => {
                total = total.checked_add(seconds)?;
                last = seconds;
            }
            _ => {
                words.left = before;
                return Some(Wait::Seconds(total));
            }
        }
    }
}

/// `20m`, or `20 minutes`.
fn wait(words: &mut Words<'_>) -> Option<Wait> {
    let first = words.peek();
    if let Some(wait) = waits(&first) {
        words.skip();
        return Some(wait);
    }
    let number = match first.as_str() {
        "a" | "an" => "1",
        // `every hour`.
        unit if unit_s(unit).is_some_and(|unit_s| unit_s < DAY_S) && unit.len() > 1 => {
            words.skip();
            return unit_s(unit).map(Wait::Seconds);
        }
        number => number,
    };
    let mut after = Words { left: words.left };
    after.skip();
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number {
        return None;
    }
    let unit = after.peek();
    // `9 am` is a time, and a single letter may begin the text.
    let both = waits(&format!("{number}{unit}")).filter(|_| unit.len() > 1 || unit == "m")?;
    after.skip();
    words.left = after.left;
    Some(both)
}

const DAY_S: u64 = 86_400;

/// `90s`, `1h30m`.
fn waits(word: &str) -> Option<Wait> {
    let (mut seconds, mut left, mut has_days) = (0_u64, word, false);
    while !left.is_empty() {
        let digits = left.bytes().take_while(u8::is_ascii_digit).count();
        let number: u64 = left.get(..digits)?.parse().ok()?;
        let rest = &left[digits..];
        let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let unit = unit_s(rest.get(..letters)?)?;
        has_days |= unit >= DAY_S;
        seconds = seconds.checked_add(number.checked_mul(unit)?)?;
        left = &rest[letters..];
    }
    match seconds {
        _ if has_days => Some(Wait::Days),
        0 => None,
        seconds => Some(Wait::Seconds(seconds)),
    }
}

fn unit_s(unit: &str) -> Option<u64> {
    Some(match unit {
        "s" | "sec" | "secs" | "second" | "seconds" => 1,
        "m" | "min" | "mins" | "minute" | "minutes" => 60,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600,
        "d" | "days" => DAY_S,
        "w" | "week" | "weeks" => 7 * DAY_S,
        _ => return None,
    })
}

fn in_seconds(seconds: u64) -> Map<String, Value> {
    let (field, count) = match seconds % 60 {
        0 => ("in_minutes", seconds / 60),
        _ => ("in_seconds", seconds),
    };
    Map::from_iter([(field.to_owned(), json!(count))])
}

/// As the scheduler reads it.
pub fn interval(seconds: u64) -> String {
    match (seconds % 3_600, seconds % 60) {
        (0, _) => format!("{}h", seconds / 3_600),
        (_, 0) => format!("{}m", seconds / 60),
        _ => format!("{seconds}s"),
    }
}

fn not_understood(words: &Words<'_>) -> String {
    let word = words.left.split_whitespace().next().unwrap_or_default();
    let said = match word {
        "" => "When?".to_owned(),
        word => format!("`{}` is no time that I know.", visible(word).replace('`', "'")),
    };
    format!(
        "{said} For example `/remind 20m call mum`, `/remind tomorrow 9:00 …`, \
         `/remind every monday 9:00 …`."
    )
}

#[cfg(test)]
mod tests;
