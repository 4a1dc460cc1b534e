//! The time zone in which claw tells times: the one of `claw.toml`, else the system's. Owns reading
//! a zone's file by its name; must not know who tells a time.
//!
//! `jiff` lists the whole IANA database (hundreds of files in dozens of folders) to find one zone.
//! A short command needs one file, so that file is read directly, and the database is asked only
//! where this does not work.

use std::path::Path;

use jiff::tz::TimeZone;

use super::ConfigError;

/// Where Linux and the BSDs keep the compiled zones (tzfile(5)).
const ZONES: &str = "/usr/share/zoneinfo";
/// A link to the system's zone (localtime(5)).
const SYSTEM_ZONE: &str = "/etc/localtime";

/// The zone called `written` at `place`, or the system's. An unknown name is an error with a next
/// step.
pub(super) fn zone_of(written: Option<&str>, place: &str) -> Result<TimeZone, ConfigError> {
    let Some(name) = written else { return Ok(system()) };
    if let Some(zone) = read(name) {
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

/// The system's zone. `TZ` overrides the link (POSIX, "Other Environment Variables"), and may be
/// more than a name.
fn system() -> TimeZone {
    let linked = || {
        let target = std::fs::read_link(SYSTEM_ZONE).ok()?;
        read(target.strip_prefix(ZONES).ok()?.to_str()?)
    };
    let linked = if std::env::var_os("TZ").is_none() { linked() } else { None };
    linked.unwrap_or_else(TimeZone::system)
}

/// The zone from its own file. `None` for every name that is not plainly one below the folder of
/// zones.
fn read(name: &str) -> Option<TimeZone> {
    let is_plain = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_+-".contains(&byte))
    };
    if !name.split('/').all(is_plain) {
        return None;
    }
    let bytes = std::fs::read(Path::new(ZONES).join(name)).ok()?;
    TimeZone::tzif(name, &bytes).ok()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn a_zone_from_its_file_is_the_one_of_the_database() {
        for name in ["Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "UTC"] {
            // A machine without the files takes the other way, which is the one that this is
            // compared with.
            let Some(read) = read(name) else { continue };
            let known = TimeZone::get(name).unwrap();
            assert_eq!(read.iana_name(), Some(name));
            for month in 0..24 {
                let at = Timestamp::from_second(1_790_000_000 + month * 2_629_800).unwrap();
                assert_eq!(read.to_offset(at), known.to_offset(at), "{name} at {at}");
            }
        }
    }

    #[test]
    fn nothing_but_a_zone_is_read() {
        for name in [
            "../../../etc/passwd",
            "/etc/passwd",
            "",
            "Europe",
            "Europe//Berlin",
            "zone.tab",
            "Europe/Berlin\0",
        ] {
            assert!(read(name).is_none(), "{name}");
        }
        assert!(zone_of(Some("Europe/Nowhere"), "claw.toml").is_err());
        assert_eq!(
            zone_of(Some("Europe/Berlin"), "claw.toml").unwrap().iana_name(),
            Some("Europe/Berlin")
        );
    }
}
