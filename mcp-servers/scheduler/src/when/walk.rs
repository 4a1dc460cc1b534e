//! From local times to instants, by the rules of Debian's cron(8) at changes of the clock. Owns
//! these rules; must not know the grammar of patterns.
//!
//! A pattern whose minute and hour do not begin with `*` means times of day: each fires exactly
//! once. Those that the clock jumps over fire where it lands (several together once), those that
//! come twice fire the first time. All other patterns go by real time: they fire whenever the
//! clock on the wall shows a match, so also twice, or not at all.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::AmbiguousOffset;

use super::Pattern;
use crate::zone::Zone;

/// Twice as long as the clock of a zone has ever moved (a day in Samoa, 2011).
const NEAR_S: i64 = 49 * 3_600;

const MINUTE_S: i64 = 60;

/// The first firing behind a time, in seconds since 1970. `None` if none comes in 50 years.
pub fn next(pattern: &Pattern, zone: &Zone, after: i64) -> Option<i64> {
    let after = Timestamp::from_second(after).ok()?;
    let next = if pattern.is_fixed {
        time_of_day(pattern, zone, after)
    } else {
        real_time(pattern, zone, after)
    };
    next.map(Timestamp::as_second)
}

fn time_of_day(pattern: &Pattern, zone: &Zone, after: Timestamp) -> Option<Timestamp> {
    let mut from = zone.rules.to_datetime(after);
    loop {
        let local = pattern.at_or_after(from)?;
        let at = instant_of(zone, local)?;
        // What lies behind in local time lies behind in real time, too: times of a gap are moved
        // to its end, and the second pass of an overlap is never taken.
        if at > after {
            return Some(at);
        }
        from = local.checked_add(jiff::SignedDuration::from_mins(1)).ok()?;
    }
}

/// Where a local time fires: once, whatever the clock does around it.
pub fn instant_of(zone: &Zone, local: DateTime) -> Option<Timestamp> {
    match zone.rules.to_ambiguous_timestamp(local).offset() {
        AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(local).ok(),
        AmbiguousOffset::Fold { before, .. } => before.to_timestamp(local).ok(),
        AmbiguousOffset::Gap { after, .. } => {
            let before_gap = after.to_timestamp(local).ok()?;
            zone.rules.following(before_gap).next().map(|change| change.timestamp())
        }
    }
}

fn real_time(pattern: &Pattern, zone: &Zone, after: Timestamp) -> Option<Timestamp> {
    let minute = after.as_second().div_euclid(MINUTE_S) + 1;
    let mut from = Timestamp::from_second(minute * MINUTE_S).ok()?;
    // Between two changes of the clock local time is real time.
    loop {
        let offset = zone.rules.to_offset(from);
        let change = zone.rules.following(from).next().map(|change| change.timestamp());
        let at = offset.to_timestamp(pattern.at_or_after(offset.to_datetime(from))?).ok()?;
        match change {
            // The clock may go back behind the place where the search began.
            Some(change) if at >= change && change.as_second() - from.as_second() < NEAR_S => {
                from = change;
            }
            // It cannot: no local time before the match is shown until shortly before it.
            Some(change) if at >= change => {
                let near = Timestamp::from_second(at.as_second() - NEAR_S).ok()?;
                from = change.max(near);
            }
            _ => return Some(at),
        }
    }
}
