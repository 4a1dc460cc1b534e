//! The time zone in which claw tells times: the one of `claw.toml`, else the system's. Must not
//! know who tells a time.

use claw_kit::zone;
use jiff::tz::TimeZone;

use super::ConfigError;

/// The zone called `written` at `place`, or the system's. An unknown name is an error with a next
/// step.
pub(super) fn zone_of(written: Option<&str>, place: &str) -> Result<TimeZone, ConfigError> {
    let Some(name) = written else { return Ok(zone::system()) };
    if let Some(zone) = zone::named(name) {
        return Ok(zone);
    }
    TimeZone::get(name).map_err(|_| {
        let message = format!("time_zone: there is no zone `{name}`");
        ConfigError::new(
            place,
            message,
            "Write it as in the IANA database, for example \"Europe/Berlin\"",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_a_zone_or_an_error() {
        assert!(zone_of(Some("Europe/Nowhere"), "claw.toml").is_err());
        assert!(zone_of(Some("../../etc/passwd"), "claw.toml").is_err());
        assert_eq!(
            zone_of(Some("Europe/Berlin"), "claw.toml").unwrap().iana_name(),
            Some("Europe/Berlin")
        );
    }
}
