//! Times as a person reads them at a door: in the local zone, short. Must not know what happens at
//! them.

use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::domain::UnixMillis;

/// The time and its zone, so that tests do not depend on where they run.
#[derive(Clone, Debug)]
pub struct Clock {
    pub now_ms: i64,
    pub zone: TimeZone,
}

impl Clock {
    pub fn system() -> Self {
        Self { now_ms: Timestamp::now().as_millisecond(), zone: TimeZone::system() }
    }

    /// Now, where the owner lives.
    pub fn now_in(zone: &TimeZone) -> Self {
        Self { zone: zone.clone(), ..Self::system() }
    }

    /// `14:05`, or with the date if that is another day than now.
    pub fn at(&self, at_ms: UnixMillis) -> String {
        let (Some(at), Some(now)) = (self.zoned(at_ms), self.zoned(self.now_ms)) else {
            return "a time that cannot be shown".to_owned();
        };
        let format = if at.date() == now.date() { "%H:%M" } else { "%a %Y-%m-%d %H:%M" };
        at.strftime(format).to_string()
    }

    /// Like [`Self::at`], and how long that is from now: `18:05 (4 h)`.
    pub fn until(&self, at_ms: UnixMillis) -> String {
        if self.zoned(at_ms).is_none() || self.zoned(self.now_ms).is_none() {
            return self.at(at_ms);
        }
        // Rounded up, so that four hours are four hours a second later.
        let minutes = at_ms.saturating_sub(self.now_ms).saturating_add(59_999).div_euclid(60_000);
        let left = match minutes {
            ..0 => "over".to_owned(),
            0..120 => format!("{minutes} min"),
            2880.. => format!("{} days", (minutes + 720) / 1440),
            _ => format!("{} h", (minutes + 30) / 60),
        };
        format!("{} ({left})", self.at(at_ms))
    }

    /// `2026-11-21`, the day in the local zone.
    pub fn date(&self, at_ms: UnixMillis) -> String {
        self.zoned(at_ms).map_or_else(|| "undated".to_owned(), |at| at.date().to_string())
    }

    /// Whether this time of today has come.
    pub fn is_after(&self, at: Time) -> bool {
        self.zoned(self.now_ms).is_some_and(|now| now.time() >= at)
    }

    /// When the day began; a day without a beginning began 24 hours ago.
    pub fn midnight_ms(&self) -> i64 {
        let midnight = self.zoned(self.now_ms).and_then(|now| now.start_of_day().ok());
        midnight.map_or(self.now_ms - 86_400_000, |midnight| midnight.timestamp().as_millisecond())
    }

    /// The time in the local zone.
    pub fn now(&self) -> Option<Zoned> {
        self.zoned(self.now_ms)
    }

    fn zoned(&self, at_ms: UnixMillis) -> Option<Zoned> {
        Some(Timestamp::from_millisecond(at_ms).ok()?.to_zoned(self.zone.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_day_is_shown_with_its_date() {
        let clock = Clock { now_ms: 0, zone: TimeZone::UTC };
        assert_eq!(clock.until(4 * 3_600_000), "04:00 (4 h)");
        assert_eq!(clock.until(4 * 3_600_000 - 900), "03:59 (4 h)");
        assert_eq!(clock.until(59 * 60_000), "00:59 (59 min)");
        assert_eq!(clock.until(25 * 3_600_000), "Fri 1970-01-02 01:00 (25 h)");
        assert_eq!(clock.until(-120_000), "Wed 1969-12-31 23:58 (over)");
        assert_eq!(clock.until(7 * 24 * 3_600_000 - 900), "Wed 1970-01-07 23:59 (7 days)");
        assert_eq!(clock.until(i64::MAX), "a time that cannot be shown");
        assert_eq!(
            (clock.date(-1).as_str(), clock.date(i64::MAX).as_str()),
            ("1969-12-31", "undated")
        );
    }
}
