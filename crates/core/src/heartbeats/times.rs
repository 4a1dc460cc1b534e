//! When a heartbeat fires, also on the days on which clocks change. Pure: the time is given. Must
//! not know what a firing does.

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan as _};

use crate::config::{Heartbeat, HeartbeatTimes};

/// So many days ahead a time is looked for: each day of the week is among them.
const DAYS_AHEAD: i64 = 8;
const MINUTE_S: i64 = 60;

/// The newest time that is not after `now`, whether it fires then or not. `None` if there was none
/// yesterday or today.
pub(super) fn newest(heartbeat: &Heartbeat, now: Timestamp) -> Option<Timestamp> {
    match &heartbeat.times {
        HeartbeatTimes::EveryMinutes(minutes) => {
            let every_s = minutes * MINUTE_S;
            Timestamp::from_second(now.as_second().div_euclid(every_s) * every_s).ok()
        }
        HeartbeatTimes::At(times) => {
            let today = now.to_zoned(heartbeat.zone.clone()).date();
            let days = [today.yesterday().ok()?, today];
            let all = days.iter().flat_map(|day| times.iter().map(move |time| (*day, *time)));
            let moments = all.filter_map(|(day, time)| moment(day, time, &heartbeat.zone));
            moments.filter(|at| *at <= now).max()
        }
    }
}

/// The next time after `now` at which it fires.
pub(super) fn next(heartbeat: &Heartbeat, now: Timestamp) -> Option<Timestamp> {
    let fires = |at: &Timestamp| *at > now && fires(heartbeat, *at);
    match &heartbeat.times {
        HeartbeatTimes::EveryMinutes(minutes) => {
            let every: Span = minutes.minutes();
            let end = now.checked_add((DAYS_AHEAD * 24).hours()).ok()?;
            let mut at = newest(heartbeat, now)?;
            while at < end {
                at = at.checked_add(every).ok()?;
                if fires(&at) {
                    return Some(at);
                }
            }
            None
        }
        HeartbeatTimes::At(times) => {
            let today = now.to_zoned(heartbeat.zone.clone()).date();
            let days = (0..=DAYS_AHEAD).filter_map(|days| today.checked_add(days.days()).ok());
            let all = days.flat_map(|day| times.iter().map(move |time| (day, *time)));
            let moments = all.filter_map(|(day, time)| moment(day, time, &heartbeat.zone));
            moments.filter(fires).min()
        }
    }
}

/// Whether it fires at one of its times: the day is one of its days, and the hour is an active one,
/// both as a clock in its zone shows them.
pub(super) fn fires(heartbeat: &Heartbeat, at: Timestamp) -> bool {
    let local = at.to_zoned(heartbeat.zone.clone());
    let is_active = heartbeat.active.is_none_or(|(from, to)| {
        let time = local.time();
        if from < to { (from..to).contains(&time) } else { time >= from || time < to }
    });
    is_active && heartbeat.days.contains(&local.weekday())
}

/// When it is so late on a day. A time that the clock jumps over is when it lands; one that comes
/// twice is the first.
fn moment(day: Date, time: Time, zone: &TimeZone) -> Option<Timestamp> {
    let ambiguous = zone.to_ambiguous_timestamp(day.to_datetime(time));
    let is_gap = matches!(ambiguous.offset(), jiff::tz::AmbiguousOffset::Gap { .. });
    let at = ambiguous.compatible().ok()?;
    if !is_gap {
        return Some(at);
    }
    let behind = at.checked_add(1.second()).ok()?;
    zone.preceding(behind).next().map(|change| change.timestamp())
}
