//! Times, days and active hours in zones whose clocks change.

use jiff::civil::{Weekday, time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

use super::super::times::{fires, newest, next};
use crate::config::{Heartbeat, HeartbeatBudget, HeartbeatTimes};

const ZONES: [&str; 6] = [
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Africa/Cairo",
    "Asia/Kathmandu",
    "America/Santiago",
];

pub(super) fn heartbeat(times: HeartbeatTimes, zone: &str) -> Heartbeat {
    Heartbeat {
        name: "inbox".into(),
        times,
        days: Weekday::Monday.cycle_forward().take(7).collect(),
        active: None,
        zone: TimeZone::get(zone).unwrap(),
        prompt: "Look.".into(),
        chat: None,
        check: None,
        budget: HeartbeatBudget::default(),
        revision: 1,
    }
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// Every time of a year.
fn of_2026(heartbeat: &Heartbeat) -> Vec<Timestamp> {
    let in_zone = |day: &str| day.parse::<jiff::civil::Date>().unwrap();
    let start = |day| in_zone(day).to_zoned(heartbeat.zone.clone()).unwrap().timestamp();
    let (begin, end) = (start("2026-01-01"), start("2027-01-01"));
    let mut now = begin.checked_sub(1.second()).unwrap();
    let mut all = Vec::new();
    while let Some(at) = next(heartbeat, now).filter(|at| *at < end) {
        assert_eq!(newest(heartbeat, at), Some(at), "{now}");
        all.push(at);
        now = at;
    }
    all
}

#[test]
fn a_time_of_the_day_comes_once_each_day_whatever_the_clock_does() {
    for zone in ZONES {
        for (hour, minute) in [(0, 30), (2, 0), (2, 30), (3, 0), (23, 59)] {
            let of = heartbeat(HeartbeatTimes::At(vec![time(hour, minute, 0, 0)]), zone);
            let mut days: Vec<_> =
                of_2026(&of).iter().map(|at| at.to_zoned(of.zone.clone()).date()).collect();
            assert_eq!(days.len(), 365, "{zone} {hour}:{minute}");
            days.dedup();
            assert_eq!(days.len(), 365, "{zone} {hour}:{minute}");
        }
    }
}

#[test]
fn a_time_that_is_jumped_over_comes_when_the_clock_lands_and_one_that_comes_twice_at_first() {
    let berlin = |times| heartbeat(HeartbeatTimes::At(times), "Europe/Berlin");
    let of = berlin(vec![time(2, 15, 0, 0), time(2, 45, 0, 0)]);
    let landing = at("2026-03-29T01:00:00Z");
    assert_eq!(next(&of, at("2026-03-29T00:00:00Z")), Some(landing));
    assert_eq!(next(&of, landing), Some(at("2026-03-30T00:15:00Z")), "both fire there, once");
    let of = berlin(vec![time(2, 30, 0, 0)]);
    assert_eq!(next(&of, at("2026-10-24T23:00:00Z")), Some(at("2026-10-25T00:30:00Z")));
    assert_eq!(next(&of, at("2026-10-25T00:30:00Z")), Some(at("2026-10-26T01:30:00Z")));
}

#[test]
fn an_interval_goes_by_real_time_and_keeps_to_the_hours_that_a_clock_shows() {
    for zone in ZONES {
        let of = |active| {
            let every = HeartbeatTimes::EveryMinutes(15);
            Heartbeat { active: Some(active), ..heartbeat(every, zone) }
        };
        let by_day = of((time(8, 0, 0, 0), time(22, 0, 0, 0)));
        let at_night = of((time(22, 0, 0, 0), time(8, 0, 0, 0)));
        let (days, nights) = (of_2026(&by_day), of_2026(&at_night));
        let hour = |at: &Timestamp| at.to_zoned(by_day.zone.clone()).hour();
        assert!(days.iter().all(|at| (8..22).contains(&hour(at))), "{zone}");
        assert!(nights.iter().all(|at| !(8..22).contains(&hour(at))), "{zone}");
        // Clocks change at night, and each quarter of an hour of the year is in one of both.
        assert_eq!(days.len(), 365 * 14 * 4, "{zone}");
        let of_year = heartbeat(HeartbeatTimes::EveryMinutes(15), zone);
        assert_eq!(days.len() + nights.len(), of_2026(&of_year).len(), "{zone}");
    }
}

#[test]
fn a_day_is_the_day_of_its_zone() {
    let mut of = heartbeat(HeartbeatTimes::At(vec![time(1, 0, 0, 0)]), "Asia/Tokyo");
    of.days = vec![Weekday::Monday];
    let sunday_in_london = at("2026-11-22T16:00:00Z");
    assert_eq!(next(&of, at("2026-11-20T00:00:00Z")), Some(sunday_in_london));
    assert!(fires(&of, sunday_in_london));
    assert!(!fires(&of, at("2026-11-23T16:00:00Z")));
}
