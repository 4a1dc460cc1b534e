//! The time zone of this machine, and a zone by its name. Owns how the system's zone gets its name:
//! whoever keeps a time for later keeps the name of its zone. Must not know who tells a time.
//!
//! `jiff` lists the whole IANA database (hundreds of files in dozens of folders) to find one zone.
//! A short command needs one file, so that file is read directly, and the database is asked only
//! where this does not work.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

/// Where a system says what its zone is.
struct Places<'a> {
    /// The system's zone, mostly a link to its file (localtime(5)).
    local: &'a Path,
    /// The name of the zone, on Debian and its kin.
    name: &'a Path,
    /// Where Linux and the BSDs keep the compiled zones (tzfile(5)).
    zones: &'a Path,
}

/// Every zone that people live in, one a line (tz-link(7)), with the name in its third column.
const TABLE: &str = "zone1970.tab";
/// How far two zones are compared, once a month: rules of one year are mostly those of the next.
const MONTHS_COMPARED: i32 = 24;

impl Places<'static> {
    fn of_this_machine() -> Self {
        Self {
            local: Path::new("/etc/localtime"),
            name: Path::new("/etc/timezone"),
            zones: Path::new("/usr/share/zoneinfo"),
        }
    }
}

/// The system's zone. `TZ` overrides its files (POSIX, "Other Environment Variables"), and may be
/// more than a name.
pub fn system() -> TimeZone {
    if let Some(set) = std::env::var_os("TZ") {
        // With a `/` it is a name, and no rule (POSIX).
        let name = set.to_str().map(|set| set.strip_prefix(':').unwrap_or(set));
        let name = name.filter(|name| name.contains('/'));
        let folder = std::env::var_os("TZDIR").map(PathBuf::from);
        let places = Places::of_this_machine();
        let zones = folder.as_deref().unwrap_or(places.zones);
        let zone = name.and_then(|name| Places { zones, ..places }.zone(name));
        return zone.unwrap_or_else(TimeZone::system);
    }
    Places::of_this_machine().system().unwrap_or_else(TimeZone::system)
}

/// The zone from its own file. `None` for every name that is not plainly one below the folder of
/// zones.
pub fn named(name: &str) -> Option<TimeZone> {
    Places::of_this_machine().zone(name)
}

/// The name of a zone in the IANA database, if it has one.
pub fn name_of(zone: &TimeZone) -> Option<&str> {
    zone.iana_name().filter(|name| *name != "Etc/Unknown")
}

/// Whether it is UTC at all times near now, whatever it is called.
pub fn is_utc(zone: &TimeZone) -> bool {
    agree(zone, &TimeZone::UTC)
}

impl Places<'_> {
    /// What the link leads to. Where there is a file instead (images of containers, restored
    /// backups), the zone that has the same rules, so that it has a name.
    fn system(&self) -> Option<TimeZone> {
        if let Ok(target) = fs::read_link(self.local) {
            let (_, name) = target.to_str()?.rsplit_once("zoneinfo/")?;
            return self.zone(name);
        }
        let bytes = fs::read(self.local).ok()?;
        let local = TimeZone::tzif("", &bytes).ok()?;
        // It may be of another system, or older than the file.
        let written = fs::read_to_string(self.name).unwrap_or_default();
        let written = self.zone(written.trim()).filter(|zone| agree(zone, &local));
        written.or_else(|| self.same_file(&bytes))
    }

    /// Zones in which people live come first in the table, and others have the same rules as one of
    /// them.
    fn same_file(&self, bytes: &[u8]) -> Option<TimeZone> {
        let table = fs::read_to_string(self.zones.join(TABLE)).ok()?;
        let rows = table.lines().filter(|line| !line.starts_with('#'));
        let mut names = rows.filter_map(|row| row.split('\t').nth(2));
        let is_same = |name: &&str| {
            let file = self.zones.join(name);
            // Few files have the same length.
            file.metadata().is_ok_and(|meta| meta.len() == bytes.len() as u64)
                && fs::read(file).is_ok_and(|other| other == bytes)
        };
        self.zone(names.find(is_same)?)
    }

    fn zone(&self, name: &str) -> Option<TimeZone> {
        let is_plain = |part: &str| {
            !part.is_empty()
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_+-".contains(&byte))
        };
        if !name.split('/').all(is_plain) {
            return None;
        }
        let bytes = fs::read(self.zones.join(name)).ok()?;
        TimeZone::tzif(name, &bytes).ok()
    }
}

/// They tell the same times, as far as that is looked at.
fn agree(one: &TimeZone, other: &TimeZone) -> bool {
    let now = Timestamp::now();
    (0..MONTHS_COMPARED).all(|month| {
        let at = now.checked_add((month * 730).hours());
        at.is_ok_and(|at| one.to_offset(at) == other.to_offset(at))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ZONES: &str = "/usr/share/zoneinfo";

    #[test]
    fn a_zone_from_its_file_is_the_one_of_the_database() {
        for name in ["Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "UTC"] {
            // A machine without the files takes the other way, which is the one that this is
            // compared with.
            let Some(read) = named(name) else { continue };
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
            assert!(named(name).is_none(), "{name}");
        }
    }

    /// A machine whose `local` is a copy of a zone's file, and whose `name` says `written`.
    fn name_of_a_copy(zone: &str, written: Option<&str>, zones: &Path) -> Option<String> {
        let temp = tempfile::tempdir().unwrap();
        let (local, name) = (temp.path().join("localtime"), temp.path().join("timezone"));
        fs::copy(Path::new(ZONES).join(zone), &local).unwrap();
        if let Some(written) = written {
            fs::write(&name, format!("{written}\n")).unwrap();
        }
        let found = Places { local: &local, name: &name, zones }.system()?;
        name_of(&found).map(str::to_owned)
    }

    #[test]
    fn a_copy_of_a_zone_has_the_name_of_that_zone() {
        let zones = Path::new(ZONES);
        if !zones.join(TABLE).exists() {
            return;
        }
        let name = |zone, written| name_of_a_copy(zone, written, zones);
        assert_eq!(name("Europe/Berlin", None).as_deref(), Some("Europe/Berlin"));
        // As the administrator has written it, where that has the same rules.
        let vienna = name("Europe/Vienna", Some("Europe/Vienna"));
        assert_eq!(vienna.as_deref(), Some("Europe/Vienna"));
        for wrong in ["Etc/UTC", "no zone", "../../etc/passwd", ""] {
            let found = name("America/New_York", Some(wrong));
            assert_eq!(found.as_deref(), Some("America/New_York"), "{wrong}");
        }
        // There is nothing that it could be named by.
        let none = tempfile::tempdir().unwrap();
        assert_eq!(name_of_a_copy("Europe/Berlin", Some("Europe/Berlin"), none.path()), None);
    }

    #[test]
    fn a_link_says_the_name_also_one_that_is_relative() {
        if named("Europe/Berlin").is_none() {
            return;
        }
        let temp = tempfile::tempdir().unwrap();
        for target in ["/usr/share/zoneinfo/Europe/Berlin", "../usr/share/zoneinfo/Europe/Berlin"] {
            let local = temp.path().join("localtime");
            let _ = fs::remove_file(&local);
            std::os::unix::fs::symlink(target, &local).unwrap();
            let missing = temp.path().join("timezone");
            let places = Places { local: &local, name: &missing, zones: Path::new(ZONES) };
            let found = places.system().unwrap();
            assert_eq!(name_of(&found), Some("Europe/Berlin"), "{target}");
        }
    }

    #[test]
    fn utc_has_many_names_and_none_of_them_is_london() {
        let fixed = TimeZone::fixed(jiff::tz::offset(0));
        assert!(is_utc(&TimeZone::UTC) && is_utc(&fixed) && is_utc(&TimeZone::unknown()));
        let summer = TimeZone::posix("GMT0BST,M3.5.0/1,M10.5.0").unwrap();
        assert!(!is_utc(&summer) && name_of(&summer).is_none());
    }
}
