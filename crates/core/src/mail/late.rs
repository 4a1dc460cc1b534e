//! A reminder that waits here for a long time, because its door could reach nobody, says when it
//! was due. Must not know why it waits, or how it is shown.

use jiff::tz::TimeZone;

use crate::domain::{LATE_REMINDER, OutboundBody, UnixMillis};

/// From here on it is late, as a firing is that the scheduler finds so late.
const LATE_MS: i64 = 300_000;

/// Adds it to the words of a reminder that was written down at `at_ms`. One that was late already
/// has said it.
pub(super) fn say_when_due(
    body: &mut OutboundBody,
    at_ms: UnixMillis,
    now_ms: UnixMillis,
    zone: &TimeZone,
) {
    let OutboundBody::Reminder { text, .. } = body else { return };
    if now_ms - at_ms <= LATE_MS || text.contains(LATE_REMINDER) {
        return;
    }
    let Ok(at) = jiff::Timestamp::from_millisecond(at_ms) else { return };
    let due = at.to_zoned(zone.clone()).strftime("%A %Y-%m-%d %H:%M");
    text.push_str(&format!("{LATE_REMINDER}{due}, and could not be told in time.*"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str, late_ms: i64) -> String {
        let (firing, job, text) = ("f".to_owned(), "j1".to_owned(), text.to_owned());
        let mut body = OutboundBody::Reminder { firing, job, text };
        let at_ms = 1_000_000_000_000;
        say_when_due(&mut body, at_ms, at_ms + late_ms, &TimeZone::UTC);
        let OutboundBody::Reminder { text, .. } = body else { panic!() };
        text
    }

    #[test]
    fn a_reminder_that_waited_says_when_it_was_due_and_once() {
        assert_eq!(told("call mum", LATE_MS), "call mum");
        let late = told("call mum", LATE_MS + 1);
        assert!(late.starts_with("call mum\n\n*This was due "), "{late}");
        assert!(late.contains(" 2001-09-09 "), "{late}");
        assert_eq!(told(&late, 2 * LATE_MS), late);
    }
}
