//! Times of notes: what people write is read, what is written is RFC 3339 in UTC, what is shown is
//! a day and an age. Must not know which time a field means.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

const DAY_S: i64 = 86_400;

/// A day, a time of a day, or an instant. Without a zone it is UTC.
pub fn parse(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Ok(instant) = text.parse::<Timestamp>() {
        return Some(instant.as_second());
    }
    // A month alone is its first day.
    let day = if text.len() == 7 { format!("{text}-01") } else { text.to_owned() };
    let civil = day
        .parse::<Date>()
        .map(|date| date.at(0, 0, 0, 0))
        .or_else(|_| text.parse::<DateTime>())
        .ok()?;
    Some(civil.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second())
}

pub fn now() -> i64 {
    Timestamp::now().as_second()
}

/// As it is written into front matter. A time that no calendar holds is the start of 1970.
pub fn rfc3339(seconds: i64) -> String {
    Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH).to_string()
}

/// Now, for names that sort by it: `20261123T101112123456789`.
pub fn sortable_now() -> String {
    let now = Timestamp::now();
    let second: String =
        rfc3339(now.as_second()).chars().filter(char::is_ascii_alphanumeric).collect();
    format!("{}{:09}", second.trim_end_matches('Z'), now.subsec_nanosecond())
}

/// The day in UTC.
pub fn day(seconds: i64) -> String {
    rfc3339(seconds).chars().take(10).collect()
}

/// How long ago, in the largest unit that fits: "3 days ago".
pub fn age(then: i64, now: i64) -> String {
    let days = (now - then).div_euclid(DAY_S);
    let of =
        |count: i64, unit: &str| format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" });
    match days {
        ..-1 => format!("in {} days", -days),
        -1 => "in a day".to_owned(),
        0 => "today".to_owned(),
        1..14 => of(days, "day"),
        14..61 => of(days / 7, "week"),
        61..730 => of(days / 30, "month"),
        _ => of(days / 365, "year"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_is_read() {
        let day = 1_795_392_000;
        for text in [
            "2026-11-23",
            "2026-11-23T00:00:00Z",
            "2026-11-23 00:00:00",
            "2026-11-23T02:00:00+02:00",
        ] {
            assert_eq!(parse(text), Some(day), "{text}");
        }
        assert_eq!(parse("2026-11"), Some(1_793_491_200));
        for text in ["", "soon", "23.11.2026", "2026-13-01"] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(rfc3339(day), "2026-11-23T00:00:00Z");
        assert_eq!(super::day(day), "2026-11-23");
    }

    #[test]
    fn ages_are_said_in_the_unit_that_fits() {
        let cases = [
            (0, "today"),
            (1, "1 day ago"),
            (13, "13 days ago"),
            (21, "3 weeks ago"),
            (90, "3 months ago"),
            (800, "2 years ago"),
        ];
        for (days, said) in cases {
            assert_eq!(age(0, days * DAY_S), said);
        }
        assert_eq!(age(3 * DAY_S, 0), "in 3 days");
    }
}
