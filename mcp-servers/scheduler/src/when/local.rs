//! A local time as somebody says it: a time of day, with a date or a weekday. Owns which instant it
//! means, and that it lies ahead; must not know jobs.

use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::AmbiguousOffset;
use jiff::{Timestamp, ToSpan as _};

use super::walk;
use crate::error::{Result, ToolError};
use crate::zone::Zone;

/// The last second of a day, for an end that is a date.
const DAY_END: Time = Time::constant(23, 59, 59, 0);

/// The instant of a time of day: on the date, on the next such weekday, or the next time at all.
///
/// # Errors
/// A part is not understood, or the time is past.
pub fn instant(
    at_local: &str,
    date: Option<&str>,
    weekday: Option<&str>,
    zone: &Zone,
    now: i64,
) -> Result<i64> {
    let here = zone.rules.to_datetime(Timestamp::from_second(now).unwrap_or_default());
    let (own_date, time) = split(at_local)?;
    let date = match (own_date, date) {
        (Some(_), Some(_)) => {
            return Err(refused("the date stands in `at_local` and in `date`; leave one out"));
        }
        (Some(date), None) => Some(date),
        (None, Some(text)) => Some(day(text, here.date())?),
        (None, None) => None,
    };
    match (date, weekday) {
        (Some(_), Some(_)) => Err(refused("give a date or a weekday, not both")),
        (Some(date), None) => ahead(date.to_datetime(time), zone, now)
            .ok_or_else(|| past(date.to_datetime(time), zone, now)),
        (None, Some(text)) => {
            let wanted = weekday_named(text)?;
            first_ahead(here.date(), time, zone, now, |day| day.weekday() == wanted)
        }
        (None, None) => first_ahead(here.date(), time, zone, now, |_| true),
    }
}

/// The first of the days from `from` on whose time lies ahead.
fn first_ahead(
    from: Date,
    time: Time,
    zone: &Zone,
    now: i64,
    wanted: impl Fn(Date) -> bool,
) -> Result<i64> {
    let days = std::iter::successors(Some(from), |day| day.tomorrow().ok());
    let mut at = days
        .take(15)
        .filter(|day| wanted(*day))
        .filter_map(|day| ahead(day.to_datetime(time), zone, now));
    at.next().ok_or_else(|| refused("no such time comes within two weeks"))
}

/// Where a local time lies ahead of now. Of two that the clock shows it is the first that does.
fn ahead(local: DateTime, zone: &Zone, now: i64) -> Option<i64> {
    let second = match zone.rules.to_ambiguous_timestamp(local).offset() {
        AmbiguousOffset::Fold { after, .. } => after.to_timestamp(local).ok(),
        AmbiguousOffset::Unambiguous { .. } | AmbiguousOffset::Gap { .. } => None,
    };
    let first = walk::instant_of(zone, local);
    [first, second].into_iter().flatten().map(Timestamp::as_second).find(|at| *at > now)
}

/// The end of a job: a date means its last second.
///
/// # Errors
/// It is not understood, or past.
pub fn end_of(until: &str, zone: &Zone, now: i64) -> Result<i64> {
    let here = zone.rules.to_datetime(Timestamp::from_second(now).unwrap_or_default());
    let local = match split(until) {
        Ok((Some(date), time)) => date.to_datetime(time),
        Ok((None, _)) | Err(_) => day(until, here.date())
            .map_err(|_| {
                refused(format!(
                    "the end `{until}` is not understood; write `2026-12-24` or `2026-12-24 18:00`"
                ))
            })?
            .to_datetime(DAY_END),
    };
    ahead(local, zone, now).ok_or_else(|| past(local, zone, now))
}

/// `09:00`, `9:30:15`, and the same behind a date.
fn split(text: &str) -> Result<(Option<Date>, Time)> {
    let text = text.trim();
    let (date, time) = match text.split_once(['T', ' ']) {
        Some((date, time)) => (Some(date), time.trim()),
        None => (None, text),
    };
    let wrong = || {
        refused(format!(
            "the time `{text}` is not understood; write `09:00`, with the day in `date` or `weekday`"
        ))
    };
    let date = date.map(str::parse::<Date>).transpose().map_err(|_| wrong())?;
    let parts: Vec<&str> = time.split(':').collect();
    let is_number =
        |part: &&str| (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    if !(2..=3).contains(&parts.len()) || !parts.iter().all(is_number) {
        return Err(wrong());
    }
    let number = |place: usize| parts.get(place).map_or(Ok(0), |part| part.parse::<i8>());
    let (Ok(hour), Ok(minute), Ok(second)) = (number(0), number(1), number(2)) else {
        return Err(wrong());
    };
    Ok((date, Time::new(hour, minute, second, 0).map_err(|_| wrong())?))
}

fn day(text: &str, today: Date) -> Result<Date> {
    let wrong = || {
        refused(format!(
            "the date `{text}` is not understood; write `2026-12-24`, `today` or `tomorrow`"
        ))
    };
    match text.trim().to_lowercase().as_str() {
        "today" => Ok(today),
        "tomorrow" => today.checked_add(1.day()).map_err(|_| wrong()),
        other => other.parse().map_err(|_| wrong()),
    }
}

fn weekday_named(text: &str) -> Result<Weekday> {
    let known = [
        ("monday", Weekday::Monday),
        ("tuesday", Weekday::Tuesday),
        ("wednesday", Weekday::Wednesday),
        ("thursday", Weekday::Thursday),
        ("friday", Weekday::Friday),
        ("saturday", Weekday::Saturday),
        ("sunday", Weekday::Sunday),
    ];
    let text = text.trim().to_lowercase();
    known
        .into_iter()
        .find(|(name, _)| *name == text || (text.len() == 3 && name.starts_with(&text)))
        .map(|(_, weekday)| weekday)
        .ok_or_else(|| {
            refused(format!("the weekday `{text}` is not understood; write `monday` to `sunday`"))
        })
}

fn past(local: DateTime, zone: &Zone, now: i64) -> ToolError {
    let now = zone.moment(now).line();
    let local = local.strftime("%Y-%m-%d %H:%M");
    refused(format!("{local} in {} is past: it is {now}. Give a time that lies ahead", zone.name))
}

fn refused(why: impl std::fmt::Display) -> ToolError {
    ToolError::refused(format!("{why}."))
}
