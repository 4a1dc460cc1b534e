//! Patterns on the days on which the clocks change: times of day once, steps by real time.

use jiff::Timestamp;
use serde_json::json;

use super::{Held, second};

/// The firings of a pattern from a time on, as local times with their offset.
fn local(pattern: &str, zone: &str, from: &str, to: &str) -> Vec<String> {
    let found = crate::firings(pattern, zone, second(from) - 1, second(to)).unwrap();
    let zone = jiff::tz::TimeZone::get(zone).unwrap();
    found
        .into_iter()
        .map(|at| {
            let at = Timestamp::from_second(at).unwrap().to_zoned(zone.clone());
            at.strftime("%d %H:%M %:z").to_string()
        })
        .collect()
}

#[test]
fn times_of_day_in_the_gap_fire_at_its_end_and_once() {
    let spring = |pattern: &str| {
        local(pattern, "Europe/Berlin", "2026-03-29T00:00+01:00", "2026-03-29T04:30+02:00")
    };
    assert_eq!(spring("30 2 * * *"), ["29 03:00 +02:00"]);
    assert_eq!(spring("0,15,30 2 * * *"), ["29 03:00 +02:00"], "several together once");
    assert_eq!(spring("0 2,3 * * *"), ["29 03:00 +02:00"], "and once with its own time");
    assert_eq!(spring("30 1-3 * * *"), ["29 01:30 +01:00", "29 03:00 +02:00", "29 03:30 +02:00"]);
    assert_eq!(spring("0 1-5/2 * * *"), ["29 01:00 +01:00", "29 03:00 +02:00"]);
    // By real time the clock never shows these.
    assert!(spring("*/30 2 * * *").is_empty());
    assert_eq!(spring("30 */2 * * *"), ["29 00:30 +01:00", "29 04:30 +02:00"]);
    let half = local(
        "15 2 * * *",
        "Australia/Lord_Howe",
        "2026-10-04T00:00+10:30",
        "2026-10-04T12:00+11:00",
    );
    assert_eq!(half, ["04 02:30 +11:00"], "a gap of half an hour");
    let midnight =
        local("0 0 * * *", "America/Santiago", "2026-09-05T12:00-04:00", "2026-09-07T12:00-03:00");
    assert_eq!(midnight, ["06 01:00 -03:00", "07 00:00 -03:00"], "a day without midnight");
}

#[test]
fn times_of_day_in_the_overlap_fire_the_first_time_only() {
    let autumn = |pattern: &str| {
        local(pattern, "Europe/Berlin", "2026-10-25T01:00+02:00", "2026-10-25T03:30+01:00")
    };
    assert_eq!(autumn("30 2 * * *"), ["25 02:30 +02:00"]);
    assert_eq!(
        autumn("0,30 1-3 * * *"),
        [
            "25 01:00 +02:00",
            "25 01:30 +02:00",
            "25 02:00 +02:00",
            "25 02:30 +02:00",
            "25 03:00 +01:00",
            "25 03:30 +01:00"
        ]
    );
    // By real time the clock shows these twice.
    assert_eq!(
        autumn("*/30 2 * * *"),
        ["25 02:00 +02:00", "25 02:30 +02:00", "25 02:00 +01:00", "25 02:30 +01:00"]
    );
    assert_eq!(autumn("*/30 2 25 10 *").len(), 4, "also where no other day follows for a year");
    assert_eq!(autumn("30 */2 * * *"), ["25 02:30 +02:00", "25 02:30 +01:00"]);
    let half = local(
        "45 * * * *",
        "Australia/Lord_Howe",
        "2026-04-05T01:00+11:00",
        "2026-04-05T02:45+10:30",
    );
    assert_eq!(half, ["05 01:45 +11:00", "05 01:45 +10:30", "05 02:45 +10:30"]);
}

#[test]
fn a_daily_job_fires_once_on_each_of_three_years_of_days() {
    for zone in ["Europe/Berlin", "America/Santiago", "Australia/Lord_Howe", "Africa/Cairo"] {
        for time in ["0 0", "30 1", "30 2", "0 3", "59 23"] {
            let mut held = Held::at("2026-01-01T12:00Z");
            held.add(json!({"say": "x", "cron": format!("{time} * * *"), "zone": zone}));
            let fired = held.pass(second("2029-01-01T12:00Z"));
            let zone_rules = jiff::tz::TimeZone::get(zone).unwrap();
            let days: std::collections::BTreeSet<_> = fired
                .iter()
                .map(|(_, planned, _)| {
                    zone_rules.to_datetime(Timestamp::from_second(*planned).unwrap()).date()
                })
                .collect();
            assert_eq!((fired.len(), days.len()), (1_096, 1_096), "{time} in {zone}");
            assert!(fired.iter().all(|(now, planned, _)| now == planned), "none is late");
        }
    }
}

#[test]
fn no_pattern_is_asked_for_ever() {
    // 29 February on a Monday: every 28 years.
    let found = crate::firings("0 0 29 2 */7", "UTC", second("2026-01-01T00:00Z"), i64::MAX / 4);
    assert!(!found.unwrap().is_empty());
    let never = crate::firings(
        "*/5 * 31 2,4 *",
        "Europe/Berlin",
        second("2026-01-01T00:00Z"),
        i64::MAX / 4,
    );
    assert!(never.unwrap().is_empty());
}
