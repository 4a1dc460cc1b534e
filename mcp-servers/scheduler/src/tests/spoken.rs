//! Sixty times as people say them, in six zones, around the days on which the clocks change.

use serde_json::{Value, json};

use super::{Held, second};

/// Now, what the model fills in, and the firing. Empty: it is refused as past.
type Said = (&'static str, &'static str, &'static str);

/// The clock goes from 02:00 to 03:00 on 29 March and from 03:00 back to 02:00 on 25 October.
const BERLIN: [Said; 11] = [
    ("2026-03-28T20:00+01:00", r#"{"at_local":"09:00"}"#, "2026-03-29T09:00+02:00"),
    ("2026-03-28T20:00+01:00", r#"{"at_local":"02:30"}"#, "2026-03-29T03:00+02:00"),
    ("2026-03-28T20:00+01:00", r#"{"in_minutes":600}"#, "2026-03-29T07:00+02:00"),
    (
        "2026-03-28T20:00+01:00",
        r#"{"at_local":"01:59","date":"tomorrow"}"#,
        "2026-03-29T01:59+01:00",
    ),
    (
        "2026-03-28T20:00+01:00",
        r#"{"at_local":"03:00","weekday":"sunday"}"#,
        "2026-03-29T03:00+02:00",
    ),
    ("2026-03-28T20:00+01:00", r#"{"at_local":"19:00","date":"today"}"#, ""),
    ("2026-10-24T20:00+02:00", r#"{"at_local":"02:30"}"#, "2026-10-25T02:30+02:00"),
    // In the second pass: the first 02:30 is past, the second is not.
    ("2026-10-25T02:10+01:00", r#"{"at_local":"02:30"}"#, "2026-10-25T02:30+01:00"),
    ("2026-10-25T02:40+02:00", r#"{"at_local":"02:30","date":"today"}"#, "2026-10-25T02:30+01:00"),
    ("2026-10-25T02:40+02:00", r#"{"in_minutes":60}"#, "2026-10-25T02:40+01:00"),
    ("2026-10-25T02:40+01:00", r#"{"at_local":"02:30","date":"2026-10-25"}"#, ""),
];

/// From 02:00 to 03:00 on 8 March, from 02:00 back to 01:00 on 1 November.
const NEW_YORK: [Said; 10] = [
    ("2026-03-07T23:00-05:00", r#"{"at_local":"02:15"}"#, "2026-03-08T03:00-04:00"),
    ("2026-03-07T23:00-05:00", r#"{"at_local":"08:00","weekday":"sun"}"#, "2026-03-08T08:00-04:00"),
    ("2026-03-07T23:00-05:00", r#"{"in_minutes":300}"#, "2026-03-08T05:00-04:00"),
    ("2026-03-08T01:30-05:00", r#"{"at_local":"03:30"}"#, "2026-03-08T03:30-04:00"),
    ("2026-03-08T12:00-04:00", r#"{"at_local":"11:59"}"#, "2026-03-09T11:59-04:00"),
    ("2026-10-31T23:30-04:00", r#"{"at_local":"01:30"}"#, "2026-11-01T01:30-04:00"),
    (
        "2026-10-31T23:30-04:00",
        r#"{"at_local":"09:00","date":"tomorrow"}"#,
        "2026-11-01T09:00-05:00",
    ),
    ("2026-11-01T01:45-04:00", r#"{"at_local":"01:30"}"#, "2026-11-01T01:30-05:00"),
    ("2026-11-01T01:45-05:00", r#"{"at_local":"01:30"}"#, "2026-11-02T01:30-05:00"),
    ("2026-11-01T01:45-05:00", r#"{"at_local":"2026-11-01 01:30"}"#, ""),
];

/// From 02:00 to 02:30 on 4 October, from 02:00 back to 01:30 on 5 April.
const LORD_HOWE: [Said; 10] = [
    ("2026-10-03T22:00+10:30", r#"{"at_local":"02:10"}"#, "2026-10-04T02:30+11:00"),
    ("2026-10-03T22:00+10:30", r#"{"at_local":"02:30"}"#, "2026-10-04T02:30+11:00"),
    ("2026-10-03T22:00+10:30", r#"{"at_local":"02:31"}"#, "2026-10-04T02:31+11:00"),
    ("2026-10-03T22:00+10:30", r#"{"at_local":"01:59"}"#, "2026-10-04T01:59+10:30"),
    ("2026-10-03T22:00+10:30", r#"{"in_minutes":270}"#, "2026-10-04T03:00+11:00"),
    ("2026-04-04T22:00+11:00", r#"{"at_local":"01:45"}"#, "2026-04-05T01:45+11:00"),
    ("2026-04-04T22:00+11:00", r#"{"at_local":"02:00"}"#, "2026-04-05T02:00+10:30"),
    ("2026-04-05T01:50+11:00", r#"{"at_local":"01:45"}"#, "2026-04-05T01:45+10:30"),
    ("2026-04-05T01:50+11:00", r#"{"in_minutes":30}"#, "2026-04-05T01:50+10:30"),
    ("2026-04-05T03:00+10:30", r#"{"at_local":"01:45","date":"2026-04-05"}"#, ""),
];

/// At midnight: from 00:00 to 01:00 on 6 September, from 24:00 back to 23:00 on 4 April.
const SANTIAGO: [Said; 10] = [
    ("2026-09-05T20:00-04:00", r#"{"at_local":"00:00"}"#, "2026-09-06T01:00-03:00"),
    (
        "2026-09-05T20:00-04:00",
        r#"{"at_local":"00:30","date":"2026-09-06"}"#,
        "2026-09-06T01:00-03:00",
    ),
    ("2026-09-05T20:00-04:00", r#"{"at_local":"23:59"}"#, "2026-09-05T23:59-04:00"),
    (
        "2026-09-05T20:00-04:00",
        r#"{"at_local":"01:00","weekday":"sunday"}"#,
        "2026-09-06T01:00-03:00",
    ),
    (
        "2026-09-05T20:00-04:00",
        r#"{"at_local":"07:00","weekday":"saturday"}"#,
        "2026-09-12T07:00-03:00",
    ),
    ("2026-04-04T20:00-03:00", r#"{"at_local":"23:30"}"#, "2026-04-04T23:30-03:00"),
    ("2026-04-04T20:00-03:00", r#"{"at_local":"00:00"}"#, "2026-04-05T00:00-04:00"),
    ("2026-04-04T23:40-03:00", r#"{"at_local":"23:30"}"#, "2026-04-04T23:30-04:00"),
    ("2026-04-04T23:40-04:00", r#"{"at_local":"23:30"}"#, "2026-04-05T23:30-04:00"),
    ("2026-04-04T23:40-04:00", r#"{"at_local":"23:30","date":"today"}"#, ""),
];

/// No changes.
const KOLKATA: [Said; 9] = [
    ("2026-10-25T10:00+05:30", r#"{"at_local":"9:05"}"#, "2026-10-26T09:05+05:30"),
    ("2026-10-25T10:00+05:30", r#"{"at_local":"10:00"}"#, "2026-10-26T10:00+05:30"),
    ("2026-10-25T10:00+05:30", r#"{"at_local":"10:00:01"}"#, "2026-10-25T10:00:01+05:30"),
    (
        "2026-10-25T10:00+05:30",
        r#"{"at_local":"09:00","weekday":"Sunday"}"#,
        "2026-11-01T09:00+05:30",
    ),
    (
        "2026-10-25T10:00+05:30",
        r#"{"at_local":"11:00","weekday":"sunday"}"#,
        "2026-10-25T11:00+05:30",
    ),
    ("2026-10-25T10:00+05:30", r#"{"at_local":"09:00","weekday":"mon"}"#, "2026-10-26T09:00+05:30"),
    ("2026-10-25T10:00+05:30", r#"{"in_seconds":30}"#, "2026-10-25T10:00:30+05:30"),
    ("2026-10-25T10:00+05:30", r#"{"at_local":"2027-02-28T23:59"}"#, "2027-02-28T23:59+05:30"),
    ("2026-10-25T10:00+05:30", r#"{"at_local":"09:00","date":"2026-10-24"}"#, ""),
];

/// From 02:00 to 03:00 on 27 September, from 03:00 back to 02:00 on 5 April.
const AUCKLAND: [Said; 10] = [
    ("2026-09-26T21:00+12:00", r#"{"at_local":"02:00"}"#, "2026-09-27T03:00+13:00"),
    ("2026-09-26T21:00+12:00", r#"{"at_local":"02:59"}"#, "2026-09-27T03:00+13:00"),
    (
        "2026-09-26T21:00+12:00",
        r#"{"at_local":"06:30","date":"tomorrow"}"#,
        "2026-09-27T06:30+13:00",
    ),
    ("2026-09-26T21:00+12:00", r#"{"in_minutes":1440}"#, "2026-09-27T22:00+13:00"),
    ("2026-09-26T21:00+12:00", r#"{"every":"6h"}"#, "2026-09-27T04:00+13:00"),
    ("2026-04-04T21:00+13:00", r#"{"at_local":"02:30"}"#, "2026-04-05T02:30+13:00"),
    ("2026-04-04T21:00+13:00", r#"{"at_local":"03:00"}"#, "2026-04-05T03:00+12:00"),
    ("2026-04-04T21:00+13:00", r#"{"every":"6h"}"#, "2026-04-05T02:00+12:00"),
    ("2026-04-05T02:30+13:00", r#"{"at_local":"02:30"}"#, "2026-04-05T02:30+12:00"),
    ("2026-04-05T02:30+12:00", r#"{"at_local":"02:30","date":"today"}"#, ""),
];

fn check(zone: &str, said: &[Said]) {
    for (now, fields, wanted) in said {
        let mut held = Held::at(now);
        let mut fields: Value = serde_json::from_str(fields).unwrap();
        fields["zone"] = json!(zone);
        fields["say"] = json!("x");
        let shown = format!("{zone}, {now}: {fields}");
        match (held.try_add(fields), wanted) {
            (Err(error), &"") => {
                assert!(error.to_string().contains("is past: it is"), "{shown}: {error}");
            }
            (Ok(job), wanted) if !wanted.is_empty() => {
                assert_eq!(job.planned, Some(second(wanted)), "{shown}: wanted {wanted}");
            }
            (given, _) => panic!("{shown}: {given:?}"),
        }
    }
}

#[test]
fn sixty_times_mean_what_people_mean() {
    let zones = [
        ("Europe/Berlin", &BERLIN[..]),
        ("America/New_York", &NEW_YORK),
        ("Australia/Lord_Howe", &LORD_HOWE),
        ("America/Santiago", &SANTIAGO),
        ("Asia/Kolkata", &KOLKATA),
        ("Pacific/Auckland", &AUCKLAND),
    ];
    assert_eq!(zones.iter().map(|(_, said)| said.len()).sum::<usize>(), 60);
    for (zone, said) in zones {
        check(zone, said);
    }
}

#[test]
fn what_is_not_understood_is_refused_with_what_would_work() {
    let long = "x".repeat(9_000);
    for (fields, needle) in [
        (json!({"say": "x"}), "exactly one of"),
        (json!({"say": "x", "in_minutes": 5, "cron": "0 9 * * *"}), "more than one time"),
        (json!({"say": "x", "in_seconds": 5, "in_minutes": 5}), "more than one time"),
        (json!({"say": "x", "in_seconds": 5, "every": "1h"}), "more than one time"),
        (json!({"say": "x", "in_seconds": 0}), "more than 0"),
        (json!({"in_minutes": 5}), "`text`"),
        (json!({"in_minutes": 5, "say": " "}), "empty"),
        (json!({"in_minutes": 5, "say": "x", "text": "y"}), "not both"),
        (json!({"in_minutes": 5, "say": long}), "at most 8192"),
        (json!({"in_minutes": 5, "say": "x", "chat": "y".repeat(300)}), "at most 256"),
        (json!({"in_minutes": 0, "say": "x"}), "more than 0"),
        (json!({"in_minutes": -1, "say": "x"}), "more than 0"),
        (json!({"in_minutes": 1e300, "say": "x"}), "ten years"),
        (json!({"say": "x", "date": "tomorrow"}), "give the time there"),
        (json!({"say": "x", "at_local": "9"}), "write `09:00`"),
        (json!({"say": "x", "at_local": "25:00"}), "write `09:00`"),
        (json!({"say": "x", "at_local": "09:00", "date": "soon"}), "write `2026-12-24`"),
        (json!({"say": "x", "at_local": "09:00", "date": "2026-02-30"}), "write `2026-12-24`"),
        (json!({"say": "x", "at_local": "09:00", "weekday": "someday"}), "`monday`"),
        (json!({"say": "x", "at_local": "09:00", "weekday": "mon", "date": "today"}), "not both"),
        (json!({"say": "x", "every": "1 day"}), "0 9 * * *"),
        (json!({"say": "x", "every": "10s"}), "shortest interval is 60"),
        (json!({"say": "x", "every": "often"}), "write `15m`"),
        (json!({"say": "x", "every": "99999999999999999999h"}), "at most ten years"),
        (json!({"say": "x", "cron": "0 9 * *"}), "five fields"),
        (json!({"say": "x", "cron": "0 0 9 * * *"}), "five fields"),
        (json!({"say": "x", "cron": "@daily"}), "five fields"),
        (json!({"say": "x", "cron": "0 25 * * *"}), "refused"),
        (json!({"say": "x", "cron": "0 9 15W * *"}), "day of the month `15W`"),
        (json!({"say": "x", "cron": "0,,5 9 * * *"}), "empty item"),
        (json!({"say": "x", "cron": "0 9 * * FRI-MON"}), "refused"),
        (json!({"say": "x", "cron": "0 9 31 2 *"}), "never comes"),
        (json!({"say": "x", "in_minutes": 5, "zone": "Mars"}), "there is no zone `Mars`"),
        (json!({"say": "x", "every": "1h", "until": "2026-11-23 12:30"}), "end before it fires"),
        (json!({"say": "x", "every": "1h", "until": "2020-01-01"}), "is past"),
        (json!({"say": "x", "every": "1h", "jitter_s": 9_999}), "at most 3600"),
        (json!({"say": "x", "every": "1h", "if_missed": "all", "overlap": "skip"}), "latest"),
    ] {
        let mut held = Held::at("2026-11-23T12:00Z");
        let error = held.try_add(fields.clone()).unwrap_err().to_string();
        assert!(error.contains(needle), "{fields}: {error}");
        assert!(error.ends_with('.') || error.ends_with(')'), "{error}");
        assert_eq!(crate::store::jobs::count(&held.schedule.db).unwrap(), 0);
    }
}
