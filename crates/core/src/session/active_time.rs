//! How long it was from one event to the next, whatever the clock says. Pure; must not know what an
//! event is.

use crate::domain::UnixMillis;

/// A gap in the log that this run has not seen itself may be the time that claw was not running. It
/// counts for at most this much of a turn's time.
const UNSEEN_GAP_MAX_MS: i64 = 120_000;

/// The milliseconds between two events, each with its time by the wall's clock and, if this run has
/// pushed it, by one that nobody sets.
pub(super) fn between_ms(
    before: (UnixMillis, Option<&std::time::Instant>),
    after: (UnixMillis, Option<&std::time::Instant>),
) -> i64 {
    match (before.1, after.1) {
        (Some(before), Some(after)) => after.saturating_duration_since(*before).as_millis() as i64,
        // Some of it may be the time that claw was not running, or that the clock was set by.
        _ => (after.0 - before.0).clamp(0, UNSEEN_GAP_MAX_MS),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_clock_that_is_set_neither_ends_a_turn_nor_makes_it_endless() {
        let began = Instant::now();
        let ended = began + Duration::from_millis(7);
        let hour = 3_600_000;
        for set_by in [-10 * hour, 0, 10 * hour] {
            assert_eq!(
                between_ms((hour, Some(&began)), (hour + set_by, Some(&ended))),
                7,
                "{set_by}"
            );
        }
        // Of an earlier run.
        assert_eq!(between_ms((hour, None), (hour + 5, Some(&ended))), 5);
        assert_eq!(between_ms((hour, None), (0, Some(&ended))), 0);
        assert_eq!(between_ms((0, None), (hour, Some(&ended))), UNSEEN_GAP_MAX_MS);
    }
}
